"""People, editors and other publications write to the same document: whoever saves, whenever, nobody's text is lost."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stateward_engine.errors import NotPublished, Overtaken
from stateward_engine.store import document_place
from stateward_engine.store.publish_file import PAUSES_S, TRADES_MAX
from store.planted_calls import Calls, at_call, failing
from store.publications import add, names, publish, refused, replace_save, skip_syncs, to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def kept_by(refusal: NotPublished) -> list[str]:
    kept = refusal.facts.get("kept", [])
    assert isinstance(kept, list)
    return kept


class TestOthersWrite:
    """What others write between our read and the replacement goes into the merge (security.md row 10)."""

    def test_a_save_before_the_last_look_is_merged(self, document: Path) -> None:
        saves = iter([b"theirs\n"])

        def merge(data: bytes) -> bytes:
            for saved in saves:
                replace_save(document, saved)
            return data + b"ours\n"

        done = publish(document, merge)

        assert document.read_bytes() == b"theirs\nours\n"
        assert done.attempts == 2

    @pytest.mark.parametrize("how", ["replaced", "written into", "touched", "made private", "labelled"])
    def test_a_change_after_the_last_look_comes_out_and_goes_back(self, document: Path, how: str) -> None:
        merged: list[bytes] = []

        def change() -> None:
            match how:
                case "replaced":
                    replace_save(document, b"theirs\n")
                case "written into":
                    document.write_bytes(b"theirs\n")
                case "touched":
                    os.utime(document, (1, 1))
                case "made private":
                    document.chmod(0o600)
                case "labelled":
                    os.setxattr(document, "user.stateward.test", b"new")

        def merge(data: bytes) -> bytes:
            merged.append(data)
            return data + b"ours\n"

        document.chmod(0o644)
        with Calls(at_call("exchange_names", change)).watched():
            done = publish(document, merge)

        theirs = b"theirs\n" if how in ("replaced", "written into") else b"old\n"
        assert merged == [b"old\n", theirs]
        assert document.read_bytes() == theirs + b"ours\n"
        assert stat.S_IMODE(document.stat().st_mode) == (0o600 if how == "made private" else 0o644)
        assert ("user.stateward.test" in os.listxattr(document)) == (how == "labelled")
        assert (done.status, done.attempts) == ("published", 2)
        assert names(document.parent) == ["GOAL.md"]

    @pytest.mark.parametrize("kind", ["symlink", "fifo", "directory", "hard link"])
    def test_what_is_no_plain_file_by_then_goes_back_and_is_refused(self, document: Path, kind: str) -> None:
        aside = document.parent / "aside"

        def swap() -> None:
            document.rename(aside)
            match kind:
                case "symlink":
                    document.symlink_to(aside)
                case "fifo":
                    os.mkfifo(document)
                case "directory":
                    document.mkdir()
                case "hard link":
                    document.hardlink_to(aside)

        with Calls(at_call("exchange_names", swap)).watched(), pytest.raises(NotPublished):
            publish(document, to(b"new\n"))

        assert document.lstat().st_mode != aside.lstat().st_mode or kind == "hard link"
        assert aside.read_bytes() == b"old\n"
        assert names(document.parent) == ["GOAL.md", "aside"]

    @pytest.mark.parametrize("moment", ["stat", "exchange_names"])
    def test_a_document_that_is_removed_meanwhile_stays_removed(self, document: Path, moment: str) -> None:
        with Calls(at_call(moment, document.unlink)).watched():
            refused(document, "document_missing")

        assert names(document.parent) == []

    def test_a_save_onto_ours_wins_over_the_one_that_came_out(self, document: Path) -> None:
        """An editor's save came out, and before it is back the editor has saved again: the last one counts."""
        exchanges = iter([b"first\n", b"second\n"])

        def save(_: int, called: str) -> None:
            if called == "exchange_names" and (saved := next(exchanges, None)):
                replace_save(document, saved)

        with Calls(save).watched():
            publish(document, add(b"ours\n"))

        assert document.read_bytes() == b"second\nours\n"
        assert names(document.parent) == ["GOAL.md"]

    def test_ours_removed_while_a_save_is_out_brings_the_save_back(self, document: Path) -> None:
        acts: list[Callable[[], object]] = [document.unlink, lambda: replace_save(document, b"theirs\n")]

        def act(_: int, called: str) -> None:
            if called == "exchange_names" and acts:
                acts.pop()()

        with Calls(act).watched():
            publish(document, add(b"ours\n"))

        assert document.read_bytes() == b"theirs\nours\n"

    def test_who_never_stops_gets_the_last_word(self, document: Path) -> None:
        count = 0

        def save(_: int, called: str) -> None:
            nonlocal count
            if called == "exchange_names":
                count += 1
                replace_save(document, b"save %d\n" % count)

        with Calls(save).watched(), pytest.raises(Overtaken) as refusal:
            publish(document, add(b"ours\n"))

        assert count == TRADES_MAX + 1
        assert refusal.value.retryable
        (kept,) = kept_by(refusal.value)
        assert document.read_bytes() == b"save %d\n" % (count - 1)
        assert (document.parent / kept).read_bytes() == b"save %d\n" % count

    def test_after_five_merges_it_is_a_conflict(self, document: Path) -> None:
        count = 0

        def merge(data: bytes) -> bytes:
            nonlocal count
            count += 1
            replace_save(document, b"save %d\n" % count)
            return data + b"ours\n"

        with Calls().watched(), pytest.raises(Overtaken) as overtaken:
            publish(document, merge)

        assert overtaken.value.facts["reason_code"] == "document_changing"
        assert count == len(PAUSES_S) == 5
        assert document.read_bytes() == b"save 5\n"
        assert names(document.parent) == ["GOAL.md"]


