"""`textDocument/didOpen`: from now on the text is the client's, not the file's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon.virtual import is_virtual

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.DidOpenTextDocumentParams) -> None:
    """Keep the text. A goal document, by its name or because a goal has it, is served from now on."""
    document = params.text_document
    if is_virtual(document.uri):
        # The text that it shows may have come from an earlier daemon.
        session.showing.show_virtual(document.uri)
        return
    registered = session.caller.host.goals_here()
    buffer = session.opened.open(document, session.client.encoding, session.ask_for_edit, registered)
    if buffer is not None:
        session.showing.begin_anew(buffer.uri)
        session.folders.respell(buffer.path, buffer.uri)
        session.showing.push(buffer.uri)
