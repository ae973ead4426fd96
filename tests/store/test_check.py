"""`check-store` finds every fault, changes nothing, and finds none where a start finds none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from stateward_engine.errors import CorruptStore, StoreUnavailable
from stateward_engine.store.check import check_store
from stateward_engine.store.record import MAGIC_PREFIX
from stateward_engine.store.scan import scan
from stateward_engine.store.store import open_store
from stateward_engine.store.writer import Compact
from store.planted import noon, put, written

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def used(place: Path) -> Path:
    """A store with two checkpoints and three groups after them, closed."""
    with open_store(place, now=noon) as store:
        store.commit_now(put("a", 1))
        store.commit_now(Compact())
        for number in range(3):
            store.commit_now(put(f"k{number}", number))
    return place


def reasons(place: Path) -> list[tuple[str, str]]:
    return [(fault.file, fault.reason) for fault in check_store(place).faults]


def test_a_store_in_order_has_no_faults_and_tells_its_streams(used: Path) -> None:
    report = check_store(used)
    assert report.faults == ()
    assert {(stream.identity.kind, stream.reason) for stream in report.streams} == {("cwd", None), ("session", None)}
    assert all(stream.file and (used / stream.file).is_file() for stream in report.streams)


def test_a_stream_that_only_the_journal_has_is_told_without_a_file(place: Path) -> None:
    with open_store(place) as store:
        store.commit_now(put("a", 1))
    assert {stream.file for stream in check_store(place).streams} == {None}


def test_a_new_directory_has_no_faults_and_nothing_is_an_error(place: Path) -> None:
    with pytest.raises(FileNotFoundError):
        check_store(place)
    place.mkdir(0o700)
    assert check_store(place).faults == ()
    assert list(place.iterdir()) == []


def test_a_store_that_somebody_writes_to_is_not_checked(place: Path) -> None:
    with open_store(place), pytest.raises(StoreUnavailable, match="in use by process"):
        check_store(place)


def test_every_fault_is_found_in_one_walk(used: Path) -> None:
    """store.md section 4: it walks everything and yields every fault."""
    journal = used / "journal" / "000002.log"
    data = bytearray(journal.read_bytes())
    first, second, _ = scan(bytes(data), file="").groups
    data[first.start + 30] ^= 1
    data[second.end - 2] ^= 1
    journal.write_bytes(data)
    cwd, session = sorted((used / "streams").rglob("*.json"))
    cwd.unlink()
    session.write_bytes(b"{}")
    (used / "reserve").chmod(0o644)
    before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in used.rglob("*")}

    found = reasons(used)

    assert [file for file, _ in found] == [
        str(used / "reserve"),
        "journal/000002.log",
        str(cwd.relative_to(used)),
        str(session.relative_to(used)),
    ]
    # Two damaged neighbours are one stretch: where the second begins cannot be known.
    assert "damage before a valid record" in found[1][1]
    assert {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in used.rglob("*")} == before


@pytest.mark.parametrize("which", [0, 2])
def test_damage_on_both_sides_of_a_valid_record_is_two_faults(used: Path, which: int) -> None:
    journal = used / "journal" / "000002.log"
    data = bytearray(journal.read_bytes())
    groups = scan(bytes(data), file="").groups
    data[groups[which].start + 30] ^= 1
    journal.write_bytes(data)
    (fault,) = check_store(used).faults
    assert (fault.file, fault.offset) == ("journal/000002.log", groups[which].start)


def test_a_catalogue_that_cannot_be_read_is_a_fault(used: Path) -> None:
    journal = used / "journal" / "000002.log"
    data = journal.read_bytes()
    journal.write_bytes(MAGIC_PREFIX + b"X" + data[4:])
    assert ("journal/000002.log", "no catalogue that this version knows; no stream can be checked") in reasons(used)


def test_a_checkpoint_of_nobody_is_a_fault(used: Path) -> None:
    stray = used / "streams" / "cwd" / "junk.json"
    stray.write_bytes(b"{}")
    stray.chmod(0o600)
    assert reasons(used) == [("streams/cwd/junk.json", "a checkpoint that the ledger does not know")]


def test_an_older_journal_under_the_newest_name_is_a_fault_and_is_not_served(used: Path) -> None:
    (used / "journal" / "previous").rename(used / "journal" / "000002.log")
    assert ("journal/000002.log", "the content is that of journal 1: an older copy") in reasons(used)
    with pytest.raises(CorruptStore, match="an older copy"):
        open_store(used)


def test_what_a_start_refuses_is_a_fault(used: Path) -> None:
    (used / "FORMAT").write_bytes(b"stateward store 9\n")
    assert [file for file, _ in reasons(used)] == ["FORMAT"]


def test_a_foreign_kind_of_file_is_a_fault_and_is_not_waited_for(used: Path) -> None:
    (used / "reserve").unlink()
    os.mkfifo(used / "reserve")
    assert [file for file, _ in reasons(used)] == [str(used / "reserve")]


@pytest.mark.parametrize("at", range(0, 2_000, 97))
def test_a_flipped_byte_of_the_journal_is_a_fault_exactly_if_a_start_finds_one(used: Path, at: int) -> None:
    journal = used / "journal" / "000002.log"
    data = bytearray(journal.read_bytes())
    at %= len(written(journal))
    data[at] ^= 0x20
    journal.write_bytes(data)
    try:
        starts = not open_store(used, read_only=True).view.damaged
    except Exception:  # noqa: BLE001 - whatever a start says
        starts = False
    assert (check_store(used).faults == ()) == starts
