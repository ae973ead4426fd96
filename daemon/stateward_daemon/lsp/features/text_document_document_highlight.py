"""`textDocument/documentHighlight`: everywhere in one document that a todo or a path of the state is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.lsp.mentions import mentions, subject_at

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
    """Return where what stands at the position is written; what gives a row its id is where it is set."""
    reading = session.reading(params.text_document.uri)
    subject = subject_at(reading, params.position)
    if reading is None or subject is None:
        return []
    kinds = {True: lsp.DocumentHighlightKind.Write, False: lsp.DocumentHighlightKind.Read}
    return [
        lsp.DocumentHighlight(reading.range(mention.span), kinds[mention.names_row])
        for mention in mentions(reading.goal, subject)
    ]
