"""What the messages of all mutations of a goal have in common: who, on which revision, under which identity."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType

from stateward_protocol.goal_messages import AgentId, GoalId  # noqa: TC001 - msgspec resolves them
from stateward_protocol.messages import JsonValue, Params, Result, StrictParams

# An operation, a lease or a turn: a word that logs, shells and paths of the state take as it is.
Key: TypeAlias = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9_.:@/-]{1,160}$(?!\n)", description="letters, digits and _ . : @ / - (at most 160)")
]
TodoId: TypeAlias = Annotated[
    str, Meta(pattern=r"^todo_[a-z0-9_-]{3,64}$(?!\n)", description="todo_, then 3 to 64 of a-z 0-9 _ -")
]
TodoRole: TypeAlias = Literal["user", "agent"]
Version: TypeAlias = Annotated[int, Meta(ge=0, le=2**53 - 1)]
OperationStatus: TypeAlias = Literal["applied", "replayed", "no_change", "planned", "done"]
DeliveryStatus: TypeAlias = Literal["delivered", "current", "pending"]


class GoalParams(Params, frozen=True):
    """Which goal is asked about."""

    goal_id: GoalId


class OperationParams(StrictParams, frozen=True):
    """What every mutation of a goal takes.

    `operation_id` is its identity in the store: a repeat of it answers the first result, and without one a random id
    is used. `expected_provider_revision` refuses the mutation when the goal has moved on. `dry_run` decides and stores
    nothing.
    """

    goal_id: GoalId
    operation_id: Key | None = None
    agent_id: AgentId | None = None
    expected_provider_revision: str | None = None
    dry_run: bool = False


class LeaseProof(StrictParams, frozen=True):
    """The lease that a call proves to hold, or wants to have: its key, and its version, where 0 is none yet.

    `ttl_seconds` is how long a new one lasts.
    """

    idempotency_key: Key
    expected_version: Version | None = None
    ttl_seconds: int | None = None


class OperationReceipt(Result, frozen=True):
    """What the ledger keeps of an operation: when it was accepted (RFC 3339, UTC), and the revision that it made."""

    schema_version: str
    goal_id: str
    operation_id: str
    request_sha256: str
    provider_revision: str
    at: str


class OperationResult(Result, frozen=True):
    """What every mutation of a goal is answered.

    `status` is `applied`, `replayed` (the first result again), `no_change` or `planned` (a dry run); a completion is
    `done`. `provider_revision` names the state that the operation led to, and `cursor` counts up to it.
    `projection_delivery` tells what became of the display, which is no part of the commit: `delivered`, `current`, or
    `pending` with the reason in `projection_outbox`. Both are absent where no display is involved.
    """

    status: OperationStatus
    changed: bool
    goal_id: str
    operation_id: str
    operation_id_given: bool
    provider_revision: str
    cursor: str
    source_authority: str
    schema_version: str | UnsetType = UNSET
    original_receipt: OperationReceipt | UnsetType = UNSET
    projection_delivery: DeliveryStatus | UnsetType = UNSET
    projection_outbox: dict[str, JsonValue] | UnsetType = UNSET


class Lease(Result, frozen=True):
    """A lease as it is kept.

    `version` counts its changes and `lease_epoch` its holders; both only rise. Times are RFC 3339 in UTC, and
    `acquire_ttl_seconds` is what it was acquired for. `status` may be `active` while the lease has expired.
    """

    schema_version: str
    goal_id: str
    todo_id: str
    owner: str
    idempotency_key: str
    version: int
    lease_epoch: int
    status: Literal["active", "released"]
    write_scopes: list[str]
    acquire_ttl_seconds: int
    acquired_at: str
    updated_at: str
    expires_at: str
    released_at: str | UnsetType = UNSET


# A record of a todo, by the coordination contract: its fields are data, and the wire does not repeat them.
Record: TypeAlias = dict[str, Any]
