"""Params and results of the methods that move the authority of a goal's todos from its document into the ledger."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from stateward_protocol.goal_messages import HandoffMode  # noqa: TC001 - msgspec resolves it
from stateward_protocol.messages import JsonValue, Result
from stateward_protocol.operation_messages import OperationParams, OperationResult


class GoalStatusResult(Result, frozen=True):
    """Where the authority of a goal is and how its document stands to it.

    `display` has a `state`: `current`, `behind` the ledger, `edited` by somebody, `missing`, `unsafe` to read, or
    `buffer_dirty` in an editor; and, where they apply, `reason_code` and `lines`. In a store that several machines
    share, `machine` and `host` name the one that the document is on, and on others `display` is `elsewhere`.
    """

    goal_id: str
    path: str
    promoted: bool
    handoff_mode: HandoffMode
    agents: list[str]
    provider_revision: str
    cursor: str
    source_authority: str
    display: dict[str, JsonValue]
    machine: str | UnsetType = UNSET
    host: str | UnsetType = UNSET


class ShadowBootstrapParams(OperationParams, frozen=True, kw_only=True):
    """Which goal to prepare: its qualified todos are copied into a shadow, and the document stays the authority."""


class ShadowResult(OperationResult, frozen=True, kw_only=True):
    """How the shadow is now, how many todos it has, and the digest of the document that they were read from."""

    shadow_state: Literal["ready", "quarantined", "promoted"]
    todo_count: int
    source_sha256: str


class ShadowQualifyResult(Result, frozen=True):
    """Whether the goal could be promoted as its document is now; `refusals` say what stands against it.

    Each has a `reason_code` and, where they apply, the `line` to look at, from 1, the `todo_id` and the `field`.
    """

    schema_version: str
    goal_id: str
    qualified: bool
    refusals: list[dict[str, JsonValue]]
    todo_count: int
    source_sha256: str
    shadow_sha256: str | None
    shadow_state: str | None


class PromoteParams(OperationParams, frozen=True, kw_only=True):
    """Which goal to promote, and how its todos are handed out from then on: as configured, unless it is given.

    There is no way back.
    """

    handoff_mode: HandoffMode | None = None


class PromoteResult(ShadowResult, frozen=True, kw_only=True):
    """How the goal is now, and how many todos the ledger has."""

    promoted: bool
    handoff_mode: HandoffMode


class RollbackParams(OperationParams, frozen=True, kw_only=True):
    """Of which goal to put the shadow aside, before promotion."""
