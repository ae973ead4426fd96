"""`state_document`: a virtual document as it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon.virtual import document_of
from stateward_protocol.virtual_messages import StateDocumentResult

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol.virtual_messages import StateDocumentParams


def handle(caller: Caller, params: StateDocumentParams) -> StateDocumentResult:
    """Answer what an editor shows; that it was asked for is the act by which a value is shown."""
    document = document_of(caller, params.uri)
    return StateDocumentResult(uri=document.uri, text=document.text, whole=document.whole)
