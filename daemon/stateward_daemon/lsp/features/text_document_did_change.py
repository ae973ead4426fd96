"""`textDocument/didChange`: edits of an open document."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.DidChangeTextDocumentParams) -> None:
    """Apply the edits at once; only the push of what follows from them waits."""
    uri = params.text_document.uri
    buffer = session.buffers.get(uri)
    if buffer is None:
        session.log.debug("edits of a document that is not open were ignored")
        return
    buffer.edit(params.content_changes, params.text_document.version)
    session.push(uri)
