"""`textDocument/semanticTokens/range`: the tokens of the part of a document that is on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.lsp.coloring import token_numbers

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens | None:
    """Return the tokens of a range, and some around it: a client takes more than it asked for."""
    reading = session.reading(params.text_document.uri)
    if reading is None:
        return None
    lines = range(params.range.start.line, params.range.end.line)
    return lsp.SemanticTokens(token_numbers(reading, lines).tolist())
