"""Params and results of the methods about the store as a whole."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from stateward_protocol.goal_messages import GoalId  # noqa: TC001 - msgspec resolves it
from stateward_protocol.messages import Result, SessionId, StreamKind, StrictParams


class ResetScopeParams(StrictParams, frozen=True):
    """Which scope to give up, with what names it: `cwd` as `attach` takes it, and a `session` for that scope.

    The directory need not exist any more. `goal` and `display` are the streams of a goal, named by `goal_id`.
    """

    scope: StreamKind
    cwd: str | None = None
    session: SessionId | None = None
    goal_id: GoalId | None = None


class Gone(Result, frozen=True):
    """What was given up: the `file` and `reason` of a damaged scope, the `revision` and `planes` of another one."""

    file: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    revision: int | UnsetType = UNSET
    planes: list[str] | UnsetType = UNSET


class ResetScopeResult(Result, frozen=True):
    """Which scope really changed, and what it lost; nothing for one that was never changed."""

    changed: list[StreamKind]
    gone: Gone | UnsetType = UNSET


class CompactResult(Result, frozen=True):
    """How many checkpoints were written: one for each stream that changed since its last."""

    streams_written: int
