"""From what a crash leaves behind to a store that serves."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from stateward_engine.errors import CorruptStore, StoreUnavailable
from stateward_engine.state.commands import Configure
from stateward_engine.state.view import View
from stateward_engine.store.catalogue import FRESH_JOURNAL
from stateward_engine.store.directory import Directory
from stateward_engine.store.record import Kind, encode, encode_group
from stateward_engine.store.recover import read_view, recover, reseal
from stateward_engine.store.scan import scan
from stateward_engine.store.store import open_store
from store.planted import kept, noon, plant, put, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stateward_engine.store.store import Store


def abandon(store: Store) -> None:
    """End a store as a kill would: nothing is sealed."""
    plant(store, "write fails")
    store.close()


@pytest.fixture
def abandoned(place: Path, journal: Path) -> list[int]:
    """Three groups, not sealed and nothing written ahead; returns the length after each, the catalogue included."""
    ends = [len(FRESH_JOURNAL)]
    store = open_store(place, now=noon)
    for number in range(3):
        store.commit_now(put(f"k{number}", number))
        ends.append(store.length)
    abandon(store)
    journal.write_bytes(written(journal))
    return ends


def test_a_new_directory_becomes_an_empty_store(place: Path, journal: Path) -> None:
    with open_store(place) as store:
        assert store.view == View()
        assert (place / "FORMAT").read_bytes() == b"stateward store 1\n"
        assert journal.read_bytes() == FRESH_JOURNAL


def test_an_empty_directory_becomes_a_store_too(place: Path) -> None:
    place.mkdir(0o700)

    open_store(place).close()

    assert (place / "FORMAT").exists()


def test_a_replayed_store_equals_the_committed_one(place: Path) -> None:
    """store.md section 2: replay never re-runs a decision."""
    with open_store(place) as store:
        store.commit_now(put("a", {"deep": [1, 1.0, -0.0, 1e300, "ü\u2028😀", True]}, idempotency_key="key"))
        store.commit_now(put("b", "x"))
        store.commit_now(put("a", None))
        store.commit_now(Configure(3))
        committed = store.view

    with open_store(place) as store:
        assert store.view == committed
        assert store.view.sequence == 4


def test_a_tail_torn_at_any_byte_leaves_exactly_the_acknowledged_groups(
    place: Path, journal: Path, abandoned: list[int]
) -> None:
    """DM-009, for the record that a crash can cut short: the last; `test_scan` varies what stands there."""
    whole = journal.read_bytes()
    with Directory.open(place, create=False) as directory:
        for length in range(abandoned[2], abandoned[3]):
            journal.write_bytes(whole[:length])
            assert kept(read_view(directory)) == {"k0": 0, "k1": 1}
            assert journal.stat().st_size == length

            evidence, journals = recover(directory)
            with journals:
                reseal(journals, evidence)
            assert kept(evidence.view) == {"k0": 0, "k1": 1}
            assert journal.read_bytes() == whole[: abandoned[2]]


def test_after_a_torn_tail_the_next_group_takes_its_place(place: Path, journal: Path, abandoned: list[int]) -> None:
    journal.write_bytes(journal.read_bytes()[: abandoned[2] + 5])

    with open_store(place) as store:
        assert store.commit_now(put("after", 1)).receipt
        assert journal.stat().st_size > abandoned[2]

    with open_store(place) as store:
        assert kept(store.view) == {"k0": 0, "k1": 1, "after": 1}
        assert store.view.sequence == 3


def test_an_unsealed_journal_is_copied_to_a_new_inode_before_it_serves(
    place: Path, journal: Path, abandoned: list[int]
) -> None:
    """Pages of a failed sync are marked clean in the cache; only writing them again can save them."""
    content, inode = journal.read_bytes(), journal.stat().st_ino
    assert len(content) == abandoned[3]

    with open_store(place):
        assert journal.stat().st_ino != inode
        assert journal.read_bytes() == content


def test_a_sealed_journal_is_used_as_it_is_and_sealed_once(place: Path, journal: Path) -> None:
    with open_store(place) as store:
        store.commit_now(put("a", 1))
    content, inode = journal.read_bytes(), journal.stat().st_ino

    for _ in range(3):
        open_store(place).close()

    assert (journal.read_bytes(), journal.stat().st_ino) == (content, inode)
    assert scan(content, file="").sealed


def test_a_group_takes_the_place_of_the_closing_record(place: Path, journal: Path) -> None:
    """A mark whose sync failed is in the cache alone; a group behind it would be a group behind a hole."""
    with open_store(place) as store:
        store.commit_now(put("a", 1))
    content = journal.read_bytes()
    end = scan(content, file="").end
    assert end < len(content)

    with open_store(place) as store:
        store.commit_now(put("b", 2))

    assert journal.read_bytes()[:end] == content[:end]
    assert [(group.start, group.sequence) for group in scan(journal.read_bytes(), file="").groups][1] == (end, 2)


def test_a_damaged_byte_before_the_last_record_is_refused_and_every_byte_is_kept(
    place: Path, journal: Path, abandoned: list[int]
) -> None:
    """SF-192, SF-186: never dropped to make valid state, bytes retained."""
    whole = journal.read_bytes()
    for at in range(0, abandoned[2], 17):
        damaged = bytearray(whole)
        damaged[at] ^= 0x20
        journal.write_bytes(damaged)
        for read_only in (True, False):
            with pytest.raises(CorruptStore) as refusal:
                open_store(place, read_only=read_only)
            assert refusal.value.facts["file"] == "journal/000001.log"
            assert refusal.value.facts["offset"] == max(end for end in [0, *abandoned] if end <= at)
        assert journal.read_bytes() == damaged


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (b"{}", "entry 1 cannot be replayed"),
        (b'{"version":99,"at":"x"}', "open the store with the program that wrote it"),
        (b'{"type":"state","version":1}', "entry 1 cannot be replayed"),
    ],
)
def test_an_entry_that_cannot_be_replayed_is_refused_naming_its_record(
    place: Path, journal: Path, entry: bytes, said: str
) -> None:
    open_store(place).close()
    journal.write_bytes(FRESH_JOURNAL + encode_group(1, [entry]))

    with pytest.raises(CorruptStore, match=said) as refusal:
        open_store(place)

    assert refusal.value.facts == {"file": "journal/000001.log", "offset": len(FRESH_JOURNAL)}


def test_reading_only_writes_nothing(place: Path, journal: Path, abandoned: list[int]) -> None:
    """SF-197, SF-180: reads create no publication and no transition."""
    journal.write_bytes(journal.read_bytes()[: abandoned[3] - 1])
    before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in [place, *place.rglob("*")]}

    with open_store(place, read_only=True) as store:
        assert kept(store.view) == {"k0": 0, "k1": 1}
        assert store.health == "the store was opened to read; open it for writing"
        with pytest.raises(StoreUnavailable, match="opened to read"):
            store.commit_now(put("a", 1))
        with pytest.raises(StoreUnavailable, match="opened to read"):
            store.announce(pid=1, socket="s", version="1")

    assert {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in [place, *place.rglob("*")]} == before


@pytest.mark.parametrize("exists", [False, True])
def test_reading_where_no_store_is_yet_shows_the_empty_state_and_makes_nothing(place: Path, *, exists: bool) -> None:
    if exists:
        place.mkdir(0o700)

    assert open_store(place, read_only=True).view == View()

    assert place.exists() == exists
    assert not exists or not list(place.iterdir())


class Crash(BaseException):
    """The process ends here."""


def crash_at(number: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], bool]:
    """Make the call with that number, counted over all calls that change a disk, the last one; it has no effect."""
    calls = 0

    def counted(name: str) -> None:
        original = getattr(os, name)

        def call(*args: object, **kwargs: object) -> object:
            nonlocal calls
            changes = name != "open" or (len(args) > 1 and isinstance(args[1], int) and args[1] & os.O_CREAT)
            calls += bool(changes)
            if changes and calls >= number:
                raise Crash
            return original(*args, **kwargs)

        monkeypatch.setattr(os, name, call)

    for name in ("mkdir", "open", "pwrite", "fdatasync", "fsync", "rename", "unlink", "fchmod"):
        counted(name)
    return lambda: calls >= number


def sweep(path: Path, content: bytes | None, monkeypatch: pytest.MonkeyPatch) -> int:
    """Crash opening at each of its calls in turn, opening over what the crashes before it left; count the crashes."""
    for number in range(1, 100):
        if content is not None:
            path.write_bytes(content)
        with monkeypatch.context() as crashing:
            crashed = crash_at(number, crashing)
            try:
                store = open_store(path if content is None else path.parent.parent)
            except Crash:
                continue
            assert not crashed()
        abandon(store)
        return number - 1
    raise AssertionError("opening never came to an end")


def test_a_creation_that_crashes_at_any_call_is_finished_by_the_next_start(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sweep(place, None, monkeypatch) >= 8
    assert open_store(place, read_only=True).view == View()


def test_a_recovery_that_crashes_at_any_call_is_repeated_by_the_next_start(
    place: Path, journal: Path, abandoned: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    torn = journal.read_bytes()[: abandoned[3] - 3]

    assert sweep(journal, torn, monkeypatch) >= 5
    assert kept(open_store(place, read_only=True).view) == {"k0": 0, "k1": 1}


def test_a_closing_record_that_cannot_be_written_costs_nothing(place: Path, journal: Path) -> None:
    with open_store(place) as store:
        store.commit_now(put("a", 1))
        plant(store, "disk is full")

    assert not scan(journal.read_bytes(), file="").sealed
    with open_store(place) as store:
        assert kept(store.view) == {"a": 1}


def test_a_torn_closing_record_is_a_torn_tail(place: Path, journal: Path) -> None:
    with open_store(place) as store:
        store.commit_now(put("a", 1))
    journal.write_bytes(written(journal)[:-1])

    with open_store(place) as store:
        assert kept(store.view) == {"a": 1}


def test_a_foreign_kind_of_record_stops_nothing_but_the_tail(place: Path, journal: Path) -> None:
    with open_store(place) as store:
        store.commit_now(put("a", 1))
    journal.write_bytes(journal.read_bytes() + encode(Kind.GROUP, 2, 0, b"[]").replace(b"\xffSWG", b"\xffSWX"))

    with open_store(place) as store:
        assert kept(store.view) == {"a": 1}
