"""Updating a todo: all of what is given, or nothing. It grants nothing, changes no lease and decides for no user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stateward_engine.authority.changing import (
    BINDINGS,
    admitted,
    bound_twice,
    demand_claimer,
    demand_targets,
    find_todo,
    stamped,
)
from stateward_engine.authority.eligibility import demand_actor
from stateward_engine.authority.given import (
    EDITABLE,
    INVALID_UPDATE,
    WORK_REQUIREMENTS,
    invalid_members,
    read_fields,
)
from stateward_engine.authority.leases import demand_fence, is_live, retained
from stateward_engine.authority.merging import changes
from stateward_engine.authority.operations import Decision
from stateward_engine.authority.refusals import refused
from stateward_engine.authority.wording import labelled, prioritised, read_text
from stateward_engine.goals.priority import read_decorated_priority
from stateward_engine.goals.todos import DONE_STATUSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stateward_engine.authority.commands import UpdateTodo
    from stateward_engine.authority.goal import Goal, Members

UPDATE_SCHEMA: Final = "loopx_coordination_todo_update_result_v0"
# What a completion says, and is not so once its todo is taken up again.
_COMPLETION: Final = (
    *("completed_at", "completion_continuation", "completion_receipt_id", "completion_turn_key", "completion_result"),
    *("completion_recovery", "decision_outcome", "no_followup"),
)


def decide_update(goal: Goal, command: UpdateTodo, now: str) -> Decision:
    """Change fields of a todo, all or none.

    Raises:
        Refused: `todo_not_found`, `todo_archived`, `actor_not_registered`, `update_owner_mismatch`, what
            `leases.demand_fence` refuses, and what `updated` refuses.

    Source: authority.md section 6, `todo_update`.
    """
    todo = find_todo(goal, command.todo_id)
    if command.agent_id is not None:
        demand_actor(goal, {}, command.agent_id, "agent_id")
    demand_claimer(todo, command.agent_id, "update_owner_mismatch")
    demand_fence(goal, todo, command.agent_id, command.lease, now, required=False)
    after = updated(todo, command, goal.records, retained(goal, command.todo_id), now)
    if after == todo:
        return Decision(_answer(todo))
    record = admitted(stamped(after, command.agent_id, now), goal.declarations, INVALID_UPDATE)
    return Decision(_answer(record), {"records": {command.todo_id: changes(todo, record)}})


def updated(
    todo: Members, command: UpdateTodo, records: Mapping[str, Members], lease: Members | None, now: str
) -> dict[str, Any]:
    """Return a record with what is given, and with what follows from it.

    Args:
        todo: The record before.
        command: What is asked.
        records: Those of the goal, from the ledger or from its document.
        lease: The lease of the todo that nobody has released, or `None`.
        now: The time to decide by.

    Raises:
        Refused: `invalid_coordination_todo_update` with every invalid member, `todo_priority_conflict`,
            `work_requirement_leased`, `todo_not_found` for a reference, `blocking_cycle`, and the reasons of
            `read_text`.
    """
    fields = dict(command.fields)
    text = _read_text(fields.pop("text"), records.values()) if "text" in fields else None
    given = read_fields(fields, command.clear, editable=EDITABLE)
    if given.get("status") == "done" != todo["status"]:
        raise invalid_members(INVALID_UPDATE, {"status": "complete it with todo_complete, which says what comes next"})
    if lease is not None:
        _demand_free(todo, given, lease, now)
    priority = given.pop("priority", None)
    reopened = todo["status"] == "done" != given.get("status", "done")
    gone = {*(_COMPLETION if reopened else ()), *(name for name, value in given.items() if value is None)}
    changed = {**todo, **given, **_worded(todo, text, priority)}
    after = {name: value for name, value in changed.items() if name not in gone}
    after["done"] = after["status"] in DONE_STATUSES
    if not given.keys().isdisjoint(BINDINGS) and (wrong := bound_twice(after)):
        raise invalid_members(INVALID_UPDATE, wrong)
    demand_targets(records, after, {name: value for name, value in given.items() if todo.get(name) != value})
    return after


def _read_text(text: object, records: Iterable[Members]) -> str:
    if not isinstance(text, str):
        raise invalid_members(INVALID_UPDATE, {"text": "text is a string"})
    return read_text(text, records)


def _worded(todo: Members, text: str | None, priority: str | None) -> dict[str, str]:
    """Return text, priority and title after a new text, a new priority or both; nothing when there is neither."""
    if text is None and priority is None:
        return {}
    before = read_decorated_priority(todo["text"])
    if text is not None:
        return prioritised(text, priority, before.label if before else None)
    return labelled(priority, before.title if before else todo["text"])


def _demand_free(todo: Members, given: Members, lease: Members, now: str) -> None:
    """Refuse to change which work a todo is while somebody took a lease for it.

    Raises:
        Refused: `work_requirement_leased`, whoever asks; `todo_lease_conflict` for a claim that a lease stands on.
    """
    held = {name for name, value in given.items() if todo.get(name) != value}
    if named := sorted(held & WORK_REQUIREMENTS):
        raise refused(
            "work_requirement_leased",
            "a lease was taken for the work as it is described; have the lease released, then describe it otherwise",
            member=named[0],
            todo_id=todo["todo_id"],
            owner=lease["owner"],
            members=named,
        )
    if "claimed_by" in held and is_live(lease, now):
        raise refused(
            "todo_lease_conflict",
            "a lease stands on this claim; have the lease released, then give the claim up",
            member="clear",
            todo_id=todo["todo_id"],
            owner=lease["owner"],
        )


def _answer(todo: Members) -> dict[str, Any]:
    return {"schema_version": UPDATE_SCHEMA, "todo_id": todo["todo_id"], "todo": todo}
