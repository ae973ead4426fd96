"""`store copy`: a store moves between engines, whole or not at all."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from stateward_engine.errors import CorruptStore, StoreUnavailable
from stateward_engine.state.commands import Configure
from stateward_engine.store import copying
from stateward_engine.store.check import check_store
from stateward_engine.store.copying import Copied, Site, copy_store
from stateward_engine.store.postgresql import open_postgresql, read_postgresql
from stateward_engine.store.postgresql_check import check_postgresql
from stateward_engine.store.store import open_store
from stateward_engine.store.writer import Compact, WriterCore
from store.planted import kept, put

if TYPE_CHECKING:
    from pathlib import Path

    from stateward_engine.state.view import View
    from stateward_engine.store.postgresql_target import Target
    from store.postgres_server import PostgresServer


@pytest.fixture
def source(place: Path) -> Site:
    """A store with a past."""
    with open_store(place) as store:
        for number in range(12):
            store.commit_now(put("a", number, idempotency_key=f"k{number}"))
        store.commit_now(Compact())
        store.commit_now(put("b", 1, idempotency_key="k12"))
        store.commit_now(Configure(3))
    return Site(place)


def read(site: Site) -> View:
    return open_store(site.directory, read_only=True, database=site.database).view


def test_a_store_goes_into_a_database_and_back(source: Site, target: Target, tmp_path: Path) -> None:
    there, back = Site(tmp_path / "pg", target), Site(tmp_path / "back")
    before = read(source)

    assert copy_store(source, there) == Copied(14, {"cwd": 1, "session": 1}, 13)
    assert copy_store(there, back) == Copied(14, {"cwd": 1, "session": 1}, 13)

    assert read(source) == read(there) == read(back) == before
    assert check_postgresql(target).faults == check_store(back.directory).faults == ()


def test_what_was_copied_goes_on(source: Site, target: Target, tmp_path: Path) -> None:
    copy_store(source, Site(tmp_path / "pg", target))
    with open_store(tmp_path / "pg", database=target) as store:
        again = store.commit_now(put("a", 3, idempotency_key="k3"))
        assert store.view.sequence == 14
        assert again.receipt
        store.commit_now(put("c", 1))
    assert kept(read_postgresql(target)) == {"a": 11, "b": 1, "c": 1}
    assert check_postgresql(target).faults == ()


def test_a_key_of_the_source_is_guarded_in_the_copy(source: Site, target: Target, tmp_path: Path) -> None:
    copy_store(source, Site(tmp_path / "pg", target))
    ledger, view = open_postgresql(target)
    with contextlib.closing(ledger):
        forgetful = WriterCore(replace(view, receipts={}), ledger)
        with pytest.raises(CorruptStore, match="idempotency key"):
            forgetful.commit([put("a", 3, idempotency_key="k3")])


def test_between_databases_and_between_directories(
    source: Site, target: Target, postgres: PostgresServer, tmp_path: Path
) -> None:
    other = postgres.new_target()
    copy_store(source, Site(tmp_path / "a", target))
    copy_store(Site(tmp_path / "a", target), Site(tmp_path / "b", other))
    copy_store(source, Site(tmp_path / "files"))
    assert read_postgresql(other) == read(Site(tmp_path / "files")) == read(source)


def test_an_empty_store_is_copied_as_such(target: Target, tmp_path: Path) -> None:
    assert copy_store(Site(tmp_path / "pg", target), Site(tmp_path / "files")) == Copied(0, {}, 0)
    open_store(tmp_path / "files").close()


def test_only_an_empty_place_takes_a_copy(source: Site, target: Target, tmp_path: Path) -> None:
    there = Site(tmp_path / "pg", target)
    copy_store(source, there)
    for taken in (there, source):
        with pytest.raises(StoreUnavailable, match="holds a store already") as refused:
            copy_store(source, taken) if taken is there else copy_store(there, taken)
        assert refused.value.facts["reason_code"] == "store_not_empty"
    assert read(there) == read(source)


def test_nobody_uses_either_meanwhile(source: Site, target: Target, tmp_path: Path) -> None:
    there = Site(tmp_path / "pg", target)
    with open_store(source.directory), pytest.raises(StoreUnavailable, match="in use by process"):
        copy_store(source, there)
    with open_store(there.directory, database=target):
        for pair in ((source, there), (there, Site(tmp_path / "files"))):
            with pytest.raises(StoreUnavailable, match="stop them on every machine"):
                copy_store(*pair)
    assert read_postgresql(target).sequence == 0


def test_names_that_say_another_thing_there_are_given_anew(source: Site, tmp_path: Path) -> None:
    def moved(view: View) -> View:
        return replace(view, history_limit=5)

    copy_store(source, Site(tmp_path / "files"), moved=moved)
    assert read(Site(tmp_path / "files")).history_limit == 5


def test_a_damaged_stream_is_not_copied(source: Site, tmp_path: Path) -> None:
    (checkpoint,) = (source.directory / "streams" / "cwd").glob("*.json")
    checkpoint.write_bytes(checkpoint.read_bytes()[1:])
    with pytest.raises(CorruptStore, match="cwd scope is damaged"):
        copy_store(source, Site(tmp_path / "files"))
    assert not (tmp_path / "files").exists()


def test_a_copy_that_is_not_what_was_written_is_told(
    source: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = copying._written_files
    monkeypatch.setattr(copying, "_written_files", lambda path, view: replace(written(path, view), receipts={}))
    with pytest.raises(CorruptStore, match=r"is not what was written \(session\)"):
        copy_store(source, Site(tmp_path / "files"))
