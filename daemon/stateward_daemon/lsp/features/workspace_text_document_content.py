"""`workspace/textDocumentContent`: the text of a virtual document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from stateward_daemon.virtual import document_of
from stateward_engine.errors import MissingPath, OutOfBounds, WrongKind

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession

# What is absent is never stored, so this is the value of nothing else. An error would leave the old text on the screen.
NOTHING_THERE: Final = "null\n"


def handle(session: LspSession, params: lsp.TextDocumentContentParams) -> lsp.TextDocumentContentResult:
    """Answer the text as it is now; the client is told when there is another one."""
    # Noted first: what changes meanwhile is seen as a change.
    session.served.follow(params.uri)
    try:
        return lsp.TextDocumentContentResult(document_of(session.caller, params.uri).text)
    except (MissingPath, OutOfBounds, WrongKind):
        return lsp.TextDocumentContentResult(NOTHING_THERE)
