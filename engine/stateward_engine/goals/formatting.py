"""Formatting: the rows of marked regions as the renderer writes them, in a document whose todos are its own. Pure.

Only rows change, and none of them says anything else afterwards: a document that could not be rendered without loss is
refused. Heading, markers and lineage stay, because the records that a lineage is the digest of are the same.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import accumulate, pairwise
from operator import add
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.errors import RenderRejected
from stateward_engine.goals.document import read_document
from stateward_engine.goals.lines import split_lines
from stateward_engine.goals.mending import edited
from stateward_engine.goals.problems import Edit
from stateward_engine.goals.qualification import BLOCKING
from stateward_engine.goals.render import newline_of
from stateward_engine.goals.todo_codec import row_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.lines import Span
    from stateward_engine.goals.regions import Region
    from stateward_engine.goals.todos import Todo

# What no record could keep, formatting could lose. What has no todo has nothing to format.
_BLOCKING: Final = BLOCKING - {"missing_todo_sections"}


class Formatted(NamedTuple):
    """What is replaced together: a row, or a section. The edits lie inside of its span."""

    span: Span
    edits: tuple[Edit, ...]


def format_rows(document: GoalDocument) -> list[Formatted]:
    """Return how the rows of the marked regions become as the renderer writes them, those that differ.

    Raises:
        UnsafeDocument: The document is refused.
        RenderRejected: Some row of a marked region cannot be rendered without losing or guessing something.

    Source: editors.md section 1, goal-documents 4.2.
    """
    regions = [region for region in document.regions if region.marked]
    if document.refusal is not None:
        raise document.refusal
    if not regions:
        return []
    owned = [(document.lines.start(region.first), document.lines.start(region.end)) for region in regions]
    for problem in document.problems:
        at = problem.span[0]
        is_there = problem.code == "conflict_marker" or any(first <= at < end for first, end in owned)
        if is_there and problem.code in _BLOCKING:
            line = document.lines.index_at(at) + 1
            raise RenderRejected(
                f"nothing was formatted, because something would be lost or guessed: {problem.code} in line {line}",
                kind=problem.code,
            )
    found = [formatted for region in regions for formatted in _in_region(document, region)]
    _prove(document, found)
    return found


def line_edits(text: str, span: Span, wanted: str) -> tuple[Edit, ...]:
    """Return edits of whole lines that make `wanted` of what stands in a span; lines that are the same stay."""
    there, here = _lines(text[slice(*span)]), _lines(wanted)
    starts = list(accumulate(map(len, there), initial=span[0]))
    return tuple(
        Edit((starts[first], starts[end]), "".join(here[to_first:to_end]))
        for kind, first, end, to_first, to_end in SequenceMatcher(None, there, here).get_opcodes()
        if kind != "equal"
    )


def _lines(text: str) -> list[str]:
    lines = split_lines(text, "")
    return list(map(add, lines.texts, lines.terminators))


def _in_region(document: GoalDocument, region: Region) -> Iterator[Formatted]:
    text, lines, newline = document.text, document.lines, newline_of(document.text)
    todos = [todo for todo in document.todos if todo.region == region]
    starts = [lines.start(lines.index_at(todo.extent[0])) for todo in todos]
    for todo, span in zip(todos, pairwise([*starts, lines.start(region.body_end)]), strict=True):
        # What the row says itself, and nothing that readers infer.
        wanted = "".join(line + newline for line in row_lines(todo.status, todo.full_text, todo.fields))
        if text[slice(*span)] != wanted:
            yield Formatted(span, line_edits(text, span, wanted))


def _prove(document: GoalDocument, found: Iterable[Formatted]) -> None:
    """Refuse edits after which a row would say something else."""
    after = read_document(edited(document.text, (edit for formatted in found for edit in formatted.edits)))
    if [*map(_said, after.todos)] != [*map(_said, document.todos)]:
        raise RenderRejected("nothing was formatted, because a row would say something else", kind="parity_mismatch")


def _said(todo: Todo) -> tuple[object, ...]:
    return todo.todo_id, todo.role, todo.region.role, todo.status, todo.full_text, todo.fields
