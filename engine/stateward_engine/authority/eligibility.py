"""Who may work on a todo. Being eligible grants nothing: a claim or a lease does, and this changes neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stateward_engine.authority.refusals import refused
from stateward_engine.goals.fields import AGENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.authority.goal import Goal, Members

# What a user does elsewhere: nobody works on it under a lease.
USER_ACTION: Final = "user_action"

# Why an owner may not work on a todo, and what to do about it.
REASONS: Final[Mapping[str, str]] = {
    "todo_not_found": "the goal has no todo of that id; todo_list shows those that it has",
    "todo_not_open": "the todo is not open; only an open one is worked on",
    "invalid_owner": "an owner begins with a lower-case letter, then at most 79 of a-z 0-9 _ . : @ -",
    "owner_not_registered": "the owner is no registered actor of the goal; goal_configure registers actors",
    "owner_excluded_from_todo": "the todo excludes this owner; leave it to another",
    "owner_conflicts_with_claim": "another actor claims the todo; it is his until todo_update clears claimed_by",
    "todo_not_executable": "a user_action is a reminder for a person; nobody works on it under a lease",
}


def is_open(todo: Members) -> bool:
    """Tell whether a todo can be worked on: open, and not in the archive."""
    return bool(todo["status"] == "open" and todo["archive_state"] == "active")


def owner_constraint(goal: Goal, todo: Members | None, owner: str) -> dict[str, Any] | None:
    """Return why `owner` may not work on a todo under a lease, `None` when he may.

    Args:
        goal: The goal, for its registered actors.
        todo: The record, or `None` where there is none.
        owner: Who holds a lease, or wants one.

    Returns:
        `effective` false, `reason` (the first of `REASONS` that applies) and the facts that it rests on.

    Source: authority.md section 6, `lease_acquire` and `lease_inspect`.
    """
    if todo is None:
        return {"effective": False, "reason": "todo_not_found"}
    excluded, claimed_by = todo.get("excluded_agents") or [], todo.get("claimed_by")
    rules: tuple[tuple[str, bool, dict[str, Any]], ...] = (
        ("todo_not_open", not is_open(todo), {"todo_status": todo["status"], "archive_state": todo["archive_state"]}),
        ("invalid_owner", AGENT.fullmatch(owner) is None, {}),
        ("owner_not_registered", not goal.admits(owner), {"registered_agents": goal.agents}),
        ("owner_excluded_from_todo", owner in excluded, {"excluded_agents": excluded}),
        ("owner_conflicts_with_claim", bool(claimed_by) and claimed_by != owner, {"claimed_by": claimed_by}),
        ("todo_not_executable", todo.get("task_class") == USER_ACTION, {"task_class": USER_ACTION}),
    )
    return next(({"effective": False, "reason": reason, **facts} for reason, applies, facts in rules if applies), None)


def demand_actor(goal: Goal, todo: Members | None, actor: str, member: str) -> None:
    """Refuse an actor who may not change a todo.

    Args:
        goal: The goal, for its registered actors.
        todo: The record, or `None` where there is none yet.
        actor: Who acts, or for whom it is done.
        member: The member of the params that names him.

    Raises:
        Refused: `actor_not_registered`; `actor_excluded`.
    """
    if not goal.admits(actor):
        raise refused(
            "actor_not_registered",
            "no registered actor of the goal; goal_configure registers actors",
            member=member,
            got=actor,
            wanted=goal.agents or REASONS["invalid_owner"],
        )
    excluded = (todo or {}).get("excluded_agents") or []
    if actor in excluded:
        raise refused(
            "actor_excluded",
            "the todo excludes this actor; leave it to another",
            member=member,
            got=actor,
            excluded_agents=list(excluded),
        )
