"""Params and results of the methods about registered goals."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType

from stateward_protocol.messages import Result, StrictParams

GoalId: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9][a-z0-9._-]{0,79}$(?!\n)",
        description="a letter or digit, then letters, digits and . _ - (lower case, at most 80)",
    ),
]
AgentId: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^[a-z][a-z0-9_.:@-]{0,79}$(?!\n)",
        description="a letter, then letters, digits and _ . : @ - (lower case, at most 80)",
    ),
]
HandoffMode: TypeAlias = Literal["soft_claim", "hard_lease"]


class GoalNewParams(StrictParams, frozen=True):
    """What to write into a new document: the objective, and what comes next.

    `path` is absolute; `agents` are the actors to register, and none admits everybody.
    """

    goal_id: GoalId
    path: str
    objective: str
    next_action: str | None = None
    agents: list[AgentId] | None = None


class GoalRegisterParams(StrictParams, frozen=True):
    """Which document belongs to which goal; `agents` are the actors to register, and none admits everybody."""

    goal_id: GoalId
    path: str
    agents: list[AgentId] | None = None


class GoalRegisterResult(Result, frozen=True):
    """A registered goal with the real path of its document; `created` tells whether it was registered just now."""

    goal_id: str
    path: str
    created: bool


class GoalConfigureParams(StrictParams, frozen=True):
    """What to change: the registered `agents` (an empty list admits everybody), how todos are handed out, or `path`.

    `handoff_mode` holds from promotion on; before it todos are handed out by claims alone. `path` is where the document
    is now that it was moved; it has to be there, unless the goal is promoted and it is to be made anew.
    """

    goal_id: GoalId
    agents: list[AgentId] | None = None
    handoff_mode: HandoffMode | None = None
    path: str | None = None


class GoalConfigureResult(Result, frozen=True):
    """What the goal has now; `handoff_mode` is the one that holds once it is promoted."""

    goal_id: str
    agents: list[str]
    handoff_mode: HandoffMode
    path: str


class GoalEntry(Result, frozen=True):
    """One registered goal, with what names its state.

    In a store that several machines share, `machine` and `host` name the one that the document is on.
    """

    goal_id: str
    path: str
    promoted: bool
    handoff_mode: HandoffMode
    provider_revision: str
    machine: str | UnsetType = UNSET
    host: str | UnsetType = UNSET


class GoalListResult(Result, frozen=True):
    """The registered goals, by id."""

    goals: list[GoalEntry]