class TestOpenForWriting:
    """An editor that writes into the file is waited for, and never left with a file that has no name."""

    def test_a_document_that_is_being_written_is_not_merged(self, document: Path) -> None:
        with document.open("r+b"), Calls().watched():
            refused(document, "document_changing")

        assert document.read_bytes() == b"old\n"

    def test_it_is_merged_once_that_is_done(self, document: Path) -> None:
        writer = document.open("wb")

        def finish() -> None:
            writer.write(b"theirs\n")
            writer.close()

        with Calls(at_call("sleep", finish, time=3)).watched():
            done = publish(document, add(b"ours\n"))

        assert document.read_bytes() == b"theirs\nours\n"
        assert done.attempts == 1

    @pytest.mark.parametrize("truncates", [False, True])
    def test_one_who_opened_it_at_the_last_moment_writes_into_the_document(
        self, document: Path, *, truncates: bool
    ) -> None:
        opened: list[int] = []

        def open_it() -> None:
            opened.append(os.open(document, os.O_WRONLY | (os.O_TRUNC if truncates else 0)))

        def finish() -> None:
            os.pwrite(opened[0], b"theirs\n", 0)
            os.close(opened[0])

        sleeps = 0

        def act(number: int, called: str) -> None:
            nonlocal sleeps
            at_exchange(number, called)
            sleeps += called == "sleep" and bool(opened)
            if sleeps == 3 and called == "sleep":
                finish()

        at_exchange = at_call("exchange_names", open_it)
        with Calls(act).watched():
            publish(document, add(b"ours\n"))

        assert document.read_bytes() == b"theirs\nours\n"
        assert sleeps >= 3
        assert names(document.parent) == ["GOAL.md"]

    def test_one_who_opened_ours_and_has_not_written_keeps_a_file(self, document: Path) -> None:
        opened: list[int] = []
        acts: list[Callable[[], object]] = [
            lambda: opened.append(os.open(document, os.O_WRONLY | os.O_APPEND)),
            lambda: replace_save(document, b"theirs\n"),
        ]

        def act(_: int, called: str) -> None:
            if called == "exchange_names" and acts:
                acts.pop()()

        with Calls(act).watched(), pytest.raises(Overtaken) as refusal:
            publish(document, add(b"ours\n"))

        os.write(opened[0], b"late\n")
        os.close(opened[0])
        (kept,) = kept_by(refusal.value)
        assert document.read_bytes() == b"theirs\n"
        assert (document.parent / kept).read_bytes() == b"old\nours\nlate\n"
        assert publish(document, add(b"ours\n")).kept == (kept,)

    def test_without_leases_the_bytes_decide(self, document: Path) -> None:
        def no_leases(_: int, called: str) -> None:
            if called == "fcntl":
                failing(errno.EINVAL)()

        with Calls(no_leases).watched():
            assert publish(document, to(b"new\n")).status == "published"


