"""One process per store, and how others learn which."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from stateward_engine.errors import StoreUnavailable, TooLarge
from stateward_engine.store.lock import ANNOUNCEMENT_BYTES
from stateward_engine.store.store import open_store
from stateward_engine.store.writer import Compact
from store.planted import kept, put

if TYPE_CHECKING:
    from pathlib import Path

    from stateward_engine.store.store import Store

HOLDER = """
import sys
from stateward_engine.store.store import open_store
with open_store(sys.argv[1]):
    print("open", flush=True)
    sys.stdin.read()
"""


def announcement(place: Path) -> object:
    return json.loads((place / "lock").read_bytes())


def test_a_second_opener_is_refused_naming_the_process(store: Store, place: Path) -> None:
    """DM-003: never a second writer."""
    assert store.health == "ok"

    with pytest.raises(StoreUnavailable, match=f"in use by process {os.getpid()}") as refusal:
        open_store(place)

    assert refusal.value.facts == {"outcome": "refused", "reason_code": "lock_held", "pid": os.getpid()}


def test_an_opener_in_another_process_is_refused_until_the_holder_is_gone(place: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(StoreUnavailable) as refusal:
            open_store(place)
        assert refusal.value.facts["pid"] == holder.pid
        holder.kill()
        holder.wait()

    open_store(place).close()


def test_a_reader_in_process_waits_for_no_writer_and_is_refused_beside_one(store: Store, place: Path) -> None:
    """There is never a second copy of the truth that falls behind the first."""
    with pytest.raises(StoreUnavailable, match=f"in use by process {os.getpid()}"):
        open_store(place, read_only=True)

    view = store.view
    store.close()
    assert open_store(place, read_only=True).view == view


@pytest.mark.parametrize("name", ["lock", "journal/000001.log"])
def test_a_store_whose_files_were_removed_acknowledges_nothing(place: Path, name: str) -> None:
    """Another process may hold the store by now: what we wrote would be lost without a word."""
    store = open_store(place)
    store.commit_now(put("a", 1))
    (place / name).unlink()

    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            store.commit_now(put("b", 1))
    assert store.health != "ok"
    assert kept(store.view) == {"a": 1}
    store.close()


def test_a_reader_gives_the_lock_back(place: Path) -> None:
    open_store(place).close()
    open_store(place, read_only=True)

    open_store(place).close()


def test_the_starter_lock_is_no_foreign_file(place: Path) -> None:
    """Whoever starts a daemon takes turns in the directory before it is a store."""
    place.mkdir(mode=0o700)
    (place / "start.lock").touch(mode=0o600)

    open_store(place).close()


@pytest.mark.parametrize("content", [b"", b"not json", b"[]", b'{"pid": "x"}', b"\xff"])
def test_a_holder_that_has_not_announced_itself_is_another_process(store: Store, place: Path, content: bytes) -> None:
    assert store.health == "ok"
    (place / "lock").write_bytes(content)

    with pytest.raises(StoreUnavailable, match="in use by another process"):
        open_store(place)


def test_an_announcement_is_one_json_object_of_a_fixed_size(store: Store, place: Path) -> None:
    """Replaced whole by one call, so no reader sees a torn one."""
    assert announcement(place) == {"pid": os.getpid()}
    store.announce(pid=7, socket="/run/user/1000/stateward/a-rather-long-name.sock", version="1.2.3")
    store.announce(pid=8, socket="/s", version="1")

    content = (place / "lock").read_bytes()
    assert (len(content), content[-1:]) == (ANNOUNCEMENT_BYTES, b"\n")
    assert json.loads(content) == {"pid": 8, "socket": "/s", "version": "1"}


def test_the_longest_socket_path_fits_and_a_longer_text_is_refused(store: Store, place: Path) -> None:
    store.announce(pid=2**22, socket="ü" * 53, version="1.2.3")
    assert announcement(place) == {"pid": 2**22, "socket": "ü" * 53, "version": "1.2.3"}

    with pytest.raises(TooLarge) as refusal:
        store.announce(pid=1, socket="s" * ANNOUNCEMENT_BYTES, version="1")
    assert refusal.value.facts["limit"] == "announcement_bytes"
    assert announcement(place) == {"pid": 2**22, "socket": "ü" * 53, "version": "1.2.3"}


def test_the_lock_file_outlives_its_holder_and_names_nobody(place: Path) -> None:
    open_store(place).close()
    inode = (place / "lock").stat().st_ino
    assert announcement(place) == {}

    with open_store(place):
        assert (place / "lock").stat().st_ino == inode


@pytest.mark.parametrize("replaced", [False, True])
def test_a_store_that_was_moved_acknowledges_nothing(place: Path, *, replaced: bool) -> None:
    """What is written into the moved directory is not in the store, and another process may have that by now."""
    with open_store(place) as store:
        store.commit_now(put("a", 1))
        place.rename(place.with_name("moved"))
        if replaced:
            open_store(place).close()
        assert not store.is_in_place
        with pytest.raises(StoreUnavailable, match="was moved") as refusal:
            store.commit_now(put("b", 2))
        assert refusal.value.facts["outcome"] == "refused"
        with pytest.raises(StoreUnavailable, match="was moved"):
            store.commit_now(Compact())
    assert kept(open_store(place.with_name("moved"), read_only=True).view) == {"a": 1}
