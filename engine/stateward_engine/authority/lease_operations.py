"""What is done with leases: taken, made longer, handed on and given back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stateward_engine.authority.eligibility import REASONS, owner_constraint
from stateward_engine.authority.leases import (
    LEASE_SCHEMA,
    Case,
    ended,
    is_effective,
    later,
    lease_patch,
    new_lease,
    released,
)
from stateward_engine.authority.operations import Decision
from stateward_engine.authority.write_scopes import overlapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.authority.commands import (
        AcquireLease,
        LeaseClaim,
        LeaseOperation,
        ReleaseLease,
        RenewLease,
        Status,
        TransferLease,
    )
    from stateward_engine.authority.goal import Goal, Members

TTL_SECONDS_DEFAULT: Final = 2_700
# A dead agent keeps its todo for as long.
TTL_SECONDS_MAX: Final = 86_400


def decide_acquire(goal: Goal, command: AcquireLease, now: str) -> Decision:
    """Take a lease. What the caller holds already under the same key is answered as a repeat.

    Raises:
        Refused: What `acquired` refuses.

    Source: authority.md section 6, as for the other operations.
    """
    case = _case(goal, command, now)
    return _decision(case, "acquire", acquired(case, _todos(goal, command), command.owner, command.lease))


def acquired(case: Case, todos: Mapping[str, Members], owner: str, claim: LeaseClaim) -> Members:
    """Return the lease that `owner` takes: the present one where he has it under that key already.

    Args:
        case: The todo and its last lease.
        todos: All todos of the goal by id: the ledger's after promotion, those of the document before.
        owner: Who takes it.
        claim: Its key and how long it is to last.

    Raises:
        Refused: In this order: `invalid_ttl`; the reasons of `eligibility.REASONS`; `version_mismatch`;
            `todo_lease_conflict` for an effective lease of anybody, `idempotency_key_reuse` for a key that the last
            lease had; `write_scope_conflict`.
    """
    ttl_seconds = _ttl_seconds(case, claim, TTL_SECONDS_DEFAULT)
    _demand_eligible(case, owner, "owner")
    _demand_version(case)
    wanted = (owner, claim.idempotency_key)
    if held := case.effective_lease:
        has = (held["owner"], held["idempotency_key"])
        if has == wanted and held["acquire_ttl_seconds"] == ttl_seconds:
            return held
        if has != wanted:
            raise case.refused("todo_lease_conflict", f"the todo is leased: {case.told()}", "todo_id")
    if case.lease is not None and case.lease["idempotency_key"] == claim.idempotency_key:
        raise case.refused(
            "idempotency_key_reuse",
            "the last lease of the todo had this key; take a new key for a new lease, and renew to make one longer",
            "idempotency_key",
            got=claim.idempotency_key,
        )
    lease = new_lease(case.goal, todos[case.todo_id], owner, claim.idempotency_key, seconds=ttl_seconds, now=case.now)
    _demand_free_scopes(case, todos, lease["write_scopes"])
    return lease


def decide_renew(goal: Goal, command: RenewLease, now: str) -> Decision:
    """Make a lease last as long again from now, or another time: a new version of the same epoch.

    Raises:
        Refused: The reasons of `eligibility.REASONS`; `version_required`; `version_mismatch`; `lease_missing`;
            `lease_cas_mismatch`; `lease_released`; `lease_expired`; `invalid_ttl`.
    """
    case = _case(goal, command, now)
    _demand_eligible(case, command.owner, "owner")
    lease = _held(case, command)
    return _decision(case, "renew", _next(case, command.lease, lease))


def decide_transfer(goal: Goal, command: TransferLease, now: str) -> Decision:
    """Hand a lease to another owner, who has it under a new key: a new epoch.

    Raises:
        Refused: As for `decide_renew`, for either owner; `idempotency_key_reuse`.
    """
    case = _case(goal, command, now)
    _demand_eligible(case, command.owner, "owner")
    _demand_eligible(case, command.new_owner, "new_owner")
    lease = _held(case, command)
    if command.new_idempotency_key == lease["idempotency_key"]:
        raise case.refused(
            "idempotency_key_reuse",
            "the lease has this key already; the new owner needs one of his own",
            "new_idempotency_key",
            got=command.new_idempotency_key,
        )
    taken = {
        "owner": command.new_owner,
        "idempotency_key": command.new_idempotency_key,
        "lease_epoch": lease["lease_epoch"] + 1,
        "acquired_at": now,
    }
    return _decision(case, "transfer", {**_next(case, command.lease, lease), **taken})


def decide_release(goal: Goal, command: ReleaseLease, now: str) -> Decision:
    """Give a lease back. Nobody asks whether its owner may still work on the todo.

    Raises:
        Refused: `version_required`; `version_mismatch`; `lease_cas_mismatch`.
    """
    case = _case(goal, command, now)
    lease = _own(case, command)
    if lease is None:
        return Decision({**_answer(case, "release"), "idempotent": True, "reason_code": "lease_missing"})
    return _decision(case, "release", lease if lease["status"] == "released" else released(lease, now))


def _case(goal: Goal, command: LeaseOperation, now: str) -> Case:
    todo = _todos(goal, command).get(command.todo_id)
    return Case(goal, command.todo_id, todo, now, command.lease.expected_version)


def _todos(goal: Goal, command: LeaseOperation) -> Mapping[str, Members]:
    return goal.records if goal.promoted else command.todos or {}


def _decision(case: Case, action: str, lease: Members) -> Decision:
    """Return the decision that leaves `lease`; one that is so already was asked for before."""
    patch = lease_patch(case.goal, lease)
    status: Status = "applied" if patch else "replayed"
    return Decision({**_answer(case, action), "idempotent": not patch, "lease": lease}, patch, status)


def _answer(case: Case, action: str) -> dict[str, Any]:
    return {"schema_version": LEASE_SCHEMA, "action": action, "todo_id": case.todo_id}


def _demand_eligible(case: Case, owner: str, member: str) -> None:
    """Refuse an owner who may not work on the todo."""
    if constraint := owner_constraint(case.goal, case.todo, owner):
        reason = constraint.pop("reason")
        del constraint["effective"]
        about = "todo_id" if reason.startswith("todo_") else member
        raise case.refused(reason, REASONS[reason], about, **constraint)


def _demand_version(case: Case) -> None:
    """Refuse a version that the lease does not have any more, or not yet; 0 is that of no lease."""
    if case.expected_version not in {None, case.version}:
        raise case.refused("version_mismatch", f"the lease has another version: {case.told()}", "expected_version")


def _own(case: Case, command: LeaseOperation) -> Members | None:
    """Return the lease if it is that of the caller, by version, owner and key; `None` where there is none."""
    if case.expected_version is None:
        raise case.refused("version_required", "give the version of your lease as you know it", "expected_version")
    _demand_version(case)
    lease, theirs = case.lease, (command.owner, command.lease.idempotency_key)
    if lease is not None and (lease["owner"], lease["idempotency_key"]) != theirs:
        raise case.refused(
            "lease_cas_mismatch", f"the lease has another owner or key: {case.told()}", "idempotency_key"
        )
    return lease


def _held(case: Case, command: LeaseOperation) -> Members:
    """Return the lease of the caller, which has to be live."""
    lease = _own(case, command)
    end = ended(lease, case.now)
    if lease is None or end:
        raise case.refused(end["reason"], f"{case.told()}; acquire a new one under a new key", "todo_id")
    return lease


def _next(case: Case, claim: LeaseClaim, lease: Members) -> dict[str, Any]:
    """Return the next version of a lease."""
    seconds = _ttl_seconds(case, claim, lease["acquire_ttl_seconds"])
    return {**lease, "version": lease["version"] + 1, "updated_at": case.now, "expires_at": later(case.now, seconds)}


def _ttl_seconds(case: Case, claim: LeaseClaim, default: int) -> int:
    """Return how long a lease is asked for."""
    seconds = default if claim.ttl_seconds is None else claim.ttl_seconds
    if 1 <= seconds <= TTL_SECONDS_MAX:
        return seconds
    raise case.refused(
        "invalid_ttl",
        f"a lease lasts 1 to {TTL_SECONDS_MAX} seconds",
        "ttl_seconds",
        got=seconds,
        wanted=f"1 to {TTL_SECONDS_MAX}, or nothing for {default}",
    )


def _demand_free_scopes(case: Case, todos: Mapping[str, Members], scopes: list[str]) -> None:
    """Refuse write scopes that overlap with those of another effective lease of the goal.

    When two scopes overlap is said in `write_scopes.overlapping`. Todos that name different repositories have no path
    in common.
    """
    meeting = {
        todo_id: (lease["owner"], common)
        for todo_id, lease in case.goal.leases.items()
        if todo_id != case.todo_id
        and is_effective(case.goal, todos.get(todo_id), lease, case.now)
        and _may_share(todos[case.todo_id], todos[todo_id])
        and (common := overlapping(scopes, lease["write_scopes"]))
    }
    if meeting:
        raise case.refused(
            "write_scope_conflict",
            "what the todo needs to write is leased with another todo; wait for it, or take other work",
            "todo_id",
            conflicts={todo_id: owner for todo_id, (owner, _) in meeting.items()},
            write_scopes=sorted({scope for _, common in meeting.values() for scope in common}),
        )


def _may_share(todo: Members, other: Members) -> bool:
    """Tell whether two todos may mean the same repository; one that names none may mean any."""
    named = {(each.get("task_repository") or "").casefold() for each in (todo, other)}
    return "" in named or len(named) == 1
