"""`textDocument/references`: everywhere a todo or a path of the state is written, in all goal documents at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.lsp.everywhere import find_everywhere
from stateward_daemon.lsp.mentions import subject_at

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.ReferenceParams) -> list[lsp.Location]:
    """Return where what stands at the position is written; what gives a row its id only to a client that wants it."""
    uri = params.text_document.uri
    subject = subject_at(session.reading(uri), params.position)
    if subject is None:
        return []
    return [
        lsp.Location(known.uri, known.reading.range(mention.span))
        for known, mentions in find_everywhere(session, uri, subject)
        for mention in mentions
        if params.context.include_declaration or not mention.names_row
    ]
