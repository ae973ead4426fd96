"""Diagnostics: the problems of a document as an editor shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from stateward_engine.goals.codes import page_of

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
# What nobody reads is shown faded.
TAGS: Final = dict.fromkeys(
    ("unknown_metadata_key", "stray_metadata_text", "repeated_metadata_key", "metadata_not_indented"),
    (lsp.DiagnosticTag.Unnecessary,),
)


def diagnostic(problem: Problem, reading: Reading, uri: str, client: Client) -> lsp.Diagnostic:
    """Return a problem of the document at `uri` as its client shows it."""
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(uri, reading.range(span)), message)
        for span, message in problem.related
    ]
    tags = [tag for tag in TAGS.get(problem.code, ()) if tag in client.shown_tags]
    return lsp.Diagnostic(
        range=reading.range(problem.span),
        severity=SEVERITIES[problem.severity],
        code=problem.code,
        code_description=lsp.CodeDescription(page_of(problem.code)) if client.shows_pages else None,
        source=SOURCE,
        message=problem.message,
        tags=tags or None,
        # For whoever shows it: what would be done about it, and whether that is safe to do unasked.
        data={"fix": problem.fix.title, "safe": problem.fix.safe} if problem.fix and client.keeps_data else None,
        related_information=related if related and client.shows_related else None,
    )
