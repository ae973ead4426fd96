"""Archiving: finished todos become history, and the newest of them stay in sight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stateward_engine.authority.changing import stamped
from stateward_engine.authority.eligibility import demand_actor
from stateward_engine.authority.merging import changes
from stateward_engine.authority.operations import Decision
from stateward_engine.goals.render import INDEX_WITHOUT_PLACE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stateward_engine.authority.commands import ArchiveCompleted
    from stateward_engine.authority.goal import Goal, Members

ARCHIVE_SCHEMA: Final = "loopx_coordination_todo_archive_result_v0"


def operation_id_of(goal: Goal, role: str, max_active_done: int) -> str:
    """Return the id of an archival that was given none: the same call on the same head is the same operation."""
    return f"archive:{goal.goal_id}:{goal.cursor}:{role}:{max_active_done}"


def decide_archive(goal: Goal, command: ArchiveCompleted, now: str) -> Decision:
    """Archive what is done, except for the newest.

    Raises:
        Refused: `actor_not_registered`.

    Source: authority.md section 6, `todo_archive_completed`.
    """
    if command.agent_id is not None:
        demand_actor(goal, {}, command.agent_id, "agent_id")
    done = oldest_first(goal.records.values(), command.role)
    moved = done[: max(0, len(done) - command.max_active_done)]
    patch = {
        todo["todo_id"]: changes(todo, {**stamped(todo, command.agent_id, now), "archive_state": "archive"})
        for todo in moved
    }
    return Decision(archived_answer(done, moved), {"records": patch} if patch else {})


def oldest_first(records: Iterable[Members], role: str) -> list[Members]:
    """Return the active todos of a role that are done, the newest last.

    Their order is that of the display, then when they were changed, then their id. Records without an index were made
    after all that have one.
    """
    done = (each for each in records if each["role"] == role and each["status"] == "done")
    return sorted((each for each in done if each["archive_state"] == "active"), key=_age)


def archived_answer(done: list[Members], moved: list[Members]) -> dict[str, Any]:
    """Return what an archival is answered."""
    return {
        "schema_version": ARCHIVE_SCHEMA,
        "active_done_before": len(done),
        "active_done_after": len(done) - len(moved),
        "moved_count": len(moved),
        "moved_todo_ids": [todo["todo_id"] for todo in moved],
    }


def _age(todo: Members) -> tuple[int, str, str]:
    return todo.get("index", INDEX_WITHOUT_PLACE), todo.get("updated_at", ""), todo["todo_id"]
