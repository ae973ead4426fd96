"""`textDocument/semanticTokens/full`: what has a meaning in a document, for themes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.lsp.coloring import token_numbers

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.SemanticTokensParams) -> lsp.SemanticTokens | None:
    """Return all tokens; those of a buffer have a name, by which the client asks for what has changed."""
    uri = params.text_document.uri
    reading = session.reading(uri)
    if reading is None:
        return None
    numbers = token_numbers(reading)
    buffer = session.buffers.get(uri)
    return lsp.SemanticTokens(numbers.tolist(), None if buffer is None else buffer.keep_tokens(numbers))
