"""Captured views: all state at one moment, immutable, shared by every reader.

A view is made of plain dicts and lists that nobody changes after they are published. A change copies the containers
along its own path and shares everything else with the view before it, so that a view costs what was touched.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from stateward_engine.errors import CorruptStore
from stateward_engine.json_value import Json

ScopeName: TypeAlias = Literal["global", "cwd", "session"]
Planes: TypeAlias = Mapping[str, Json]

# In rising precedence: a later scope's values show over an earlier one's.
SCOPES: Final[tuple[ScopeName, ...]] = ("global", "cwd", "session")
# The streams of a goal: what its authority holds, and what is known of its display.
GoalStream: TypeAlias = Literal["goal", "display"]
GOAL_STREAMS: Final[tuple[GoalStream, ...]] = ("goal", "display")
StreamKind: TypeAlias = Literal[ScopeName, GoalStream]
KINDS: Final[tuple[StreamKind, ...]] = (*SCOPES, *GOAL_STREAMS)
# In the order of answers.
PLANES: Final = ("intents", "strategy", "tactics", "artifacts", "response", "lazy")
# What the streams of a goal hold, each by its own keys.
GOAL_PLANES: Final = (
    *("registration", "authority", "records", "declarations", "leases", "receipts", "shadow"),
    *("sections", "replaced", "delivered", "refreshes"),
)
# `response` is written by the runtime alone.
PATCHABLE_PLANES: Final = frozenset(PLANES) - {"response"}
# Pushed at the start of every run, and told of in receipts.
HOT_PLANES: Final = PATCHABLE_PLANES - {"lazy"}

HISTORY_LIMIT_DEFAULT: Final = 7
# What is absent. Values are shared and nobody changes one, so one empty mapping does for all.
NOTHING: Final[Mapping[Any, Any]] = {}


def in_table_order(planes: Planes) -> dict[str, Json]:
    """Return planes in the order of answers, what else there is after them (state.md sections 2.2 and 13).

    >>> list(in_table_order({"board": {}, "lazy": {}, "tactics": {}}))
    ['tactics', 'lazy', 'board']
    """
    return {plane: planes[plane] for plane in sorted(planes, key=_rank)}


def _rank(name: str) -> tuple[int, str]:
    return (PLANES.index(name) if name in PLANES else len(PLANES), name)


class Identity(NamedTuple):
    """Which scope of which client, or which stream of which goal: the key of one stream.

    Attributes:
        kind: What the stream holds.
        cwd: Real path of the directory; `None` for the global scope and for goals.
        session: Session id; `None` for the global and the cwd scope and for goals.
        goal: Id of the goal; `None` for scopes.
    """

    kind: StreamKind
    cwd: str | None = None
    session: str | None = None
    goal: str | None = None


class Selection(NamedTuple):
    """The owners that one client works with.

    Attributes:
        cwd: Real path of the client's directory, or `None`.
        session: Id of its session, or `None`; a session needs a cwd.
        wanted: One to three distinct scopes, in precedence order.
    """

    cwd: str | None
    session: str | None
    wanted: tuple[ScopeName, ...]

    def identity(self, scope: ScopeName) -> Identity:
        """Return the key of this client's `scope`."""
        if scope == "global":
            return Identity("global")
        return Identity(scope, self.cwd, self.session if scope == "session" else None)

    def members(self) -> list[Identity]:
        """Return the scopes that the client's lineage is about, wanted or not."""
        given = {"global": True, "cwd": self.cwd is not None, "session": self.session is not None}
        return [self.identity(scope) for scope in SCOPES if given[scope]]


class Change(NamedTuple):
    """What one kept transition did to one scope.

    Attributes:
        sequence: The transition's place in the ledger.
        patch: The net patch that is recorded of it (state.md section 7.2).
        before: The planes that it was applied to. They share with their successors all that did not change.
    """

    sequence: int
    patch: Planes
    before: Planes


class Scope(NamedTuple):
    """One scope with its kept past.

    Every value has its keys in canonical order, so that an answer can share it.

    Attributes:
        planes: The present planes and their values, and beside them those of declared roots. Never changed in place.
        revision: Counts the accepted transitions that changed this scope, from 0.
        since: The ledger sequence that the oldest known planes include: nothing is known of earlier ones.
        touched: The ledger sequence of the last entry that the stream has something of.
        changes: The kept changes after `since`, oldest first, at most as many as the history limit.
        declarations: Of each external root, by name, what was imported with it.
    """

    planes: Planes = NOTHING
    revision: int = 0
    since: int = 0
    touched: int = 0
    changes: tuple[Change, ...] = ()
    declarations: Mapping[str, Json] = NOTHING

    def at(self, sequence: int | None) -> Planes:
        """Return the planes as they were when the ledger had come to `sequence`, not before `since`; `None` is now."""
        if sequence is None:
            return self.planes
        return next((change.before for change in self.changes if change.sequence > sequence), self.planes)

    def recorded(self, sequence: int) -> Planes:
        """Return what is recorded of the kept transition at `sequence`; nothing when it changed other scopes alone."""
        return next((change.patch for change in self.changes if change.sequence == sequence), {})


