"""Diagnostics: the problems of a document as an editor shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from lsprotocol import types as lsp

from stateward_daemon.lsp.reading import Reading
from stateward_engine.errors import UnsafeDocument

if TYPE_CHECKING:
    from stateward_daemon.lsp.client import Client
    from stateward_engine.goals.problems import Problem

# What a client is shown of one document: its reading; why its bytes are no text; or nothing, when there is no file.
Shown: TypeAlias = Reading | UnsafeDocument | None

SOURCE: Final = "stateward"
SEVERITIES: Final = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "info": lsp.DiagnosticSeverity.Information,
}


def diagnose(shown: Shown, uri: str, client: Client) -> list[lsp.Diagnostic]:
    """Return the diagnostics of what is shown under `uri`."""
    if shown is None:
        return []
    if isinstance(shown, UnsafeDocument):
        return [_unreadable(shown)]
    return [_diagnostic(problem, shown, uri, client) for problem in shown.goal.problems]


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


def _unreadable(refusal: UnsafeDocument) -> lsp.Diagnostic:
    # Nobody knows where a character stands in bytes that are no text, so the whole problem is its line.
    place = lsp.Position(refusal.line - 1, 0)
    return lsp.Diagnostic(
        range=lsp.Range(place, place),
        severity=lsp.DiagnosticSeverity.Error,
        code=refusal.kind,
        source=SOURCE,
        message=str(refusal),
    )
