"""What every change of a todo has to get past: the todo is there, its actor may act, and the result is a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stateward_engine.authority.given import invalid_members
from stateward_engine.authority.refusals import refused
from stateward_engine.errors import RenderRejected
from stateward_engine.goals.records import admit
from stateward_engine.goals.reference_problems import rings
from stateward_engine.goals.todos import references_in, waiting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.authority.goal import Goal, Members

BINDINGS: Final = frozenset({"bound_agent", "goal_bound"})


def find_todo(goal: Goal, todo_id: str) -> Members:
    """Return an active record of a promoted goal.

    Raises:
        Refused: `todo_not_found`; `todo_archived`, which says by what it was superseded, if it was.
    """
    todo = goal.records.get(todo_id)
    if todo is None:
        raise refused(
            "todo_not_found",
            "the goal has no todo of that id; todo_list shows those that it has",
            member="todo_id",
            got=todo_id,
        )
    if todo["archive_state"] == "archive":
        raise refused(
            "todo_archived",
            "the todo is history, and stays as it is; add a new one for new work",
            member="todo_id",
            got=todo_id,
            todo_status=todo["status"],
            superseded_by=todo.get("superseded_by"),
        )
    return todo


def demand_claimer(todo: Members, agent_id: str | None, reason_code: str) -> None:
    """Refuse an agent that changes what another one has claimed.

    Who names no agent is the person whose goal it is, and stands above claims; leases hold for everybody.

    Raises:
        Refused: `reason_code`, with the claimer.
    """
    claimed_by = todo.get("claimed_by")
    if agent_id is not None and claimed_by not in (None, agent_id):
        raise refused(
            reason_code,
            "another agent has claimed this todo; work on another one, or have it given up first",
            member="agent_id",
            got=agent_id,
            todo_id=todo["todo_id"],
            claimed_by=claimed_by,
        )


def demand_targets(records: Mapping[str, Members], after: Members, given: Mapping[str, Any]) -> None:
    """Refuse references to todos that are not there, and todos that would wait for each other.

    Args:
        records: Those of the goal, archived ones included.
        after: The record that refers.
        given: Those of its fields that are new.

    Raises:
        Refused: `todo_not_found` or `blocking_cycle`.

    Source: goal-documents section 5, `dangling_todo_reference` and `blocking_cycle`.
    """
    new = {name: value for name, value in given.items() if value is not None}
    references = list(references_in(new))
    for key, target in references:
        if target not in records:
            raise refused(
                "todo_not_found",
                f"{key} names a todo that the goal does not have; todo_list shows those that it has",
                member=key,
                got=target,
            )
    if any(waiting(after["todo_id"], key, target) for key, target in references):
        _demand_no_ring({**records, after["todo_id"]: after}, after["todo_id"])


def bound_twice(todo: Members) -> dict[str, str]:
    """Return what is wrong with a todo that is bound to an agent and to the goal; nothing where it is not."""
    if "bound_agent" in todo and todo.get("goal_bound"):
        return {"goal_bound": "a todo is bound to an agent or to the goal, not to both"}
    return {}


def admitted(after: Members, declarations: Mapping[str, Members], reason_code: str) -> dict[str, Any]:
    """Return a record, its members in order, when a document can show it and give it back.

    Raises:
        Refused: `reason_code`, with the member that does not fit the others.
    """
    try:
        admit([after], declarations)
    except RenderRejected as fault:
        raise invalid_members(reason_code, {fault.field or "todo_id": str(fault)}) from None
    return {name: after[name] for name in sorted(after)}


def stamped(after: Members, agent_id: str | None, now: str) -> dict[str, Any]:
    """Return a record with who changed it last and when."""
    actor = {} if agent_id is None else {"last_actor_agent_id": agent_id}
    return {**after, **actor, "updated_at": now}


def _demand_no_ring(records: Mapping[str, Members], todo_id: str) -> None:
    graph: dict[str, list[str]] = {}
    for record in records.values():
        if record["status"] != "done":
            for key, target in references_in(record):
                if (pair := waiting(record["todo_id"], key, target)) and target in records:
                    graph.setdefault(pair[0], []).append(pair[1])
    for ring in rings(graph):
        if todo_id in ring:
            raise refused(
                "blocking_cycle",
                "these todos would wait for each other, so none of them could begin",
                member="todo_id",
                todo_ids=ring,
            )
