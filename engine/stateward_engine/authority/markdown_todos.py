"""The todos of an unpromoted goal: the rows of its document, as the records that they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stateward_engine.authority.refusals import refused
from stateward_engine.goals.row_problems import unreadable_guards
from stateward_engine.goals.source_decoder import UnreadableField, declaration_of, decode_todo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stateward_engine.authority.goal import Goal, Members
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.todos import Todo


def records_of(document: GoalDocument) -> list[dict[str, Any]]:
    """Return every row of a document as a legacy record, archived ones included, in document order.

    Source: authority.md section 3.
    """
    return [record_of(todo) for todo in document.todos]


def record_of(todo: Todo) -> dict[str, Any]:
    """Return a row as a legacy record, without the fields that no record can hold."""
    try:
        return decode_todo(todo)
    except UnreadableField as fault:
        return record_of(_without(todo, fault.field))


def unreadable_fields(document: GoalDocument, todo: Todo) -> list[str]:
    """Return the fields of a row that say who may act on it or how, and that cannot be read."""
    fields = unreadable_guards(document.text[slice(*todo.extent)])
    try:
        declaration_of(todo)
    except UnreadableField as fault:
        fields.append(fault.field)
    return fields


def demand_one(document: GoalDocument, rows: Sequence[Todo]) -> None:
    """Refuse rows that have one id: it names none of them.

    Raises:
        Refused: `duplicate_todo_id`, with their lines.
    """
    if len(rows) > 1:
        lines = tuple(line_of(document, row) for row in rows)
        raise refused(
            "duplicate_todo_id",
            f"{rows[0].todo_id} stands on lines {' and '.join(map(str, lines))}; give each row an id of its own",
            member="todo_id",
            todo_id=rows[0].todo_id,
            lines=lines,
        )


def line_of(document: GoalDocument, todo: Todo) -> int:
    """Return the line that a row begins on, from 1."""
    return document.lines.index_at(todo.span[0]) + 1


def standing(goal: Goal, document: GoalDocument, ids: Mapping[str, str]) -> Goal:
    """Return a goal with the todos of its document where those of a promoted one are.

    Whatever is decided about a promoted goal can be decided about it, too.

    Args:
        goal: An unpromoted goal.
        document: Its document.
        ids: The ids that some of the rows are to have instead of their generated ones.
    """
    records: dict[str, Members] = {}
    declarations: dict[str, Members] = {}
    for todo in document.todos:
        todo_id = ids.get(todo.todo_id, todo.todo_id)
        records.setdefault(todo_id, {**record_of(todo), "todo_id": todo_id})
        if declaration := _declaration(todo):
            declarations[todo_id] = declaration
    planes = {**goal.stream.planes, "records": records, "declarations": declarations}
    return goal._replace(stream=goal.stream._replace(planes=planes))


def _declaration(todo: Todo) -> Members | None:
    try:
        return declaration_of(todo)
    except UnreadableField as fault:
        return _declaration(_without(todo, fault.field))


def _without(todo: Todo, field: str) -> Todo:
    return todo._replace(fields={key: value for key, value in todo.fields.items() if key != field})
