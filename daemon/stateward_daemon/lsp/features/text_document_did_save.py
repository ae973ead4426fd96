"""`textDocument/didSave`: the client wrote its text to the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.DidSaveTextDocumentParams) -> None:
    """Take the file as it is now for what the buffer is compared with; what waited for that is delivered."""
    uri = params.text_document.uri
    if session.opened.save(uri):
        session.showing.show(uri)
