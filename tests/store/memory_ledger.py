"""The smallest engine that keeps the promises of a ledger, shared by several openers, as long as the process lives.

It shows what the interface asks for, and lets tests lose races on purpose.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import msgspec

from stateward_engine.state.draft import Draft
from stateward_engine.state.transition import from_entry
from stateward_engine.state.view import View
from stateward_engine.store.ledger import Stale, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Shelf:
    """What outlives the ledgers that are opened on it."""

    def __init__(self) -> None:
        self.entries: list[bytes] = []
        self.checkpoint = View()
        self.lock = threading.Lock()


class MemoryLedger:
    """A `Ledger` on a shelf.

    Attributes:
        before_append: Called before each append, outside of the lock: where another process may come first.
    """

    provider = "memory"

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.poison: str | None = None
        self.outage = None
        self.before_append: Callable[[], object] = object

    @property
    def head(self) -> int:
        return len(self._shelf.entries)

    @property
    def length(self) -> int:
        return sum(map(len, self._shelf.entries[self._shelf.checkpoint.sequence :]))

    @property
    def is_long(self) -> bool:
        return False

    def append(self, entries: Sequence[bytes], *, expected_head: int) -> None:
        self.before_append()
        with self._shelf.lock:
            if self.poison is not None:
                raise refusal(self.poison)
            if expected_head != len(self._shelf.entries):
                raise Stale
            self._shelf.entries += entries

    def follow(self, view: View, *, hold: bool = False) -> View:  # noqa: ARG002 - nobody waits here
        with self._shelf.lock:
            missed = self._shelf.entries[view.sequence :]
        draft = Draft(view)
        for sequence, data in enumerate(missed, view.sequence + 1):
            entry: dict[str, Any] = msgspec.json.decode(data)
            draft.apply(from_entry(entry), at=entry["at"], sequence=sequence)
        return draft.finish() if missed else view

    def compact(self, view: View) -> int:
        if self.poison is not None:
            raise refusal(self.poison)
        changed = sum(scope is not self._shelf.checkpoint.scopes.get(name) for name, scope in view.scopes.items())
        self._shelf.checkpoint = view
        return changed

    def close(self) -> None:
        self.poison = self.poison or "closed"


def open_memory(shelf: Shelf) -> tuple[MemoryLedger, View]:
    ledger = MemoryLedger(shelf)
    return ledger, ledger.follow(shelf.checkpoint)
