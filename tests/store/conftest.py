"""A place for a store on a real disk, and the check that every test leaves a store behind that can be trusted."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from stateward_engine.store.check import check_store
from stateward_engine.store.store import open_store
from store.planted import noon

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from stateward_engine.store.store import Store
    from stateward_engine.store.writer import WriterCore


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a store can be made; nothing is there yet."""
    return tmp_path / "store"


@pytest.fixture
def journal(place: Path) -> Path:
    """The journal file of the store at `place`."""
    return place / "journal" / "000001.log"


@pytest.fixture
def store(place: Path) -> Iterator[Store]:
    """A new open store whose clock stands still. What the test leaves must be readable, and read the same twice."""
    with open_store(place, now=noon) as opened:
        yield opened
    assert check_store(place).faults == ()
    left = open_store(place, read_only=True).view
    with contextlib.closing(open_store(place)) as again:
        assert again.view == left


@pytest.fixture
def core(store: Store) -> WriterCore:
    """The core of an open store, for the test to drive; the store's own thread has nothing to do."""
    assert store.writer is not None
    return store.writer._core


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory of people, in which documents stand."""
    made = tmp_path / "workspace"
    made.mkdir()
    return made


@pytest.fixture
def document(folder: Path) -> Path:
    """A document that is there."""
    path = folder / "GOAL.md"
    path.write_bytes(b"old\n")
    return path
