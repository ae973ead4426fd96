"""Whole lives of a store from one seed: its clock, its disk and its queue are given to it, so a seed replays a run.

The number in the name of a failing test is the seed; `STATEWARD_SEEDS=1000` searches longer.
"""

from __future__ import annotations

import hashlib
import os
import random
from typing import TYPE_CHECKING, Any, Final

import pytest

from stateward_engine.errors import StoreUnavailable
from stateward_engine.state.commands import Configure
from stateward_engine.store.check import check_store
from stateward_engine.store.directory import Directory
from stateward_engine.store.embedded import EmbeddedLedger, open_embedded
from stateward_engine.store.group import Committed, Rejected
from stateward_engine.store.lock import Lock
from stateward_engine.store.writer import Compact, WriterCore
from store.planted import FAULTS, FailingFile, kept, put

if TYPE_CHECKING:
    from pathlib import Path

    from stateward_engine.store.group import Outcome

SEEDS: Final = range(int(os.environ.get("STATEWARD_SEEDS", "25")))
STEPS: Final = 40


class Life:
    """One store from its first start to its end, and what its clients know.

    Attributes:
        told: What every client was told is there.
        open: Changes whose outcome nobody was told, in order; a restart keeps all of a group or nothing of it.
        trace: Everything that happened, for the comparison of two lives.
    """

    def __init__(self, place: Path, seed: int) -> None:
        self.drawn = random.Random(seed)
        self.place = place
        self.told: dict[str, Any] = {}
        self.open: dict[str, Any] = {}
        self.trace: list[object] = []
        self._seconds = 0
        self._start()

    def _now(self) -> str:
        self._seconds += 1
        return f"2026-12-01T12:00:00.{self._seconds:06}Z"

    def _start(self) -> None:
        self._directory = Directory.open(self.place, create=True)
        self._lock = Lock.acquire(self._directory)
        ledger, view = open_embedded(self._directory, self._lock)
        self.ledger: EmbeddedLedger = ledger
        self.core = WriterCore(view, ledger, now=self._now)
        found = kept(view)
        assert found in (self.told, {**self.told, **self.open}), "something was lost, or is there by half"
        self.told, self.open = dict(found), {}

    def _end(self, *, killed: bool) -> None:
        if killed:
            self.ledger.journal.poison = "killed"
        self.ledger.close()
        self._lock.release()
        self._directory.close()
        assert check_store(self.place).faults == ()

    def step(self) -> None:
        match self.drawn.choices(("commit", "compact", "fault", "restart", "kill"), (70, 8, 6, 8, 8))[0]:
            case "commit":
                self._commit([self._command() for _ in range(self.drawn.randint(1, 6))])
            case "compact":
                self._commit([Compact()])
            case "fault":
                fault = self.drawn.choice(list(FAULTS))
                self.ledger.journal.file = FailingFile(self.ledger.journal.file, fault)
                self.trace.append(fault)
            case end:
                self._end(killed=end == "kill")
                self._start()
                self.trace.append((end, self.core.view.sequence))

    def _command(self) -> Any:
        if self.drawn.random() < 0.1:
            return Configure(self.drawn.randint(0, 4))
        key = f"k{self.drawn.randint(0, 5)}"
        given = f"id{self.drawn.randint(0, 40)}" if self.drawn.random() < 0.3 else None
        stale = "G0/C0/S0" if self.drawn.random() < 0.1 else None
        return put(key, self.drawn.randint(0, 9), idempotency_key=given, if_revision=stale)

    def _commit(self, commands: list[Any]) -> None:
        while commands:
            outcomes = self.core.commit(commands)
            for command, outcome in zip(commands, outcomes, strict=False):
                self._learn(command, outcome)
            commands = commands[len(outcomes) :]
        assert kept(self.core.view) == self.told, "readers see what nobody was told"

    def _learn(self, command: Any, outcome: Outcome) -> None:
        if isinstance(outcome, Committed) and not isinstance(command, Configure):
            self.told.update(command.patch.scopes["cwd"]["tactics"])
        elif _is_unknown(outcome) and not isinstance(command, Configure):
            self.open.update(command.patch.scopes["cwd"]["tactics"])
        self.trace.append((type(outcome).__name__, str(getattr(outcome, "error", ""))))

    def run(self) -> tuple[list[object], str]:
        """Live, and return what happened with the digest of all files."""
        for _ in range(STEPS):
            self.step()
        self._end(killed=False)
        names = sorted(path for path in self.place.rglob("*") if path.is_file() and path.name != "lock")
        return self.trace, hashlib.sha256(b"".join(path.read_bytes() for path in names)).hexdigest()


def _is_unknown(outcome: Outcome) -> bool:
    if not isinstance(outcome, Rejected) or not isinstance(outcome.error, StoreUnavailable):
        return False
    return outcome.error.facts["outcome"] == "unknown"


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_that_was_told_is_lost_in_a_whole_life(tmp_path: Path, seed: int) -> None:
    """DM-005, DM-009; store.md section 6."""
    Life(tmp_path / "store", seed).run()


def test_a_seed_replays_its_life_to_the_byte(tmp_path: Path) -> None:
    assert Life(tmp_path / "one", 7).run() == Life(tmp_path / "two", 7).run()
