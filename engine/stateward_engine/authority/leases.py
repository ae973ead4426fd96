"""Leases: who may work on a todo, until when, and under which key.

The last lease of a todo stays after it ran out or was given back. The versions and epochs of the next one count on
from there, so that nothing that an earlier holder has fits a later lease, whatever a clock does.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stateward_engine.authority.eligibility import owner_constraint
from stateward_engine.authority.merging import changes
from stateward_engine.authority.refusals import refused

if TYPE_CHECKING:
    from stateward_engine.authority.commands import LeaseClaim
    from stateward_engine.authority.goal import Goal, Members
    from stateward_engine.errors import Fact, Refused

LEASE_SCHEMA: Final = "task_lease_v0"
LOCAL_AUTHORITY: Final = "local_lease_store"
PASSING_SECONDS: Final = 1
# What a caller says of a lease: `LeaseClaim`.
OF_LEASE: Final = frozenset({"idempotency_key", "expected_version", "ttl_seconds"})


def is_live(lease: Members, now: str) -> bool:
    """Tell whether a lease is neither released nor expired; whether its owner may still use it is another question."""
    return bool(lease["status"] == "active" and now < lease["expires_at"])


def is_effective(goal: Goal, todo: Members | None, lease: Members, now: str) -> bool:
    """Tell whether a lease is live and its owner may still work on the todo: what others have to respect."""
    return is_live(lease, now) and owner_constraint(goal, todo, lease["owner"]) is None


def retained(goal: Goal, todo_id: str) -> Members | None:
    """Return the lease of a todo that was not given back, expired or not."""
    lease = goal.leases.get(todo_id)
    return lease if lease is not None and lease["status"] == "active" else None


def has_run_out(lease: Members | None, owner: str, now: str) -> bool:
    """Tell whether a lease of this owner has run out, and he neither gave it back nor has another."""
    return lease is not None and lease["owner"] == owner and lease["status"] == "active" and not is_live(lease, now)


def later(now: str, seconds: int) -> str:
    """Return a time that is so much later, in UTC to the second.

    >>> later("2026-12-31T23:59:30Z", 45)
    '2027-01-01T00:00:15Z'
    """
    return f"{datetime.fromisoformat(now) + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


def new_lease(goal: Goal, todo: Members, owner: str, key: str, *, seconds: int, now: str) -> dict[str, Any]:
    """Return the next lease of a todo: its version and epoch go on from the last one, its scopes are the todo's."""
    before = goal.leases.get(todo["todo_id"], {"version": 0, "lease_epoch": 0})
    return {
        "schema_version": LEASE_SCHEMA,
        "goal_id": goal.goal_id,
        "todo_id": todo["todo_id"],
        "owner": owner,
        "idempotency_key": key,
        "version": before["version"] + 1,
        "lease_epoch": before["lease_epoch"] + 1,
        "status": "active",
        "write_scopes": list(todo.get("required_write_scopes") or []),
        "acquire_ttl_seconds": seconds,
        "acquired_at": now,
        "updated_at": now,
        "expires_at": later(now, seconds),
    }


def passing_lease(goal: Goal, todo: Members, owner: str, now: str) -> dict[str, Any]:
    """Return the lease of a decision, which takes no time: whoever decides has it and gives it back at once.

    Source: authority.md section 6, `todo_complete`.
    """
    return new_lease(goal, todo, owner, f"auto-{todo['todo_id']}", seconds=PASSING_SECONDS, now=now)


def released(lease: Members, now: str) -> dict[str, Any]:
    """Return a lease as it is after its owner gave it back; its version and epoch stay."""
    return {**lease, "status": "released", "updated_at": now, "released_at": now}


def lease_patch(goal: Goal, lease: Members) -> dict[str, Any]:
    """Return the patch of the planes of a goal that leaves `lease` as that of its todo; empty when it is so already."""
    change = changes(goal.leases.get(lease["todo_id"], {}), lease)
    return {"leases": {lease["todo_id"]: change}} if change else {}


def ended(lease: Members | None, now: str) -> dict[str, str]:
    """Return why there is no live lease, `reason`, and since when if there was one, `since`; nothing while it is."""
    if lease is None:
        return {"reason": "lease_missing"}
    if lease["status"] == "released":
        return {"reason": "lease_released", "since": lease["released_at"]}
    return {} if is_live(lease, now) else {"reason": "lease_expired", "since": lease["expires_at"]}


def holding(lease: Members | None, now: str) -> dict[str, Fact]:
    """Return who has or had a lease, since when, and until when."""
    if lease is None:
        return {}
    facts: dict[str, Fact] = {"lease_owner": lease["owner"], "acquired_at": lease["acquired_at"]}
    if lease["status"] == "released":
        return {**facts, "released_at": lease["released_at"]}
    return {**facts, "expires_at" if now < lease["expires_at"] else "expired_at": lease["expires_at"]}


def told(lease: Members | None, now: str) -> str:
    """Return the same as words."""
    if lease is None:
        return "the todo has no lease"
    owner = lease["owner"]
    if lease["status"] == "released":
        return f"{owner} gave the lease back at {lease['released_at']}"
    if now < lease["expires_at"]:
        return f"{owner} has the lease since {lease['acquired_at']}, until {lease['expires_at']}"
    return f"the lease of {owner} ran out at {lease['expires_at']}"


