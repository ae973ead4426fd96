"""`textDocument/semanticTokens/full/delta`: what has changed of the tokens that the client has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.lsp.coloring import difference, token_numbers

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession


def handle(
    session: LspSession, params: lsp.SemanticTokensDeltaParams
) -> lsp.SemanticTokens | lsp.SemanticTokensDelta | None:
    """Return one edit of the tokens that the client names, or all of them where they are not kept any more."""
    uri = params.text_document.uri
    reading = session.reading(uri)
    if reading is None:
        return None
    numbers = token_numbers(reading)
    buffer = session.buffers.get(uri)
    if buffer is None:
        return lsp.SemanticTokens(numbers.tolist())
    before = buffer.kept_tokens(params.previous_result_id)
    name = buffer.keep_tokens(numbers)
    if before is None:
        return lsp.SemanticTokens(numbers.tolist(), name)
    edit = difference(before, numbers)
    edits = [] if edit is None else [lsp.SemanticTokensEdit(edit[0], edit[1], edit[2].tolist())]
    return lsp.SemanticTokensDelta(edits, name)
