"""`exit`: the client leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, _params: None) -> None:
    """End this connection and no other."""
    session.exit()
