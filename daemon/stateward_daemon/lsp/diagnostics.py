"""Diagnostics: the problems of a document as an editor shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from stateward_daemon.lsp.client import Client
    from stateward_daemon.lsp.reading import Reading
    from stateward_engine.goals.problems import Problem

SOURCE: Final = "stateward"
SEVERITIES: Final = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "info": lsp.DiagnosticSeverity.Information,
}


def diagnose(shown: Reading | None, uri: str, client: Client) -> list[lsp.Diagnostic]:
    """Return the diagnostics of what is shown under `uri`, none where there is no file."""
    return [] if shown is None else [_diagnostic(problem, shown, uri, client) for problem in shown.goal.problems]


def _diagnostic(problem: Problem, reading: Reading, uri: str, client: Client) -> lsp.Diagnostic:
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(uri, reading.range(span)), message)
        for span, message in problem.related
    ]
    return lsp.Diagnostic(
        range=reading.range(problem.span),
        severity=SEVERITIES[problem.severity],
        code=problem.code,
        source=SOURCE,
        message=problem.message,
        related_information=related if related and client.shows_related else None,
    )
