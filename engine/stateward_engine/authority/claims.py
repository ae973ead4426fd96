"""Claims: an actor takes a todo, and the lease with it where he wants one or the goal needs one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stateward_engine.authority.eligibility import REASONS, demand_actor, is_open
from stateward_engine.authority.lease_operations import acquired
from stateward_engine.authority.leases import Case, has_run_out, lease_patch
from stateward_engine.authority.merging import changes
from stateward_engine.authority.operations import Decision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.authority.commands import ClaimTodo
    from stateward_engine.authority.goal import Goal, Members
    from stateward_engine.errors import Refused

CLAIM_SCHEMA: Final = "loopx_coordination_todo_claim_result_v0"


class Claimed(NamedTuple):
    """What a claim comes to.

    Attributes:
        answer: The members that are its own.
        todo: The record after it; the one before where nothing changes.
        lease: The lease that the claimer then has of the todo, or `None`.
    """

    answer: Members
    todo: Members
    lease: Members | None


def decide_claim(goal: Goal, command: ClaimTodo, now: str) -> Decision:
    """Claim a todo of a promoted goal: claim, lease and receipt are one entry of the ledger.

    Raises:
        Refused: As for `claim`.

    Source: authority.md section 6, `todo_claim`.
    """
    claimed = claim(goal, goal.records, command, now)
    change = changes(goal.records[command.todo_id], claimed.todo)
    records = {"records": {command.todo_id: change}} if change else {}
    leases = lease_patch(goal, claimed.lease) if claimed.lease else {}
    return Decision(claimed.answer, {**records, **leases})


def claim(goal: Goal, todos: Mapping[str, Members], command: ClaimTodo, now: str) -> Claimed:
    """Return what a claim comes to. Whoever has the todo already is told so, under whatever key he asks again.

    A claim that came with a lease lapses when the lease has run out, so that the todo of a dead agent is not lost to
    the others; one without a lease stands until somebody clears it.

    Args:
        goal: The goal.
        todos: Its todos by id: the ledger's after promotion, those of the document before.
        command: Who claims what, and with which lease.
        now: The time to decide by.

    Raises:
        Refused: `todo_not_found`; `actor_not_registered`, `claim_actor_mismatch`; `todo_not_agent`, `todo_not_open`,
            `actor_excluded`; `claim_owner_mismatch`, `todo_lease_conflict`; `handoff_mode_requires_lease`; what
            `lease_operations.acquired` refuses. A second try without another call between is refused alike.
    """
    version = command.lease.expected_version if command.lease else None
    case = Case(goal, command.todo_id, todos.get(command.todo_id), now, version, nested=True)
    _demand_claimer(case, command)
    todo = _claimable(case, command.claimed_by)
    holder = todo.get("claimed_by")
    if holder and holder != command.claimed_by and has_run_out(case.lease, holder, now):
        case = case._replace(todo={name: value for name, value in todo.items() if name != "claimed_by"})
    _demand_free(case, command.claimed_by)
    held = case.effective_lease
    lease = held
    if held is None and command.lease is not None:
        lease = acquired(case, todos, command.claimed_by, command.lease)
    elif held is None and goal.needs_leases:
        raise _lease_needed(case, command.claimed_by)
    mine = todo.get("claimed_by") == command.claimed_by
    answer: dict[str, Any] = {
        "schema_version": CLAIM_SCHEMA,
        "todo_id": command.todo_id,
        "claimed_by": command.claimed_by,
        "handoff_mode": goal.handoff_mode,
        "todo_changed": not mine,
        "lease_changed": lease is not held,
        "lease_idempotent": held is not None and command.lease is not None,
        "already_claimed_by_you": mine,
        # A receipt keeps no null.
        **({} if lease is None else {"lease": lease}),
    }
    changed = not mine or lease is not held
    return Claimed(answer, {**todo, "claimed_by": command.claimed_by, "updated_at": now} if changed else todo, lease)


def _demand_claimer(case: Case, command: ClaimTodo) -> None:
    """Refuse a claimer who is nobody, or for whom another speaks."""
    if case.todo is None:
        raise case.refused("todo_not_found", REASONS["todo_not_found"], "todo_id")
    demand_actor(case.goal, None, command.claimed_by, "claimed_by")
    if command.agent_id is not None and command.agent_id != command.claimed_by:
        demand_actor(case.goal, None, command.agent_id, "agent_id")
        raise case.refused(
            "claim_actor_mismatch",
            "an actor claims for himself alone; let claimed_by be agent_id",
            "agent_id",
            got=command.agent_id,
            wanted=command.claimed_by,
        )


def _claimable(case: Case, claimer: str) -> Members:
    """Return the todo, which has to be one that this claimer may have."""
    todo = case.todo
    assert todo is not None  # noqa: S101 - looked at before the claimer was
    if todo["role"] != "agent":
        raise case.refused(
            "todo_not_agent", "this is a todo of the user; agents claim those of agents", "todo_id", role=todo["role"]
        )
    if not is_open(todo):
        raise case.refused("todo_not_open", REASONS["todo_not_open"], "todo_id", archive_state=todo["archive_state"])
    demand_actor(case.goal, todo, claimer, "claimed_by")
    return todo


def _demand_free(case: Case, claimer: str) -> None:
    """Refuse a todo that another has: the loser of a race takes other work, and need not try again."""
    claimed_by = (case.todo or {}).get("claimed_by")
    if claimed_by and claimed_by != claimer:
        since = _claimed_since(case.goal, case.todo_id, claimed_by)
        told = f"{claimed_by} claimed the todo{f' at {since}' if since else ''}; take another one"
        raise case.refused("claim_owner_mismatch", told, "todo_id", claimed_at=since)
    lease = case.effective_lease
    if lease is not None and lease["owner"] != claimer:
        raise case.refused("todo_lease_conflict", f"{case.told()}; take another todo", "todo_id")


def _claimed_since(goal: Goal, todo_id: str, claimed_by: str) -> str | None:
    """Return when a todo was claimed, `None` where it came claimed from elsewhere.

    A record has no member for it, but the receipts say it; they are looked through only where a claim is refused.
    """
    found = (
        receipt["at"]
        for receipt in goal.receipts.values()
        if receipt["answer"].get("todo_changed")
        and receipt["answer"].get("todo_id") == todo_id
        and receipt["answer"].get("claimed_by") == claimed_by
    )
    return max(found, default=None)


def _lease_needed(case: Case, claimer: str) -> Refused:
    return case.refused(
        "handoff_mode_requires_lease",
        "the goal hands todos out under leases; claim again with a new key of your own",
        "lease",
        recovery={
            "command": "todo_claim",
            "requires": "lease.idempotency_key",
            "expected_version": case.version,
        },
        example=f'{{"todo_id": "{case.todo_id}", "claimed_by": "{claimer}", '
        f'"lease": {{"idempotency_key": "a-new-key", "expected_version": {case.version}}}}}',
    )