class Case(NamedTuple):
    """A todo and its lease, as one decision looks at them.

    Attributes:
        goal: The goal.
        todo_id: The todo.
        todo: Its record, from the document of an unpromoted goal; `None` where there is none.
        now: The time to decide by.
        expected_version: The version of the lease that the caller speaks of, or `None`.
        nested: Whether what is said of the lease stands in the member `lease` of the params.
    """

    goal: Goal
    todo_id: str
    todo: Members | None
    now: str
    expected_version: int | None = None
    nested: bool = False

    @property
    def lease(self) -> Members | None:
        """The last lease of the todo."""
        return self.goal.leases.get(self.todo_id)

    @property
    def version(self) -> int:
        """Its version; 0 where there never was one."""
        return 0 if self.lease is None else self.lease["version"]

    @property
    def effective_lease(self) -> Members | None:
        """The lease, if it is effective."""
        lease = self.lease
        return lease if lease is not None and is_effective(self.goal, self.todo, lease, self.now) else None

    def told(self) -> str:
        """Return who has the lease since when, as words."""
        return told(self.lease, self.now)

    def refused(self, reason_code: str, message: str, member: str, **facts: Fact | None) -> Refused:
        """Return a refusal with all that the caller has to know to go on."""
        todo = self.todo or {}
        known: dict[str, Fact | None] = {
            "todo_id": self.todo_id,
            "todo_status": todo.get("status"),
            "claimed_by": todo.get("claimed_by"),
            "handoff_mode": self.goal.handoff_mode,
            "expected_version": self.expected_version,
            "actual_version": self.version,
            **holding(self.lease, self.now),
        }
        path = f"lease.{member}" if self.nested and member in OF_LEASE else member
        return refused(reason_code, message, member=path, **{**known, **facts})


def demand_fence(
    goal: Goal, todo: Members, agent_id: str | None, proof: LeaseClaim | None, now: str, *, required: bool = True
) -> Members | None:
    """Return the lease under which an actor goes on with a todo, `None` where he has none and needs none.

    Args:
        goal: The goal.
        todo: The record, from the document of an unpromoted goal.
        agent_id: Who acts, or `None`.
        proof: The lease that he says he has, or `None`. Without a version its key is enough.
        now: The time to decide by.
        required: Whether what he does needs a lease where the goal hands todos out under leases.

    Raises:
        Refused: `lease_owner_mismatch`: it is another's, or went to another. `lease_fence_required`: proof is missing,
            or of no lease. `lease_cas_mismatch`: another key or version. `lease_expired`. Each says who has the lease
            and since when, or until when he had it.

    Source: authority.md section 6, `todo_update` and `todo_complete`.
    """
    case = Case(goal, todo["todo_id"], todo, now, proof.expected_version if proof else None)
    lease = case.lease
    if lease is not None and lease["owner"] != agent_id and (proof or case.effective_lease):
        raise case.refused("lease_owner_mismatch", f"the lease of the todo is another's: {case.told()}", "agent_id")
    if proof is None:
        if required and goal.needs_leases and todo["role"] == "agent":
            raise case.refused(
                "lease_fence_required",
                "the goal hands todos out under leases; give the key and version of yours",
                "lease",
            )
        return lease if lease is not None and lease["owner"] == agent_id and is_live(lease, now) else None
    if lease is None or lease["status"] == "released":
        raise case.refused(
            "lease_fence_required",
            f"{case.told()}; acquire one, then repeat the call with its key and version",
            "lease",
        )
    if lease["idempotency_key"] != proof.idempotency_key or proof.expected_version not in {None, lease["version"]}:
        raise case.refused(
            "lease_cas_mismatch", "your lease has another key or version; lease_inspect shows it", "lease"
        )
    if not is_live(lease, now):
        raise case.refused("lease_expired", f"{case.told()}; acquire a new one, then repeat the call with it", "lease")
    return lease


def inspect(goal: Goal, todo_id: str, now: str, todo: Members | None) -> dict[str, Any]:
    """Return what is to be known of the lease of a todo, from one revision. It grants nothing.

    Args:
        goal: The goal.
        todo_id: The todo.
        now: The time to judge by: `Goal.now`.
        todo: The record, from the document of an unpromoted goal; `None` where there is none.

    Returns:
        `todo`: the record. `lease`: the last one, or `None`. `active`: whether it is effective. Where it is not, what
        `ended` says, or `executor_constraint` and its `reason`: why the owner of a live lease may not use it.

    Source: authority.md section 6, `lease_inspect`; section 3.
    """
    lease = goal.leases.get(todo_id)
    end = ended(lease, now)
    constraint = owner_constraint(goal, todo, lease["owner"]) if lease is not None and not end else None
    store_id = goal.plane("authority")["store_id"]
    return {
        "schema_version": LEASE_SCHEMA,
        "goal_id": goal.goal_id,
        "todo_id": todo_id,
        "todo": todo,
        "active": not end and constraint is None,
        "lease": lease,
        "lease_path": None if goal.promoted else f"file:{store_id}:goals/{goal.goal_id}/leases/{todo_id}",
        "handoff_mode": goal.handoff_mode,
        "source_authority": goal.source_authority if goal.promoted else LOCAL_AUTHORITY,
        "provider_revision": goal.provider_revision,
        "legacy_fallback_used": False,
        **end,
        **({"reason": constraint["reason"], "executor_constraint": constraint} if constraint else {}),
    }
