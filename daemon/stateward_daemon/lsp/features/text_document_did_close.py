"""`textDocument/didClose`: the text is the file's again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.DidCloseTextDocumentParams) -> None:
    """Forget the buffer. A document of a folder is shown as its file is; another one is not shown any more."""
    if session.opened.close(params.text_document.uri):
        session.showing.push(params.text_document.uri)
