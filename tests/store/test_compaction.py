"""Checkpoints and compaction: a shorter start, and never another state."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from stateward_engine.errors import CorruptStore, StoreUnavailable
from stateward_engine.state.commands import Configure, ForkSession, ImportState, PatchState, ResetScope
from stateward_engine.state.patch import parse_patch
from stateward_engine.state.read import ReadRequest, read
from stateward_engine.state.view import Identity, Selection
from stateward_engine.store import catalogue, embedded
from stateward_engine.store.store import open_store
from stateward_engine.store.writer import Compact
from store.planted import CLIENT, NOON, kept, noon, put, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stateward_engine.json_value import Json
    from stateward_engine.state.view import View
    from stateward_engine.store.store import Store

CWD, SESSION = CLIENT.identity("cwd"), CLIENT.identity("session")


def reopened(place: Path) -> View:
    """The view of the next start, which must be the same whether it may write or not."""
    left = open_store(place, read_only=True).view
    with open_store(place) as store:
        assert store.view == left
        return left


def streams(place: Path) -> dict[str, Path]:
    return {path.parent.name: path for path in (place / "streams").rglob("*.json")}


def stamped(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a checkpoint and give it the digest of what it says then: a mistake of ours, not of the disk."""
    document = msgspec.json.decode(path.read_bytes())
    del document["sha256"]
    change(document)
    body = msgspec.json.encode(document)[:-1]
    path.write_bytes(body + b',"sha256":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n')


@pytest.fixture
def compacted(place: Path) -> View:
    """A store with one stream of each kind, kept changes, a receipt and a compaction; closed."""
    with open_store(place, now=noon) as store:
        store.commit_now(put("a", 1, idempotency_key="first"))
        store.commit_now(PatchState(CLIENT, parse_patch({"global": {"lazy": {"g": [1, "null"]}}}, CLIENT.wanted)))
        store.commit_now(put("b", {"deep": ["ü", 1.5]}))
        store.commit_now(Compact())
        return store.view


