"""A process that works with the store, as the sweeps see it: it tells what it could have shown to somebody."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import queue
import threading
from typing import TYPE_CHECKING, Any, Final

from stateward_engine.errors import EngineError
from stateward_engine.state.commands import PatchState
from stateward_engine.store.group import Rejected
from stateward_engine.store.store import open_store
from store.planted import noon, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from stateward_engine.json_value import Json
    from stateward_engine.state.view import View
    from stateward_engine.store.decide import Command
    from stateward_engine.store.group import Outcome
    from stateward_engine.store.store import Store
    from stateward_engine.store.writer import Compact
    from store.faults.disk import Disk

REFUSED: Final = "refused "
# Only a mistake of ours makes anybody wait so long.
PATIENCE_S: Final = 30


def fingerprint(view: View) -> str:
    """Return a word that two views share if they are the same state, down to the types of numbers."""
    return hashlib.sha256(repr(_ordered(view)).encode()).hexdigest()[:16]


def _ordered(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return [_ordered(getattr(value, name.name)) for name in dataclasses.fields(value)]
    if hasattr(value, "items"):
        return sorted(((repr(key), _ordered(member)) for key, member in value.items()), key=repr)
    return [_ordered(member) for member in value] if isinstance(value, list | tuple) else value


class Life:
    """A place for a store, and somebody to tell what it shows.

    Attributes:
        path: Where the store is to be.
        document: Where a document is to be.
        tell: Takes the fingerprint of each state that could be shown, and each refusal.
        disk: What it is on; `None` when another process watches it.
    """

    def __init__(self, root: Path, tell: Callable[[str], None], disk: Disk | None = None) -> None:
        self.path = root / "store"
        self.document = root / "GOAL.md"
        self.tell = tell
        self._disk = disk
        self._store: Store | None = None
        # What the writer has answered, before and after it was told to the sweep.
        self._fresh: list[Outcome] = []
        self._answered: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._gate = threading.Event()

    @property
    def disk(self) -> Disk:
        """The disk, to workloads that break it themselves."""
        assert self._disk is not None
        return self._disk

    @contextlib.contextmanager
    def open(self) -> Iterator[Store]:
        """Open the store; whatever it shows from now on is told.

        Raises:
            EngineError: It cannot be opened, or a scope of it cannot be trusted.
        """
        with open_store(self.path, now=noon, deliver=self._deliver) as store:
            self._store = store
            # Whoever asks for a damaged scope is refused, so what is left beside it is told to nobody here.
            for identity, damage in store.view.damaged.items():
                raise damage.refusal(identity)
            self.tell(fingerprint(store.view))
            yield store

    def commit(self, store: Store, *commands: Command | Compact) -> None:
        """Commit the first command by itself, and the others together as the next group.

        Raises:
            EngineError: One was not committed. If it was refused for certain, that was told.
        """
        self._gate = gate = threading.Event()
        store.submit(commands[0], self._fresh.append)
        outcomes = [self._answered.get(timeout=PATIENCE_S)]
        if isinstance(outcomes[0], Rejected):
            commands = commands[:1]
        # The writer has not returned yet, so what is queued now is one group.
        for command in commands[1:]:
            store.submit(command, self._fresh.append)
        gate.set()
        outcomes += [self._answered.get(timeout=PATIENCE_S) for _ in commands[1:]]
        errors = [outcome.error for outcome in outcomes if isinstance(outcome, Rejected)]
        for command, outcome in zip(commands, outcomes, strict=True):
            if isinstance(outcome, Rejected) and _is_certain(outcome.error) and isinstance(command, PatchState):
                self.tell(f"{REFUSED}{command.idempotency_key}")
        if errors:
            raise errors[0]

    def _deliver(self, settle: Callable[[], None]) -> None:
        gate = self._gate
        settle()
        assert self._store is not None
        self.tell(fingerprint(self._store.view))
        for outcome in self._fresh:
            self._answered.put(outcome)
        self._fresh.clear()
        assert gate.wait(PATIENCE_S)


def _is_certain(error: Exception) -> bool:
    return not isinstance(error, EngineError) or error.facts.get("outcome") != "unknown"


def named(key: str, value: Json = 1) -> PatchState:
    """A command that can be recognized in what is found later: by its key, and by its idempotency key."""
    return put(key, value, idempotency_key=key)


def kill(life: Life, store: Store) -> None:
    """End the process as far as the disk can tell."""
    with life.disk.killed():
        store.close()


def nobody(_: str) -> None:
    """Hear nothing of what is told."""
