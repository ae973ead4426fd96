"""The engines of the ledger, against the kit that each has to pass."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from stateward_engine.errors import Busy
from stateward_engine.store.directory import Directory
from stateward_engine.store.embedded import open_embedded
from stateward_engine.store.group import Committed, Rejected
from stateward_engine.store.lock import Lock
from stateward_engine.store.postgresql import open_postgresql
from stateward_engine.store.postgresql_check import check_postgresql
from stateward_engine.store.writer import DECISIONS_MAX, WriterCore
from store.ledger_kit import LedgerKit
from store.memory_ledger import MemoryLedger, Shelf, open_memory
from store.planted import kept, noon, put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from stateward_engine.state.view import View
    from stateward_engine.store.ledger import Ledger
    from stateward_engine.store.postgresql_target import Target


class TestEmbedded(LedgerKit):
    @pytest.fixture(autouse=True)
    def _opened(self, place: Path) -> Iterator[None]:
        with Directory.open(place, create=True) as directory:
            lock = Lock.acquire(directory)
            self._directory, self._lock = directory, lock
            yield
            lock.release()

    def open(self) -> tuple[Ledger, View]:
        return open_embedded(self._directory, self._lock)


class TestMemory(LedgerKit):
    shared = True

    @pytest.fixture(autouse=True)
    def _shelf(self) -> None:
        self._shared_shelf = Shelf()

    def open(self) -> tuple[Ledger, View]:
        return open_memory(self._shared_shelf)


class TestPostgresql(LedgerKit):
    shared = True

    @pytest.fixture(autouse=True)
    def _database(self, target: Target) -> Iterator[None]:
        self._target = target
        with contextlib.ExitStack() as self._opened:
            yield
        assert check_postgresql(target).faults == ()

    def open(self) -> tuple[Ledger, View]:
        ledger, view = open_postgresql(self._target)
        self._opened.callback(ledger.close)
        return ledger, view


def core_on(shelf: Shelf) -> tuple[WriterCore, MemoryLedger]:
    ledger, view = open_memory(shelf)
    return WriterCore(view, ledger, now=noon), ledger


def test_a_group_that_lost_a_race_is_decided_anew_as_a_whole() -> None:
    """SF-191: a decision never stands on a state that is no longer the head."""
    shelf = Shelf()
    one, _ = core_on(shelf)
    two, ledger = core_on(shelf)
    calls: list[int] = []

    def other_comes_first() -> None:
        if not calls:
            one.commit([put("n", "other")])
        calls.append(1)

    ledger.before_append = other_comes_first
    outcomes: list[Any] = two.commit([put("m", 1), put("n", "mine")])

    assert [type(outcome) for outcome in outcomes] == [Committed, Committed]
    assert [outcome.sequence for outcome in outcomes] == [2, 3]
    assert kept(two.view) == {"n": "mine", "m": 1}
    assert len(calls) == 2


def test_a_race_that_is_always_lost_is_given_up_and_nothing_was_written() -> None:
    shelf = Shelf()
    one, _ = core_on(shelf)
    two, ledger = core_on(shelf)
    rivals = iter(range(100))
    ledger.before_append = lambda: one.commit([put("n", next(rivals))])

    (outcome,) = two.commit([put("m", 1)])

    assert isinstance(outcome, Rejected)
    assert isinstance(outcome.error, Busy)
    assert outcome.error.facts == {"limit": "decisions_max"}
    assert kept(two.view) == {"n": DECISIONS_MAX - 1}
