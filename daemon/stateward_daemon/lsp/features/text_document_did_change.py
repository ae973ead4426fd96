"""`textDocument/didChange`: edits of an open document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon.lsp.uris import goal_path_of

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.DidChangeTextDocumentParams) -> None:
    """Apply the edits at once; only the push of what follows from them waits."""
    uri = params.text_document.uri
    if not session.opened.edit(uri, params.content_changes, params.text_document.version):
        # Those of documents that are not kept come too, a line in the log per key.
        if goal_path_of(uri) is not None:
            session.log.warning("edits of a goal document that is not open were ignored")
    elif uri in session.buffers:
        session.showing.push(uri)