class TestTogether:
    """One publication at a time in a directory, whatever process it is in."""

    def test_all_of_them_arrive(self, document: Path) -> None:
        lines = [b"line %d\n" % number for number in range(24)]

        def run(mine: list[bytes]) -> None:
            for line in mine:
                publish(document, add(line))

        threads = [threading.Thread(target=run, args=[lines[start::4]]) for start in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert sorted(document.read_bytes().splitlines(keepends=True)) == sorted([b"old\n", *lines])

    def test_a_directory_that_stays_locked_is_refused(self, document: Path) -> None:
        with (
            document_place.Place.opened(document, None),
            Calls().watched(),
            pytest.raises(Overtaken, match="locked") as refusal,
        ):
            publish(document, to(b"new\n"))

        assert refusal.value.facts["reason_code"] == "document_locked"

    def test_a_file_system_without_locks_is_no_hindrance_and_nothing_is_cleared(self, document: Path) -> None:
        leftover = document.parent / ".stateward-0.part"
        leftover.touch()

        with Calls(at_call("flock", failing(errno.ENOLCK))).watched():
            assert publish(document, to(b"new\n")).status == "published"

        assert leftover.exists()


SAVES = ["replaces", "writes into it", "writes into it slowly", "moves it aside first"]


class Person:
    """Saves the document in the ways of editors; slow ways go on with the next step."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self.steps: Iterator[None] = iter(())

    def step(self, way: str) -> None:
        """Go on with the save that is under way, or begin one."""
        if next(self.steps, self) is self:
            self.count += 1
            self.steps = self._save(way, b"human %d\nregion\n" % self.count)
            next(self.steps, None)

    def finish(self) -> None:
        for _ in self.steps:
            pass

    def _save(self, way: str, data: bytes) -> Iterator[None]:
        match way:
            case "replaces":
                replace_save(self.path, data)
            case "writes into it":
                self.path.write_bytes(data)
            case "writes into it slowly":
                with self.path.open("wb") as file:
                    yield
                    file.write(data[:3])
                    file.flush()
                    yield
                    file.write(data[3:])
            case "moves it aside first":
                self.path.rename(self.path.with_name("GOAL.md~"))
                yield
                self.path.write_bytes(data)


def render(data: bytes) -> bytes:
    """Keep the person's line and write ours below."""
    return data.partition(b"region\n")[0] + b"region\nours\n"


@pytest.mark.property
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(schedule=st.lists(st.tuples(st.integers(0, 25), st.sampled_from(SAVES)), max_size=12))
def test_whenever_and_however_a_person_saves_the_last_save_is_there(
    tmp_path: Path, schedule: list[tuple[int, str]]
) -> None:
    """The law of this page: at whatever calls of a publication others save, what they wrote last is not lost."""
    path = tmp_path / "GOAL.md"
    path.write_bytes(b"human 0\nregion\n")
    person = Person(path)
    waits = list(schedule)

    def before(_: int, __: str) -> None:
        if waits:
            left, way = waits.pop(0)
            if left:
                waits.insert(0, (left - 1, way))
            else:
                person.step(way)

    kept: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        skip_syncs(patch)
        with Calls(before).watched():
            try:
                publish(path, render)
            except NotPublished as refusal:
                kept = kept_by(refusal)
    person.finish()

    where = [path, *(tmp_path / name for name in kept)]
    assert any(b"human %d\n" % person.count in file.read_bytes() for file in where)
    left = [name for name in names(tmp_path) if name not in ("GOAL.md", "GOAL.md~")]
    assert left == kept
    for name in kept:
        (tmp_path / name).unlink()


@pytest.mark.parametrize("way", SAVES[:3])
def test_saves_of_another_thread_are_never_lost(document: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """The same with real races: 500 times an editor saves while we publish."""
    skip_syncs(monkeypatch)
    document.write_bytes(b"human 0\nregion\n")
    person = Person(document)
    turns = threading.Barrier(2)

    def edit() -> None:
        for _ in range(500):
            turns.wait(timeout=30)
            person.step(way)
            person.finish()
            turns.wait(timeout=30)

    editor = threading.Thread(target=edit)
    editor.start()
    for _ in range(500):
        turns.wait(timeout=30)
        done = None
        while done is None:
            # A slow machine may keep the editor's file open for longer than we wait.
            with contextlib.suppress(Overtaken):
                done = publish(document, render)
        turns.wait(timeout=30)
        found = document.read_bytes()
        assert found.startswith(b"human %d\nregion\n" % person.count)
        assert found == b"human %d\nregion\n" % person.count or done.sha256 == sha256(found).hexdigest()
    editor.join()

    assert names(document.parent) == ["GOAL.md"]
