"""`textDocument/diagnostic`: the client asks for the diagnostics of one document."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession

Report: TypeAlias = lsp.RelatedFullDocumentDiagnosticReport | lsp.RelatedUnchangedDocumentDiagnosticReport


def handle(session: LspSession, params: lsp.DocumentDiagnosticParams) -> Report:
    """Answer with the diagnostics, or that they are those that the client has."""
    uri = params.text_document.uri
    shown_id = session.shown_id(uri)
    if shown_id is not None and shown_id == params.previous_result_id:
        return lsp.RelatedUnchangedDocumentDiagnosticReport(result_id=shown_id)
    return lsp.RelatedFullDocumentDiagnosticReport(session.diagnostics(uri, session.shown(uri)), result_id=shown_id)
