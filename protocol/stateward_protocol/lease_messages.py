"""Params and results of the methods about leases: who may work on a todo, until when, and under which key."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET, Meta, UnsetType

from stateward_protocol.goal_messages import HandoffMode  # noqa: TC001 - msgspec resolves them
from stateward_protocol.messages import JsonValue, Result
from stateward_protocol.operation_messages import (
    GoalParams,
    Key,
    Lease,
    OperationParams,
    OperationResult,
    Record,
    TodoId,
    Version,
)

# What is no such thing is refused by the engine, as `invalid_owner` and `invalid_ttl`.
Owner: TypeAlias = Annotated[str, Meta(description="an actor's id")]
Ttl: TypeAlias = Annotated[int, Meta(description="seconds from 1 to 86400")]


class LeaseParams(OperationParams, frozen=True, kw_only=True):
    """Which lease, by its todo and owner."""

    todo_id: TodoId
    owner: Owner
    idempotency_key: Key


class LeaseAcquireParams(LeaseParams, frozen=True, kw_only=True):
    """Who takes the lease of which todo, under which key, and for how long; without `ttl_seconds` for 2700 s.

    `expected_version` refuses it unless the lease of the todo has that version; 0 is none yet. What a caller thinks of
    other leases, `effective`, is accepted and ignored.
    """

    ttl_seconds: Ttl | None = None
    expected_version: Version | None = None
    effective: JsonValue | UnsetType = UNSET


class LeaseRenewParams(LeaseParams, frozen=True, kw_only=True):
    """Which lease lasts longer, from now on for `ttl_seconds`, or for as long as it was acquired for."""

    expected_version: Version
    ttl_seconds: Ttl | None = None


class LeaseTransferParams(LeaseParams, frozen=True, kw_only=True):
    """Which lease goes to whom, under which new key."""

    expected_version: Version
    new_owner: Owner
    new_idempotency_key: Key
    ttl_seconds: Ttl | None = None


class LeaseReleaseParams(LeaseParams, frozen=True, kw_only=True):
    """Which lease is given back; that works whatever has become of its owner or its todo."""

    expected_version: Version


class LeaseResult(OperationResult, frozen=True, kw_only=True):
    """The lease as it is now, `null` where there is none; `idempotent` when it was so already."""

    todo_id: str
    action: str
    lease: Lease | None = None
    idempotent: bool = False
    reason_code: str | UnsetType = UNSET


class LeaseInspectParams(GoalParams, frozen=True):
    """The lease of which todo."""

    todo_id: TodoId


class LeaseInspectResult(Result, frozen=True):
    """The lease of a todo and whether it is in force: `active` means unexpired, with an owner who may still hold it.

    Where it is not, `reason` says why, and `since` when it ended; `executor_constraint` explains an unexpired one.
    `lease_path` names the lease in the store while the document is the authority of the todos, and is null once the
    ledger is.
    """

    schema_version: str
    goal_id: str
    todo_id: str
    active: bool
    lease: Lease | None
    lease_path: str | None
    handoff_mode: HandoffMode
    source_authority: str
    provider_revision: str
    legacy_fallback_used: bool
    todo: Record | None = None
    reason: str | UnsetType = UNSET
    since: str | UnsetType = UNSET
    executor_constraint: dict[str, JsonValue] | UnsetType = UNSET