EMPTY_SCOPE: Final = Scope()


def reset_command(identity: Identity) -> str:
    """Return the command that gives a stream up, whichever directory it is typed in.

    >>> reset_command(Identity("session", "/home/ada/my project", "s1"))
    "stateward reset-scope session --cwd '/home/ada/my project' --session s1"
    """
    named = {"--cwd": identity.cwd, "--session": identity.session, "--goal-id": identity.goal}
    words = [word for option, value in named.items() if value is not None for word in (option, value)]
    return shlex.join(["stateward", "reset-scope", identity.kind, *words])


class Damage(NamedTuple):
    """Why a stream cannot be trusted. Its bytes stay as they are until somebody gives them up.

    Attributes:
        file: Its file, relative to the store.
        reason: What contradicts itself there.
    """

    file: str
    reason: str

    def refusal(self, identity: Identity) -> CorruptStore:
        """Return the answer to everything that depends on the stream."""
        command = reset_command(identity)
        named = f"{identity.kind} scope" if identity.goal is None else f"{identity.kind} stream of {identity.goal}"
        return CorruptStore(
            f"the {named} is damaged ({self.file}: {self.reason}); its bytes were kept: restore the file "
            f"from a copy while no daemon runs, or give its content up with: {command}",
            file=self.file,
            reason=self.reason,
            scope=identity.kind,
            example=command,
        )


class Basis:
    """What a decision looks at: a published `View`, or the writer's `Draft` without a copy for each command."""

    __slots__ = ()

    scopes: Mapping[Identity, Scope]
    sessions: Mapping[str, Mapping[str, str]]
    receipts: Mapping[ReceiptKey, KeptReceipt]
    history_limit: int
    damaged: Mapping[Identity, Damage]

    def scope(self, identity: Identity) -> Scope:
        """Return the scope of that identity; one that was never changed is empty.

        Raises:
            CorruptStore: Its stream is damaged.
        """
        if self.damaged and (damage := self.damaged.get(identity)):
            raise damage.refusal(identity)
        return self.scopes.get(identity, EMPTY_SCOPE)


@dataclass(frozen=True, slots=True)
class View(Basis):
    """All state at one moment.

    Attributes:
        sequence: The ledger sequence that this view includes; 0 is the empty store.
        scopes: Every scope that an entry ever touched. Others are empty.
        sessions: For each cwd, its session ids and when each was last changed (RFC 3339, UTC).
        receipts: The kept answers of keyed mutations, oldest first.
        history_limit: The store's durable setting, 0 to 100.
        damaged: The streams that cannot be trusted. They are in none of the other mappings.
    """

    sequence: int = 0
    scopes: Mapping[Identity, Scope] = field(default_factory=dict)
    sessions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    receipts: Mapping[ReceiptKey, KeptReceipt] = field(default_factory=dict)
    history_limit: int = HISTORY_LIMIT_DEFAULT
    damaged: Mapping[Identity, Damage] = field(default_factory=dict)

    def planes(self, selection: Selection, sequence: int | None = None) -> dict[ScopeName, Planes]:
        """Return the planes of each wanted scope, in precedence order.

        Args:
            selection: Whose scopes.
            sequence: How far the ledger had come then; `None` is now.
        """
        return {name: self.scope(selection.identity(name)).at(sequence) for name in selection.wanted}


class ReceiptKey(NamedTuple):
    """An idempotency key belongs to one cwd and session: two clients may use the same word."""

    cwd: str | None
    session: str | None
    key: str


class KeptReceipt(NamedTuple):
    """What a keyed mutation was and what it was answered.

    Attributes:
        digest: SHA-256 of its canonical JSON.
        receipt: The answer.
        sequence: Its place in the ledger.
        home: The narrowest scope that it changed. Its stream keeps the receipt, so whoever can repeat the mutation
            needs that stream anyway.
    """

    digest: str
    receipt: Mapping[str, Json]
    sequence: int
    home: Identity
