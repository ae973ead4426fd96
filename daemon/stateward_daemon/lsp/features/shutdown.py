"""`shutdown`: the client is about to leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, _params: None) -> None:
    """Stop telling it things."""
    session.shut_down()
