"""`textDocument/formatting`: the client wants what machines own of a document as the renderer writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon.lsp.formatting import text_edits

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
    """Answer with edits of the lines that differ; how the client indents makes none."""
    return text_edits(session, params.text_document.uri)
