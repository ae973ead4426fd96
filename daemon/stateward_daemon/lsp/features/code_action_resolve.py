"""`codeAction/resolve`: the client takes an action that changes many rows, and wants its edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon.lsp.wide_edits import resolved

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.CodeAction) -> lsp.CodeAction:
    """Answer with the action and its edit; one that is whole already stays as it is."""
    return resolved(session, params)
