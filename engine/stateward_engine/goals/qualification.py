"""Qualification: whether the todos of a document can become records without anything of them being lost or guessed.

Source: authority.md section 4.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stateward_engine.errors import RenderRejected
from stateward_engine.goals.contract import WITHOUT_MARKDOWN
from stateward_engine.goals.digests import text_sha256
from stateward_engine.goals.owned import survey
from stateward_engine.goals.records import admit
from stateward_engine.goals.render import render
from stateward_engine.goals.source_decoder import UnreadableField, declaration_of, decode_todo

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.owned import Survey
    from stateward_engine.goals.todos import Todo

# Of what editors are shown, that which a record could not keep, or would keep as something else.
BLOCKING: Final = frozenset(
    {
        *("missing_todo_sections", "implicit_todo_ids", "duplicate_todo_ids", "invalid_todo_id", "conflict_marker"),
        *("invalid_metadata_value", "unknown_metadata_key", "repeated_metadata_key", "stray_metadata_text"),
        *("metadata_on_task_line", "metadata_not_indented", "metadata_wrapped", "nested_todo"),
    }
)
# Those of them that are about one key of one row.
OF_ONE_KEY: Final = frozenset({"invalid_metadata_value", "unknown_metadata_key", "repeated_metadata_key"})
KEY: Final = re.compile(r"[a-z_][a-z0-9_]*(?=$|=)")
# Nothing is delivered under it.
REVISION: Final = "qualification"


class Report(NamedTuple):
    """What a document is worth as the source of records.

    Attributes:
        refusals: The reasons against it, by line; none when it qualifies. See `refusal`.
        records: Its todos as legacy records by id, archived ones included. Their index only orders.
        declarations: Private validation declarations by todo id, without what they leave open.
        source_sha256: Digest of the document.
    """

    refusals: tuple[Mapping[str, Any], ...]
    records: Mapping[str, Mapping[str, Any]]
    declarations: Mapping[str, Mapping[str, Any]]
    source_sha256: str


def refusal(
    reason_code: str, line: int | None = None, todo_id: str | None = None, field: str | None = None
) -> dict[str, Any]:
    """Return one reason against promotion.

    Args:
        reason_code: Which rule is broken.
        line: The line to look at, from 1; `None` when it is the document as a whole.
        todo_id: The todo, or `None`.
        field: The field of it; a member only where one is meant.

    Source: authority.md section 4.
    """
    told: dict[str, Any] = {"reason_code": reason_code, "line": line, "todo_id": todo_id}
    return told if field is None else {**told, "field": field}


def qualify(document: GoalDocument) -> Report:
    """Return what stands against the promotion of a document's goal, and the records that it would have.

    Source: authority.md section 4.
    """
    source = text_sha256(document.text)
    if document.refusal is not None:
        return Report((refusal(document.refusal.kind, document.refusal.line),), {}, {}, source)
    found = survey(document.text)
    records: dict[str, Mapping[str, Any]] = {}
    declarations: dict[str, Mapping[str, Any]] = {}
    refusals: set[_Found] = {*_problems(document), *_placement(document, found)}
    for todo in document.todos:
        try:
            records[todo.todo_id] = _record(todo)
            declaration = declaration_of(todo) or {}
        except UnreadableField as fault:
            refusals.add(_refusal(document, "invalid_metadata_value", todo, fault.field))
            continue
        if said := {key: value for key, value in declaration.items() if value is not None}:
            declarations[todo.todo_id] = said
        refusals |= {*_admission(document, todo, records[todo.todo_id], declarations)}
    if not refusals:
        refusals |= {*_rendering(document, found, records, declarations)}
    ordered = sorted(refusals, key=lambda each: (each.line or 0, each.reason_code, each.field or ""))
    return Report(tuple(refusal(*each) for each in ordered), records, declarations, source)


class _Found(NamedTuple):
    """The arguments of a `refusal`; one that two rules find is told once."""

    reason_code: str
    line: int | None
    todo_id: str | None
    field: str | None = None


def _record(todo: Todo) -> dict[str, Any]:
    """Return the record that is imported: with what no display shows and the row says all the same."""
    return {**decode_todo(todo), **{key: todo.fields[key] for key in WITHOUT_MARKDOWN & todo.fields.keys()}}


def _refusal(document: GoalDocument, reason_code: str, todo: Todo, field: str | None = None) -> _Found:
    return _Found(reason_code, document.lines.index_at(todo.span[0]) + 1, todo.todo_id, field)


def _problems(document: GoalDocument) -> Iterator[_Found]:
    starts = [todo.extent[0] for todo in document.todos]
    for found in document.problems:
        if found.code in BLOCKING:
            start, end = found.span
            above = document.todos[max(bisect_right(starts, start) - 1, 0) :][:1]
            todo = next((todo for todo in above if todo.extent[0] <= start <= todo.extent[1]), None)
            # The span is that of a key, of a token or of a value.
            key = KEY.search(document.text, document.text.rfind(" ", 0, start) + 1, end) if todo else None
            named = key[0] if key and found.code in OF_ONE_KEY else None
            yield _Found(found.code, document.lines.index_at(start) + 1, todo.todo_id if todo else None, named)


def _placement(document: GoalDocument, found: Survey) -> Iterator[_Found]:
    """Yield why sections could not be put into the document, and where readers disagree about what is in them."""
    line_of = {document.lines.index_at(todo.span[0]): todo.todo_id for todo in document.todos}
    for fault in found.faults:
        # What editors are shown is told already.
        if fault.kind not in BLOCKING:
            yield _Found(fault.kind, fault.at + 1, line_of.get(fault.at))
    for reading in set(map(_reading, found.owned.todos)) ^ set(map(_reading, found.by_headings)):
        at = document.lines.index_at(reading[0])
        yield _Found("regions_read_differently", at + 1, line_of.get(at))


def _reading(todo: Todo) -> tuple[int, int, str, str | None, int, str]:
    """Return what has to be the same of a row, however the regions are found: where it stands, and whose it is."""
    return *todo.extent, todo.region.role, todo.role, todo.ordinal, todo.source_section


def _admission(
    document: GoalDocument, todo: Todo, record: Mapping[str, Any], declarations: Mapping[str, Mapping[str, Any]]
) -> Iterator[_Found]:
    try:
        admit([record], declarations)
    except RenderRejected as fault:
        yield _refusal(document, fault.kind, todo, fault.field)


def _rendering(
    document: GoalDocument,
    found: Survey,
    records: Mapping[str, Any],
    declarations: Mapping[str, Mapping[str, Any]],
) -> Iterator[_Found]:
    try:
        render(found, records.values(), REVISION, declarations)
    except RenderRejected as fault:
        todo = next((todo for todo in document.todos if todo.todo_id == fault.todo_id), None)
        yield _refusal(document, fault.kind, todo, fault.field) if todo else _Found(fault.kind, None, fault.todo_id)
