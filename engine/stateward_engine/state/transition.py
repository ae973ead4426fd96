"""Transitions: what one accepted command stores, and the journal entry that says so.

An entry is complete: replay applies it and never decides anything again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stateward_engine.errors import CorruptStore
from stateward_engine.state.view import GOAL_STREAMS, NOTHING, SCOPES, Identity, Planes, ReceiptKey, Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stateward_engine.json_value import Json

# A journal outlives the program that wrote it; a reader that meets another number must not guess.
ENTRY_VERSION: Final = 1


class Repeat(NamedTuple):
    """Nothing is to be stored: the state is so already, or a kept receipt answers."""

    receipt: Mapping[str, Json]


class Transition(NamedTuple):
    """What one accepted command stores, complete: replaying it never decides anything again.

    Attributes:
        cwd: The directory of the client that made it, or `None`.
        session: Its session, or `None`.
        patches: The net patch of each changed scope.
        states: The whole new state of each scope that begins here.
        receipt: What the client is answered.
        receipt_key: Under which the receipt is kept, or `None`.
        digest: SHA-256 of the authored patch, hexadecimal; set with `receipt_key`.
        history_limit: The new setting, or `None`.
        parent: The session whose state a fork begins with, or `None`; then `states` has that of `session`.
        reset: Whether the scopes in `states` are given up, damaged or not, and begin anew.
        goal: Id of the goal whose streams are changed, or `None`.
        results: What the decision found `patches` to make of each changed scope. Not stored: only the draft that was
            decided on may take it over instead of applying the patch again.

    Invariant: every stream belongs to `cwd` and `session` or to `goal`, so an entry names streams by their word alone.
    """

    cwd: str | None
    session: str | None
    receipt: Mapping[str, Json]
    patches: Mapping[Identity, Planes] = NOTHING
    states: Mapping[Identity, Planes] = NOTHING
    receipt_key: ReceiptKey | None = None
    digest: str | None = None
    history_limit: int | None = None
    parent: str | None = None
    reset: bool = False
    goal: str | None = None
    results: Mapping[Identity, Planes] = NOTHING

    def streams(self) -> Iterable[Identity]:
        """Return the streams that keep something of this, each once."""
        streams = dict.fromkeys((*self.patches, *self.states))
        if self.session is not None:
            streams[Identity("session", self.cwd, self.session)] = None
        return streams

    def to_entry(self, at: str) -> dict[str, Json]:
        """Return the journal entry: a self-contained JSON object.

        Args:
            at: When it was accepted (RFC 3339, UTC).
        """
        return {
            "type": "state",
            "version": ENTRY_VERSION,
            "at": at,
            "cwd": self.cwd,
            "session": self.session,
            "patches": {identity.kind: patch for identity, patch in self.patches.items()},
            "states": {identity.kind: state for identity, state in self.states.items()},
            # A goal keeps its receipts in its own planes.
            "receipt": self.receipt if self.goal is None else {},
            "key": self.receipt_key.key if self.receipt_key else None,
            "digest": self.digest,
            "history_limit": self.history_limit,
            "parent": self.parent,
            "reset": self.reset,
            **({} if self.goal is None else {"goal": self.goal}),
        }


def from_entry(entry: Mapping[str, Any]) -> Transition:
    """Return the transition of a journal entry; its time stands in the member `at`.

    Raises:
        CorruptStore: Another program's version of the entry.
    """
    if entry["version"] != ENTRY_VERSION:
        raise CorruptStore(
            "a journal entry has an unknown version; open the store with the program that wrote it",
            got=f"version {entry['version']}",
            wanted=f"version {ENTRY_VERSION}",
        )
    cwd, session, key = entry["cwd"], entry["session"], entry["key"]
    # Entries about scopes do not have it.
    goal = entry.get("goal")
    owners = {identity.kind: identity for identity in _streams(cwd, session, goal)}
    return Transition(
        cwd=cwd,
        session=session,
        patches={owners[kind]: patch for kind, patch in entry["patches"].items()},
        states={owners[kind]: state for kind, state in entry["states"].items()},
        receipt=entry["receipt"],
        receipt_key=None if key is None else ReceiptKey(cwd, session, key),
        digest=entry["digest"],
        history_limit=entry["history_limit"],
        parent=entry["parent"],
        # Entries of before there were resets do not have it.
        reset=entry.get("reset", False),
        goal=goal,
    )


def _streams(cwd: str | None, session: str | None, goal: str | None) -> list[Identity]:
    """Return the streams that an entry can name."""
    owner = Selection(cwd, session, SCOPES)
    scopes = [owner.identity(scope) for scope in SCOPES]
    return scopes if goal is None else [*scopes, *(Identity(kind, goal=goal) for kind in GOAL_STREAMS)]
