"""Mutations of an unpromoted goal: decided as those of a promoted one are, and written into its document.

The document is the authority. What a decision changes of records becomes edits of rows, and what they made is read
again: nothing else may say anything else than before.

Source: authority.md section 3.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stateward_engine.authority.additions import native_todo_id
from stateward_engine.authority.commands import AddTodo, ArchiveCompleted, CompleteTodo, RecordEdit
from stateward_engine.authority.decide import DECIDERS
from stateward_engine.authority.markdown_todos import demand_one, line_of, record_of, standing, unreadable_fields
from stateward_engine.authority.operations import without_storing
from stateward_engine.authority.refusals import refused
from stateward_engine.errors import Refused, RenderRejected
from stateward_engine.goals.contract import WITHOUT_MARKDOWN
from stateward_engine.goals.document import read_document, refusal_at
from stateward_engine.goals.fields import FIELDS
from stateward_engine.goals.parity import check_display, display_record
from stateward_engine.goals.records import Record
from stateward_engine.goals.regions import Fault
from stateward_engine.goals.row_edits import Change, add_row, archive_rows, edit_rows
from stateward_engine.goals.validation import DECLARATION_KEYS, declared_fields
from stateward_engine.state.patch import apply as merged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stateward_engine.authority.commands import TodoOperation
    from stateward_engine.authority.goal import Goal, Members
    from stateward_engine.authority.operations import Decision
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.todos import Todo

# How many ids a refusal names.
CANDIDATES_MAX: Final = 20
# What a row says of a record by keys of its own. Its section says the role, and its box most of the status.
KEYS: Final = tuple(key for key in FIELDS if key not in {"todo_id", "role", *DECLARATION_KEYS, *WITHOUT_MARKDOWN})


class Edited(NamedTuple):
    """A mutation as the document has it.

    Attributes:
        text: The whole new text.
        changed: Whether it differs from the old one.
        decision: What it comes to; what it patches of records and declarations is in the text.
    """

    text: str
    changed: bool
    decision: Decision


def apply(goal: Goal, document: GoalDocument, command: TodoOperation, now: str) -> Edited:
    """Decide a mutation on the document of an unpromoted goal.

    Args:
        goal: The goal, with its leases.
        document: What its document says now.
        command: What is asked.
        now: The time to decide by.

    Raises:
        UnsafeDocument: The document cannot be read without guessing, or would hide a new row.
        Refused: `todo_not_found` with the ids that there are, `duplicate_todo_id` with the lines,
            `row_metadata_invalid` with the fields, and what the decision about a promoted goal refuses.
        RenderRejected: A row could not be read back.

    Source: authority.md section 3; goal-documents section 5, rules.
    """
    _demand_whole(document)
    ids = _own_ids(document, command)
    due: tuple[str, ...] = ()
    if not isinstance(command, AddTodo | ArchiveCompleted):
        target = _find(document, command.todo_id, _own_id(command, command.todo_id))
        _demand_readable(document, target)
        command = replace(command, todo_id=ids.get(target.todo_id, target.todo_id))
        due = tuple(ids.values())
    before = standing(goal, document, ids)
    decision, is_written = _decide(before, command, now)
    text = document.text if is_written else _written(document, before, ids, due, decision)
    return Edited(text, text != document.text, decision)


def receipt_for(goal: Goal, command: TodoOperation, edited: Edited) -> RecordEdit | Members:
    """Return what keeps the receipt of an edit once its text is published, or the answer of one that leaves nothing.

    Arguments as of `apply`.
    """
    decision = edited.decision
    if command.dry_run or not (edited.changed or decision.patch):
        return without_storing(goal, command, decision) or {}
    leases = decision.patch.get("leases", {})
    return RecordEdit(
        goal_id=command.goal_id,
        operation_id=command.operation_id,
        operation_id_given=command.operation_id_given,
        agent_id=command.agent_id,
        edit=command,
        answer=decision.answer,
        status=decision.status,
        leases=leases,
        held={todo_id: goal.leases.get(todo_id) for todo_id in leases},
    )


# -- what is there ---------------------------------------------------------------------------------------------------


def _demand_whole(document: GoalDocument) -> None:
    if document.refusal is not None:
        raise document.refusal
    for found in document.problems:
        if found.code == "conflict_marker":
            line = document.lines.index_at(found.span[0])
            raise refusal_at(document.lines, Fault(found.code, line, found.message))


def _own_ids(document: GoalDocument, command: TodoOperation) -> dict[str, str]:
    """Return the ids that rows get in this write instead of their generated ones, which may be those of others later.

    They follow from the operation, so that its repeat finds them.
    """
    implicit = [todo.todo_id for todo in document.todos if todo.id_line is None]
    if not isinstance(command, ArchiveCompleted):
        implicit = [] if isinstance(command, AddTodo) else [name for name in implicit if name == command.todo_id]
    return {todo_id: _own_id(command, todo_id) for todo_id in implicit}


def _own_id(command: TodoOperation, generated: str) -> str:
    return native_todo_id(f"{command.operation_id}:{generated}")


def _find(document: GoalDocument, todo_id: str, own_id: str) -> Todo:
    """Return the one row of an id, or of the id that this operation gave it before."""
    found = [todo for todo in document.todos if todo.todo_id in (todo_id, own_id)]
    if not found:
        candidates = {todo.todo_id: line_of(document, todo) for todo in document.todos if not todo.archived}
        raise refused(
            "todo_not_found",
            "no row has this id; generated ids change when a row moves, so read the todos again",
            member="todo_id",
            got=todo_id,
            candidates=dict(list(candidates.items())[:CANDIDATES_MAX]),
        )
    demand_one(document, found)
    return found[0]


def _demand_readable(document: GoalDocument, todo: Todo) -> None:
    if bad := unreadable_fields(document, todo):
        line = line_of(document, todo)
        raise refused(
            "row_metadata_invalid",
            f"the row on line {line} has a value of {' and of '.join(bad)} that cannot be read, so nobody knows who "
            "may act on it; mend the document first (`stateward goal check` says how)",
            member="todo_id",
            todo_id=todo.todo_id,
            line=line,
            fields=bad,
        )


# -- what is decided -------------------------------------------------------------------------------------------------


def _decide(goal: Goal, command: TodoOperation, now: str) -> tuple[Decision, bool]:
    """Return the decision, and whether the document has it already because the receipt of a first run was lost."""
    decide = DECIDERS[type(command)]
    earlier = _before_first_run(goal, command)
    if earlier is not None:
        with suppress(Refused):
            decision = decide(earlier, command, now)
            if all(_is_sequel(goal.records.get(todo_id), part) for todo_id, part in decision.patch["records"].items()):
                return decision, True
    return decide(goal, command, now), False


def _before_first_run(goal: Goal, command: TodoOperation) -> Goal | None:
    """Return the goal without what a first run of the operation would have left; `None` if there is no trace of one."""
    records = {**goal.records}
    added = records.pop(native_todo_id(command.operation_id), None)
    completed = records[command.todo_id] if isinstance(command, CompleteTodo) else None
    if completed is not None and completed["status"] == "done":
        records[completed["todo_id"]] = {**completed, "status": "open", "done": False}
    elif added is None:
        return None
    return goal._replace(stream=goal.stream._replace(planes={**goal.stream.planes, "records": records}))


def _is_sequel(record: Members | None, part: Members) -> bool:
    """Whether a record is what a first run made of it: it has the text that was added, or the completion's receipt."""
    return record is not None and all(
        record.get(name) == part[name] for name in ("completion_receipt_id", "text") if name in part
    )


