"""`workspace/diagnostic`: the client asks for the diagnostics of all goal documents that it works with."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession

Report: TypeAlias = lsp.WorkspaceFullDocumentDiagnosticReport | lsp.WorkspaceUnchangedDocumentDiagnosticReport


def handle(session: LspSession, params: lsp.WorkspaceDiagnosticParams) -> lsp.WorkspaceDiagnosticReport:
    """Answer for every document that is open or in a folder; what is still being looked for follows by refresh.

    A client that takes the answer in parts gets each report as soon as it is made.
    """
    known = {previous.uri: previous.value for previous in params.previous_result_ids}
    # Those that the client knows and nobody has any more are answered too, so that it takes them off its list.
    uris = list(dict.fromkeys([*session.buffers, *session.folders.goals.values(), *known]))
    reports = []
    for number, uri in enumerate(uris):
        session.count(number, len(uris))
        report = _report(session, uri, known.get(uri))
        if report is not None and params.partial_result_token is not None:
            session.send_part(params.partial_result_token, lsp.WorkspaceDiagnosticReportPartialResult([report]))
        elif report is not None:
            reports.append(report)
    return lsp.WorkspaceDiagnosticReport(reports)


def _report(session: LspSession, uri: str, known_id: str | None) -> Report | None:
    shown_id = session.shown_id(uri) if session.looks_after(uri) else None
    version = session.shown_version(uri)
    if shown_id is None:
        return None if known_id is None else lsp.WorkspaceFullDocumentDiagnosticReport(uri, [])
    if shown_id == known_id:
        return lsp.WorkspaceUnchangedDocumentDiagnosticReport(uri, shown_id, version)
    items = session.diagnostics(uri, session.shown(uri))
    return lsp.WorkspaceFullDocumentDiagnosticReport(uri, items, version, result_id=shown_id)
