"""`workspace/diagnostic`: the client asks for the diagnostics of all goal documents that it works with."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession

Report: TypeAlias = lsp.WorkspaceFullDocumentDiagnosticReport | lsp.WorkspaceUnchangedDocumentDiagnosticReport


def handle(session: LspSession, params: lsp.WorkspaceDiagnosticParams) -> lsp.WorkspaceDiagnosticReport:
    """Answer for every document that is open or in a folder; what is still being looked for follows by refresh."""
    known = {previous.uri: previous.value for previous in params.previous_result_ids}
    # Those that the client knows and nobody has any more are answered too, so that it takes them off its list.
    uris = dict.fromkeys([*session.buffers, *session.folders.goals.values(), *known])
    reports = (_report(session, uri, known.get(uri)) for uri in uris)
    return lsp.WorkspaceDiagnosticReport([report for report in reports if report is not None])


def _report(session: LspSession, uri: str, known_id: str | None) -> Report | None:
    shown_id = session.shown_id(uri) if session.looks_after(uri) else None
    version = session.shown_version(uri)
    if shown_id is None:
        return None if known_id is None else lsp.WorkspaceFullDocumentDiagnosticReport(uri, [])
    if shown_id == known_id:
        return lsp.WorkspaceUnchangedDocumentDiagnosticReport(uri, shown_id, version)
    items = session.diagnostics(uri, session.shown(uri))
    return lsp.WorkspaceFullDocumentDiagnosticReport(uri, items, version, result_id=shown_id)
