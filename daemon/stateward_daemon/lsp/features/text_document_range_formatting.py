"""`textDocument/rangeFormatting`: the same as formatting, of the rows and displays that a range touches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon.lsp.formatting import text_edits

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit] | None:
    """Answer with edits of the lines that differ; a display is formatted as a whole, or it would be no display."""
    return text_edits(session, params.text_document.uri, params.range)