# -- what is written -------------------------------------------------------------------------------------------------


def _written(
    document: GoalDocument, before: Goal, ids: Mapping[str, str], due: Iterable[str], decision: Decision
) -> str:
    """Return the text that says what a decision comes to.

    Args:
        document: What the text says now.
        before: The goal with its todos as they are now.
        ids: The ids that rows get instead of their generated ones.
        due: Those that are written even if nothing else of their row is.
        decision: The decision.
    """
    patch = {name: decision.patch[name] for name in ("records", "declarations") if name in decision.patch}
    planes: Mapping[str, Any] = merged(before.stream.planes, patch)
    after: dict[str, Members] = {todo_id: planes["records"][todo_id] for todo_id in [*due, *patch.get("records", ())]}
    rows: dict[str, list[Todo]] = {}
    for todo in document.todos:
        rows.setdefault(ids.get(todo.todo_id, todo.todo_id), []).append(todo)
    old = [todo_id for todo_id in after if todo_id in rows]
    for todo_id in old:
        demand_one(document, rows[todo_id])
        _demand_readable(document, rows[todo_id][0])
    text = edit_rows(document, [_change(rows[key][0], before.records[key], after[key]) for key in old])
    if history := {key for key in old if _is_archived(after[key], before.records[key])}:
        edited = document.become(text)
        text = archive_rows(edited, [todo for todo in edited.todos if todo.todo_id in history])
    for todo_id in after.keys() - rows.keys():
        record, private = after[todo_id], planes["declarations"].get(todo_id, {})
        fields = {key: record[key] for key in ("todo_id", *KEYS) if key in record} | declared_fields(private)
        text = add_row(document.become(text), record["role"], fields, record["text"])
    _prove(document, read_document(text), ids, after)
    return text


def _change(todo: Todo, before: Members, after: Members) -> Change:
    fields: dict[str, Any] = {key: after.get(key) for key in KEYS if after.get(key) != before.get(key)}
    if todo.id_line is None:
        fields["todo_id"] = after["todo_id"]
    if _is_archived(after, before):
        fields["role"] = after["role"]
    return Change(todo, fields, None if after["text"] == before["text"] else after["text"])


def _is_archived(after: Members, before: Members) -> bool:
    return bool(after["archive_state"] == "archive" != before["archive_state"])


def _prove(document: GoalDocument, edited: GoalDocument, ids: Mapping[str, str], after: Mapping[str, Members]) -> None:
    """Refuse an edit that does not read as it was meant, or after which another row says something else.

    Raises:
        RenderRejected: `unsafe_rendering` or `parity_mismatch`.
    """
    if edited.refusal is not None:
        raise RenderRejected(f"the document could not be read again: {edited.refusal}", kind="unsafe_rendering")
    rows = {todo.todo_id: todo for todo in edited.todos}
    for todo_id, record in after.items():
        todo = rows.get(todo_id)
        if todo is None:
            raise RenderRejected("the row could not be read again", kind="parity_mismatch", todo_id=todo_id)
        check_display(display_record(Record(record, record, None), todo.source_section, todo.ordinal), record_of(todo))
    if _others(document, ids, after) != _others(edited, {}, after):
        raise RenderRejected("another row would be read as something else", kind="parity_mismatch")


def _others(document: GoalDocument, ids: Mapping[str, str], named: Mapping[str, Members]) -> list[Any]:
    """Return what the rows say that are not named. A generated id is left out: it says where its row stands."""
    return [
        (todo.id_line and todo.todo_id, todo.role, todo.region.role, todo.status, todo.full_text, todo.fields)
        for todo in document.todos
        if ids.get(todo.todo_id, todo.todo_id) not in named
    ]