class TestCompaction:
    def test_the_next_start_finds_the_same_view_with_all_its_past(self, place: Path, compacted: View) -> None:
        """SF-178, SF-181, LX-121: offsets, revisions, sessions and receipts survive."""
        assert reopened(place) == compacted
        assert set(streams(place)) == {"global", "cwd", "session"}
        assert [path.name for path in sorted((place / "journal").iterdir())] == ["000002.log", "previous"]

    def test_a_journal_goes_on_after_it(self, place: Path, compacted: View) -> None:
        with open_store(place) as store:
            assert store.commit_now(put("a", 1, idempotency_key="first")).receipt
            assert store.view.sequence == compacted.sequence
            store.commit_now(put("c", 3))
            after = store.view
        assert after.sequence == compacted.sequence + 1
        assert reopened(place) == after

    def test_only_streams_that_changed_are_written(self, place: Path, compacted: View) -> None:
        before = {kind: path.stat().st_ino for kind, path in streams(place).items()}
        with open_store(place) as store:
            store.commit_now(PatchState(CLIENT, parse_patch({"cwd": {"lazy": {"c": 1}}}, CLIENT.wanted)))
            receipt = store.commit_now(Compact()).receipt
        after = {kind: path.stat().st_ino for kind, path in streams(place).items()}
        # The session too: it was last changed now.
        assert receipt == {"streams_written": 2}
        assert {kind for kind in after if after[kind] != before[kind]} == {"cwd", "session"}
        assert compacted.sequence == 3

    def test_the_checkpoint_before_is_kept_once_for_people(self, place: Path, compacted: View) -> None:
        path = streams(place)["cwd"]
        first = path.read_bytes()
        for number in range(2):
            second = path.read_bytes()
            with open_store(place) as store:
                store.commit_now(put("n", number))
                store.commit_now(Compact())
        assert second != first
        assert path.with_suffix(".previous").read_bytes() == second
        assert len(list(path.parent.iterdir())) == 2
        assert compacted.sequence == 3

    def test_a_file_system_that_cannot_exchange_names_keeps_no_checkpoint_before(
        self, place: Path, compacted: View, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def unsupported(*_: object) -> None:
            raise OSError(22, "Invalid argument")

        monkeypatch.setattr("stateward_engine.store.linux_calls.exchange_names", unsupported)
        with open_store(place) as store:
            store.commit_now(put("n", 1))
            store.commit_now(Compact())
            view = store.view
        assert not list((place / "streams").rglob("*.previous"))
        assert reopened(place) == view
        assert compacted.sequence == 3

    def test_the_digest_is_that_of_every_byte_before_it(self, place: Path, compacted: View) -> None:
        """FORMAT.md: `head -c -78 FILE | sha256sum`."""
        for path in streams(place).values():
            data = path.read_bytes()
            assert hashlib.sha256(data[:-78]).hexdigest() == msgspec.json.decode(data)["sha256"]
        assert compacted.sequence == 3

    @pytest.mark.parametrize(("length", "groups"), [(2_000, 1_000_000), (2**30, 5)])
    def test_a_journal_that_grows_long_is_compacted_by_itself(
        self, place: Path, monkeypatch: pytest.MonkeyPatch, length: int, groups: int
    ) -> None:
        monkeypatch.setattr(catalogue, "_LENGTH_MIN", length)
        monkeypatch.setattr(catalogue, "_GROUPS_MIN", groups)
        with open_store(place) as store:
            for number in range(40):
                store.commit_now(put(f"k{number}", number))
            view = store.view
        assert int(max(path.name for path in (place / "journal").glob("*.log"))[:6]) > 2
        assert len(list((place / "journal").iterdir())) == 2
        assert reopened(place) == view

    def test_every_kind_of_entry_survives_it(self, place: Path) -> None:
        other = Selection(CLIENT.cwd, "s9", CLIENT.wanted)
        roots: Json = {"board": {"declaration": {"from": "elsewhere"}, "value": {"b": 1, "a": 2}}}
        with open_store(place, now=noon) as store:
            store.commit_now(ImportState(other, {"session": {"tactics": {"z": 1}, "roots": roots}}))
            store.commit_now(Configure(2))
            for number in range(4):
                store.commit_now(put("n", number))
            store.commit_now(ForkSession("/home/ada/project", "s1", "s2"))
            store.commit_now(Compact())
            store.commit_now(Configure(9))
            store.commit_now(put("n", "after"))
            store.commit_now(ResetScope(CWD))
            view = store.view
        assert reopened(place) == view
        with open_store(place) as store:
            store.commit_now(Compact())
        assert reopened(place) == view

    def test_a_checkpoint_newer_than_the_catalogue_takes_no_entry_twice(
        self, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A compaction that is cut short before the next journal has its name."""
        with open_store(place, now=noon) as store:
            store.commit_now(Configure(3))
            for number in range(3):
                store.commit_now(put("n", number, idempotency_key=f"k{number}"))
            store.commit_now(Configure(1))
            store.commit_now(Configure(5))
            for number in range(3):
                store.commit_now(put("m", number))
            view = store.view

            def crash(_name: str) -> str:
                raise OSError(5, "planted")

            monkeypatch.setattr(embedded, "successor_of", crash)
            with pytest.raises(StoreUnavailable, match="stopped writing"):
                store.commit_now(Compact())
            with pytest.raises(StoreUnavailable, match="stopped writing"):
                store.commit_now(put("lost", 1))
            assert store.view == view
        monkeypatch.undo()
        assert set(streams(place)) == {"cwd", "session"}
        assert reopened(place) == view

    def test_two_journals_mean_the_newest(self, place: Path, compacted: View) -> None:
        """A crash after the new journal got its name, before the old one was moved away."""
        journals = place / "journal"
        (journals / "previous").rename(journals / "000001.log")
        assert reopened(place) == compacted
        assert sorted(path.name for path in journals.iterdir()) == ["000002.log", "previous"]

    def test_a_lost_newest_journal_is_missing_and_the_previous_one_is_never_taken(
        self, place: Path, compacted: View
    ) -> None:
        (place / "journal" / "000002.log").unlink()
        with pytest.raises(CorruptStore, match="is missing"):
            open_store(place)
        assert compacted.sequence == 3


DAMAGES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another version": (lambda document: document.update(format=2), "use the version that wrote it"),
    "another directory": (lambda document: document["identity"].update(cwd="/elsewhere"), "belongs to another"),
    "another session": (lambda document: document["identity"].update(session="s7"), "belongs to another"),
    "another kind": (lambda document: document.update(kind="global"), "belongs to another"),
    "a stored null": (lambda document: document["base"].update(tactics={"a": [{"b": None}]}), "holds a null"),
    "an array for lazy": (lambda document: document["base"].update(lazy=[1]), "lazy is of the wrong kind"),
    "an object for response": (lambda document: document["base"].update(response={}), "response is of the wrong kind"),
    "an unknown plane": (lambda document: document["base"].update(plans={}), "not part of the model"),
    "a change out of order": (lambda document: document["tail"].reverse(), "do not follow each other"),
    "a change before the base": (lambda document: document.update(since=2), "do not follow each other"),
    "a change after the end": (lambda document: document["tail"][-1].update(sequence=9), "do not follow each other"),
    "a change of an element that is not there": (
        lambda document: document["tail"][0].update(patch={"tactics": {"a": {"[7]": 1}}}),
        "cannot be replayed",
    ),
    "a change that changes nothing": (
        lambda document: document["tail"][0].update(patch={"tactics": {"never": None}}),
        "changes nothing",
    ),
    "an older copy": (lambda document: (document["tail"].pop(), document.update(sequence=1)), "an older copy"),
    "other content": (lambda document: document.update(revision=99), "another file than the ledger knows"),
    "the future": (lambda document: document.update(sequence=99), "the ledger ends with 3"),
    "a missing member": (lambda document: document.pop("since"), "its members are not those"),
    "one member more": (lambda document: document.update(more=1), "its members are not those"),
}


class TestDamage:
    """SF-186, SF-188, SF-192, SF-194: a damaged stream fails closed alone, and its bytes stay."""

    @pytest.mark.parametrize("damage", DAMAGES)
    def test_a_valid_digest_proves_no_content(self, place: Path, compacted: View, damage: str) -> None:
        change, reason = DAMAGES[damage]
        path = streams(place)["cwd"]
        stamped(path, change)
        before = path.read_bytes()

        view = reopened(place)

        assert list(view.damaged) == [CWD]
        assert reason in view.damaged[CWD].reason
        with pytest.raises(CorruptStore) as refusal:
            view.scope(CWD)
        assert refusal.value.facts["file"] == str(path.relative_to(place))
        assert refusal.value.facts["example"] == "stateward reset-scope cwd --cwd /home/ada/project"
        assert view.scope(SESSION) == compacted.scope(SESSION)
        assert view.scope(Identity("global")) == compacted.scope(Identity("global"))
        assert path.read_bytes() == before

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"", "do not fit its digest"),
            (b"{", "do not fit its digest"),
            (b'{"format":7}', "use the version that wrote it"),
            (b"\xff" * 200, "do not fit its digest"),
        ],
    )
    def test_any_other_bytes_are_damage(self, place: Path, compacted: View, data: bytes, reason: str) -> None:
        streams(place)["session"].write_bytes(data)
        view = reopened(place)
        assert reason in view.damaged[SESSION].reason
        assert view.scope(CWD) == compacted.scope(CWD)
        assert view.sessions == {}

    def test_any_flipped_or_missing_byte_is_damage(self, place: Path, compacted: View) -> None:
        path = streams(place)["cwd"]
        whole = path.read_bytes()
        for at in range(0, len(whole), 7):
            for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]):
                path.write_bytes(damaged)
                assert list(open_store(place, read_only=True).view.damaged) == [CWD]
        assert compacted.sequence == 3

    @pytest.mark.parametrize("how", ["unlinked", "a symlink", "a directory", "a FIFO", "readable by all"])
    def test_a_file_that_is_not_ours_is_damage(self, place: Path, compacted: View, how: str) -> None:
        path = streams(place)["cwd"]
        aside = place.parent / "aside"
        path.rename(aside)
        match how:
            case "a symlink":
                path.symlink_to(aside)
            case "a directory":
                path.mkdir()
            case "a FIFO":
                os.mkfifo(path)
            case "readable by all":
                path.write_bytes(aside.read_bytes())
                path.chmod(0o644)
        view = reopened(place)
        assert list(view.damaged) == [CWD]
        assert view.scope(SESSION) == compacted.scope(SESSION)

    def test_what_does_not_need_the_stream_goes_on_and_what_does_is_refused(self, place: Path, compacted: View) -> None:
        streams(place)["cwd"].write_bytes(b"{")
        healthy = Selection(CLIENT.cwd, CLIENT.session, ("global", "session"))
        with open_store(place) as store:
            with pytest.raises(CorruptStore, match="cwd scope is damaged"):
                store.commit_now(put("c", 1))
            patch = parse_patch({"session": {"tactics": {"c": 1}}}, healthy.wanted)
            store.commit_now(PatchState(healthy, patch, "key"))
            store.commit_now(Compact())
            view = store.view
        assert streams(place)["cwd"].read_bytes() == b"{"
        assert reopened(place) == view
        assert compacted.sequence == 3

    @pytest.mark.usefixtures("compacted")
    def test_a_client_of_all_scopes_reads_the_healthy_ones_by_name(self, place: Path) -> None:
        streams(place)["cwd"].write_bytes(b"{")
        with open_store(place) as store:
            assert read(store.view, CLIENT, ReadRequest(("global.lazy.g",))) == {"value": [1, "null"]}
            for path in ("cwd.tactics", "effective.tactics"):
                with pytest.raises(CorruptStore, match="cwd scope is damaged"):
                    read(store.view, CLIENT, ReadRequest((path,)))

    def test_a_reset_begins_the_scope_anew_and_survives_restarts_and_compaction(
        self, place: Path, compacted: View
    ) -> None:
        streams(place)["cwd"].write_bytes(b"{")
        with open_store(place) as store:
            store.commit_now(ResetScope(CWD))
            assert store.view.damaged == {}
            assert store.view.scope(CWD).planes == {}
            # No client was ever told this revision.
            assert store.view.scope(CWD).revision > compacted.scope(CWD).revision
            store.commit_now(put("new", 1))
        view = reopened(place)
        assert view.scope(CWD).planes == {"tactics": {"new": 1}}
        with open_store(place) as store:
            store.commit_now(Compact())
        assert reopened(place) == view

    def test_a_reset_of_a_healthy_scope_is_an_origin_too(self, place: Path, compacted: View) -> None:
        with open_store(place) as store:
            store.commit_now(ResetScope(CWD))
            scope = store.view.scope(CWD)
            assert (scope.planes, scope.changes, scope.since) == ({}, (), compacted.sequence + 1)
            assert store.commit_now(ResetScope(Identity("cwd", "/nowhere"))).receipt == {"changed": []}

    def test_a_keyed_mutation_of_other_scopes_goes_on_and_is_answered_again(self, place: Path, compacted: View) -> None:
        """The receipt lives with what it is about, so a damaged scope takes only receipts of what it would refuse."""
        streams(place)["session"].write_bytes(b"{")
        client = Selection(CLIENT.cwd, CLIENT.session, ("global", "cwd"))
        patch = parse_patch({"cwd": {"tactics": {"a": 5}}}, client.wanted)
        for _ in range(2):
            with open_store(place) as store:
                store.commit_now(PatchState(client, patch, "fresh"))
                store.commit_now(Compact())
                assert store.view.sequence == compacted.sequence + 1


def test_a_full_disk_starts_read_only_and_takes_up_again_when_there_is_room(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """store.md section 4. The journal was not sealed, so a start has to copy it."""
    with open_store(place, now=noon) as store:
        store.commit_now(put("a", 1))
        _abandon(store)
    assert (place / "reserve").stat().st_size == embedded.RESERVE_BYTES

    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", _no_space)
        # The announcement is written in place.
        full.setattr("stateward_engine.store.lock.Lock._write", lambda *_: None)
        with open_store(place) as store:
            assert kept(store.view) == {"a": 1}
            assert store.health == "ENOSPC: No space left on device"
            with pytest.raises(StoreUnavailable, match="ENOSPC") as refusal:
                store.commit_now(put("b", 2))
            assert refusal.value.facts["outcome"] == "refused"
    assert not (place / "reserve").exists()

    with open_store(place) as store:
        store.commit_now(put("b", 2))
        assert kept(store.view) == {"a": 1, "b": 2}
    assert (place / "reserve").exists()


def test_the_reserve_makes_room_for_the_copy(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(place, now=noon) as store:
        store.commit_now(put("a", 1))
        _abandon(store)
    pwrite = os.pwrite

    def full_while_reserved(descriptor: int, data: bytes, offset: int) -> int:
        return _no_space() if (place / "reserve").exists() else pwrite(descriptor, data, offset)

    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", full_while_reserved)
        full.setattr("stateward_engine.store.lock.Lock._write", lambda *_: None)
        full.setattr(os, "posix_fallocate", _no_space)
        with open_store(place) as store:
            assert store.health == "ok"
            # The file that could not be filled stays, and is no obstacle.
            (place / "reserve").unlink(missing_ok=True)
            store.commit_now(put("b", 2))
            assert kept(store.view) == {"a": 1, "b": 2}


def _no_space(*_: object) -> int:
    raise OSError(28, "No space left on device")


def _abandon(store: Store) -> None:
    """End a store as a kill would: nothing is sealed."""
    assert store.writer is not None
    store.writer.close()
    ledger = store.writer._core.ledger
    assert isinstance(ledger, embedded.EmbeddedLedger)
    ledger.journal.poison = "killed"


def test_written_hides_nothing_but_zeros(place: Path, journal: Path) -> None:
    with open_store(place, now=noon) as store:
        store.commit_now(put("a", 1))
        assert len(written(journal)) == store.length
    assert NOON.encode() in written(journal)
