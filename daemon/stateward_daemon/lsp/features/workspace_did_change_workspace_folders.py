"""`workspace/didChangeWorkspaceFolders`: the client opened or closed folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.DidChangeWorkspaceFoldersParams) -> None:
    """Look after the goal documents of the folders that are open now."""
    session.folders.change(
        added=[folder.uri for folder in params.event.added], removed=[folder.uri for folder in params.event.removed]
    )
    if session.client.answers_configuration:
        session.configured.ask(session.folders.open)
