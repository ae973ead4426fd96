"""Documents that people, editors and we write to: nobody's text is lost, and nobody reads a half of it."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
import threading
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stateward_engine.errors import InvalidRequest, NotPublished, Overtaken
from stateward_engine.store import document_place, linux_calls, publish_file, snapshot
from stateward_engine.store.publish_file import PAUSES_S, TRADES_MAX, Publication, create_file
from store.planted_calls import Calls, Killed, at_call, failing, killing, once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

publish = publish_file.publish_file

ERRORS = [errno.EIO, errno.ENOSPC, errno.EACCES]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    return made


@pytest.fixture
def document(folder: Path) -> Path:
    path = folder / "GOAL.md"
    path.write_bytes(b"old\n")
    return path


def to(data: bytes) -> Callable[[bytes], bytes]:
    """A merge that pays no attention to what is there."""
    return lambda _: data


def add(line: bytes) -> Callable[[bytes], bytes]:
    """A merge that keeps what is there."""
    return lambda data: data if line in data else data + line


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def replace_save(path: Path, data: bytes) -> None:
    """As an editor that writes another file and renames it."""
    aside = path.with_name(".swp")
    aside.write_bytes(data)
    aside.rename(path)


def refused(path: Path, reason_code: str, **options: Path) -> NotPublished:
    """Publish, and return the refusal, which comes at once."""
    start = time.monotonic()
    with pytest.raises(NotPublished) as refusal:
        publish(path, to(b"new\n"), **options)
    assert time.monotonic() - start < 1
    assert refusal.value.facts["reason_code"] == reason_code
    assert refusal.value.facts["outcome"] == "refused"
    return refusal.value


def skip_syncs(patch: pytest.MonkeyPatch) -> None:
    """For tests that publish a thousand times and prove nothing about what a crash leaves."""
    patch.setattr(os, "fsync", lambda _: None)
    patch.setattr(os, "fdatasync", lambda _: None)


def kept_by(refusal: NotPublished) -> list[str]:
    kept = refusal.facts.get("kept", [])
    assert isinstance(kept, list)
    return kept


class TestReplace:
    def test_the_document_has_the_bytes_and_the_answer_says_which(self, document: Path) -> None:
        done = publish(document, lambda data: data + b"new\n")

        assert document.read_bytes() == b"old\nnew\n"
        found = document.stat()
        assert done == Publication(
            status="published",
            path=document,
            sha256=sha256(b"old\nnew\n").hexdigest(),
            size_bytes=8,
            device=found.st_dev,
            inode=found.st_ino,
            attempts=1,
            guarded=True,
            kept=(),
        )
        assert names(document.parent) == ["GOAL.md"]

    def test_the_copy_is_durable_before_it_gets_the_name_and_the_name_before_the_old_bytes_go(
        self, document: Path
    ) -> None:
        calls = Calls()
        with calls.watched():
            publish(document, to(b"new\n"))

        steps = [name for name in calls.names if name in ("fdatasync", "fsync", "exchange_names", "unlink")]
        assert steps == ["fdatasync", "fsync", "exchange_names", "fsync", "unlink"]

    def test_any_bytes_do(self, document: Path) -> None:
        for data in (b"", bytes(range(256)) * 100, b"\xff\x00"):
            assert publish(document, to(data)).status in ("published", "current")
            assert document.read_bytes() == data

    def test_a_reader_with_the_file_open_reads_all_of_the_old_bytes(self, document: Path) -> None:
        with document.open("rb") as reader:
            publish(document, to(b"new\n"))
            assert reader.read() == b"old\n"

    @pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o444])
    @pytest.mark.parametrize("umask", [0, 0o077])
    def test_mode_and_attributes_stay(self, document: Path, mode: int, umask: int) -> None:
        document.chmod(mode)
        os.setxattr(document, "user.stateward.test", b"kept")
        before = os.umask(umask)
        try:
            publish(document, to(b"new\n"))
        finally:
            os.umask(before)

        assert stat.S_IMODE(document.stat().st_mode) == mode
        assert os.getxattr(document, "user.stateward.test") == b"kept"

    def test_owner_and_group_are_those_of_the_document(self, document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        given_to: list[tuple[int, int]] = []
        monkeypatch.setattr(os, "fchown", lambda _, owner, group: given_to.append((owner, group)))

        publish(document, to(b"new\n"))

        assert given_to == [(document.stat().st_uid, document.stat().st_gid)]

    def test_a_document_whose_owner_cannot_be_kept_is_refused(self, document: Path) -> None:
        """security.md row 8."""
        with Calls(at_call("fchown", failing(errno.EPERM))).watched():
            refused(document, "document_owner")

        assert document.read_bytes() == b"old\n"
        assert names(document.parent) == ["GOAL.md"]

    def test_an_attribute_of_the_system_that_cannot_be_set_is_no_hindrance(
        self, document: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "listxattr", lambda _: ["security.selinux"])
        monkeypatch.setattr(os, "getxattr", lambda *_: b"label")
        monkeypatch.setattr(os, "setxattr", lambda *_: failing(errno.EPERM)())

        assert publish(document, to(b"new\n")).status == "published"

    def test_a_file_system_without_attributes_is_no_hindrance(self, document: Path) -> None:
        def unsupported(_: int, called: str) -> None:
            if called == "listxattr":
                failing(errno.EOPNOTSUPP)()

        with Calls(unsupported).watched():
            assert publish(document, to(b"new\n")).status == "published"

    def test_what_the_merge_raises_passes_through_and_nothing_is_written(self, document: Path) -> None:
        def unreadable(_: bytes) -> bytes:
            raise FileNotFoundError("of the merge's own")

        with pytest.raises(FileNotFoundError, match="own"):
            publish(document, unreadable)

        assert document.read_bytes() == b"old\n"
        assert names(document.parent) == ["GOAL.md"]


class TestCurrent:
    """LX-127: equal bytes are not written, and are made durable all the same."""

    def test_equal_bytes_keep_the_file_and_sync_it_and_its_directory(
        self, document: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        synced: list[int] = []
        monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
        before = document.stat()

        assert publish(document, to(b"old\n")).status == "current"

        assert synced == [before.st_ino, document.parent.stat().st_ino]
        assert document.stat().st_mtime_ns == before.st_mtime_ns
        assert document.stat().st_ino == before.st_ino

    @pytest.mark.parametrize("which", [1, 2])
    def test_a_failed_sync_is_never_current(self, document: Path, which: int) -> None:
        """LX-128."""
        with Calls(at_call("fsync", failing(errno.EIO), time=which)).watched(), pytest.raises(NotPublished):
            publish(document, to(b"old\n"))

    def test_what_changed_during_the_sync_is_merged_again(self, document: Path) -> None:
        with Calls(at_call("fsync", lambda: replace_save(document, b"theirs\n"), time=2)).watched():
            done = publish(document, add(b"old\n"))

        assert (done.status, done.attempts) == ("published", 2)
        assert document.read_bytes() == b"theirs\nold\n"


class TestRefused:
    """security.md rows 7 to 10: nothing is followed, nothing hangs, nothing is changed."""

    def test_a_missing_document_is_not_made(self, folder: Path) -> None:
        refused(folder / "GOAL.md", "document_missing")
        refused(folder / "nowhere" / "GOAL.md", "document_missing")

        assert names(folder) == []

    @pytest.mark.parametrize("path", ["GOAL.md", "/tmp/../GOAL.md", "/"])  # noqa: S108 - never opened
    def test_a_path_that_is_not_absolute_and_plain_is_refused(self, path: str, tmp_path: Path) -> None:
        with pytest.raises(InvalidRequest, match="absolute"):
            publish(type(tmp_path)(path), to(b""))

    @pytest.mark.parametrize(
        ("kind", "reason_code"),
        [
            ("symlink", "document_is_link"),
            ("dangling symlink", "document_is_link"),
            ("hard link", "document_has_links"),
            ("fifo", "document_is_no_file"),
            ("socket", "document_is_no_file"),
            ("directory", "document_is_no_file"),
        ],
    )
    def test_what_is_no_plain_file_is_refused_at_once(self, document: Path, kind: str, reason_code: str) -> None:
        aside = document.parent / "aside"
        match kind:
            case "symlink":
                document.rename(aside)
                document.symlink_to(aside)
            case "dangling symlink":
                document.unlink()
                document.symlink_to(aside)
            case "hard link":
                aside.hardlink_to(document)
            case "fifo":
                document.unlink()
                os.mkfifo(document)
            case "socket":
                document.unlink()
                with socket.socket(socket.AF_UNIX) as listener:
                    listener.bind(os.path.relpath(document))
            case "directory":
                document.unlink()
                document.mkdir()
        before = names(document.parent), document.lstat()

        refusal = refused(document, reason_code)

        assert refusal.facts["path"] == str(document)
        assert (names(document.parent), document.lstat().st_ino) == (before[0], before[1].st_ino)
        assert not aside.exists() or aside.read_bytes() == b"old\n"

    def test_a_device_is_refused_and_never_opened(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        opened: list[Any] = []
        real = os.open

        def watching(name: Any, *arguments: Any, **named: Any) -> int:
            opened.append(name)
            return real(name, *arguments, **named)

        monkeypatch.setattr(document_place.Place, "_lock", lambda _: False)
        monkeypatch.setattr(os, "open", watching)

        refused(type(tmp_path)("/dev/null"), "document_is_no_file")

        assert opened == ["/", "dev", "."]

    def test_a_directory_that_is_a_link_is_refused_and_its_real_path_is_not(
        self, document: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "link").symlink_to(document.parent)

        refusal = refused(tmp_path / "link" / "GOAL.md", "document_is_link")

        assert f"{tmp_path / 'link'} is a link" in str(refusal)

    def test_what_is_too_large_is_refused_on_both_sides(self, document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(snapshot, "DOCUMENT_BYTES_MAX", 4)
        refused_merge = pytest.raises(NotPublished, match="at most 4 bytes")
        with refused_merge:
            publish(document, to(b"12345"))
        document.write_bytes(b"12345")
        refused(document, "document_too_large")
        with pytest.raises(NotPublished, match="at most 4 bytes"):
            create_file(document.with_name("NEW.md"), b"12345")

    def test_no_refusal_quotes_the_document(self, document: Path) -> None:
        document.write_bytes(b"secret words\n")
        with Calls(at_call("pread", failing(errno.EIO))).watched():
            refusal = refused(document, "document_write_failed")

        assert "secret" not in f"{refusal} {refusal.facts}"
        assert refusal.facts["error_code"] == "EIO"


class TestLinksInsideTheWorkspace:
    def test_links_that_stay_inside_are_followed(self, document: Path) -> None:
        workspace = document.parent
        (workspace / "docs").mkdir()
        (workspace / "docs" / "link.md").symlink_to("../GOAL.md")
        (workspace / "more").symlink_to("docs")

        done = publish(workspace / "more" / "link.md", to(b"new\n"), follow_within=workspace)

        assert done.path == document
        assert document.read_bytes() == b"new\n"
        assert (workspace / "docs" / "link.md").is_symlink()

    def test_links_that_lead_out_are_refused(self, document: Path, tmp_path: Path) -> None:
        (tmp_path / "outside.md").write_bytes(b"theirs\n")
        link = document.parent / "link.md"
        link.symlink_to(tmp_path / "outside.md")

        refused(link, "document_outside_workspace", follow_within=document.parent)
        refused(tmp_path / "outside.md", "document_outside_workspace", follow_within=document.parent)

        assert (tmp_path / "outside.md").read_bytes() == b"theirs\n"

    def test_a_directory_that_becomes_a_link_after_it_was_resolved_is_not_followed(
        self, document: Path, tmp_path: Path
    ) -> None:
        inside, outside = document.parent / "docs", tmp_path / "outside"
        for made in (inside, outside):
            made.mkdir()
            (made / "GOAL.md").write_bytes(b"old\n")

        def swap() -> None:
            inside.rename(tmp_path / "aside")
            inside.symlink_to(outside)

        with Calls(at_call("open", swap)).watched():
            refused(inside / "GOAL.md", "document_is_link", follow_within=document.parent)

        assert (outside / "GOAL.md").read_bytes() == b"old\n"


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


class TestMovedDirectory:
    """security.md row 10: the directory of the path is swapped for another."""

    @pytest.mark.parametrize("moment", [("pwrite", 1), ("exchange_names", 1), ("unlink", 1)])
    @pytest.mark.parametrize("swap", ["symlink", "directory", "nothing"])
    def test_nothing_is_written_where_the_path_leads_now(
        self, document: Path, tmp_path: Path, moment: tuple[str, int], swap: str
    ) -> None:
        folder, aside, other = document.parent, tmp_path / "aside", tmp_path / "other"
        other.mkdir()
        (other / "GOAL.md").write_bytes(b"victim\n")

        def act() -> None:
            folder.rename(aside)
            match swap:
                case "symlink":
                    folder.symlink_to(other)
                case "directory":
                    other.rename(folder)

        with Calls(at_call(moment[0], act)).watched(), pytest.raises(Overtaken) as refusal:
            publish(document, to(b"new\n"))

        assert refusal.value.facts["reason_code"] == "document_moved"
        published = moment[0] != "pwrite"
        assert refusal.value.facts["outcome"] == ("unknown" if published else "refused")
        assert (aside / "GOAL.md").read_bytes() == (b"new\n" if published else b"old\n")
        assert (folder if swap == "directory" else other).joinpath("GOAL.md").read_bytes() == b"victim\n"
        assert names(aside) == ["GOAL.md"]


class TestCreate:
    """LX-126, LX-147: what is made is private, and never in the place of anything."""

    @pytest.mark.parametrize("umask", [0, 0o077, 0o777])
    def test_a_new_document_has_mode_0600_whatever_the_umask(self, folder: Path, umask: int) -> None:
        """security.md row 32."""
        before = os.umask(umask)
        try:
            done = create_file(folder / "GOAL.md", b"new\n")
        finally:
            os.umask(before)

        assert done.status == "created"
        assert (folder / "GOAL.md").read_bytes() == b"new\n"
        assert stat.S_IMODE((folder / "GOAL.md").stat().st_mode) == 0o600
        assert names(folder) == ["GOAL.md"]

    @pytest.mark.parametrize("kind", ["file", "dangling symlink", "directory"])
    def test_what_is_there_wins(self, folder: Path, kind: str) -> None:
        path = folder / "GOAL.md"
        match kind:
            case "file":
                path.write_bytes(b"theirs\n")
            case "dangling symlink":
                path.symlink_to(folder / "nowhere")
            case "directory":
                path.mkdir()
        before = path.lstat()

        with pytest.raises(NotPublished) as refusal:
            create_file(path, b"ours\n")

        assert refusal.value.facts["reason_code"] == "document_exists"
        assert path.lstat() == before
        assert names(folder) == ["GOAL.md"]

    @pytest.mark.parametrize("supported", [True, False])
    def test_what_came_at_the_last_moment_wins(self, folder: Path, *, supported: bool) -> None:
        path = folder / "GOAL.md"

        def act(_: int, called: str) -> None:
            if called == "rename_to_free_name" and not supported:
                failing(errno.EINVAL)()
            if called == ("rename_to_free_name" if supported else "link"):
                path.write_bytes(b"theirs\n")

        with Calls(act).watched(), pytest.raises(NotPublished, match="stays as it is"):
            create_file(path, b"ours\n")

        assert path.read_bytes() == b"theirs\n"
        assert names(folder) == ["GOAL.md"]

    def test_without_the_call_a_link_does_it(self, folder: Path) -> None:
        with Calls(at_call("rename_to_free_name", failing(errno.ENOSYS))).watched():
            assert create_file(folder / "GOAL.md", b"new\n").status == "created"

        assert (folder / "GOAL.md").stat().st_nlink == 1
        assert names(folder) == ["GOAL.md"]

    def test_a_directory_that_failed_to_sync_leaves_a_whole_file_of_unknown_durability(self, folder: Path) -> None:
        path = folder / "GOAL.md"
        with (
            Calls(at_call("fsync", failing(errno.EIO), time=2)).watched(),
            pytest.raises(NotPublished, match="again") as refusal,
        ):
            create_file(path, b"new\n")

        assert refusal.value.facts["outcome"] == "unknown"
        assert publish(path, to(b"new\n")).status == "current"

    def test_restored_bytes_survive_a_thousand_races(self, folder: Path) -> None:
        """security.md row 11: another writer restores the file during the publication, 1,000 times."""
        path = folder / "GOAL.md"
        restored = 0
        turns = threading.Barrier(2)

        def restore() -> None:
            nonlocal restored
            for _ in range(1000):
                turns.wait(timeout=30)
                with contextlib.suppress(FileExistsError), path.open("xb") as file:
                    file.write(b"theirs\n")
                    restored += 1
                turns.wait(timeout=30)

        other = threading.Thread(target=restore)
        other.start()
        with pytest.MonkeyPatch.context() as patch:
            skip_syncs(patch)
            for _ in range(1000):
                before = restored
                turns.wait(timeout=30)
                try:
                    create_file(path, b"ours\n")
                    created = True
                except NotPublished:
                    created = False
                turns.wait(timeout=30)
                assert created != (restored > before)
                assert path.read_bytes() == (b"ours\n" if created else b"theirs\n")
                path.unlink()
        other.join()
        assert names(folder) == []


class TestWithoutExchange:
    """File systems whose names cannot trade places: the last look decides, and the answer says so."""

    @pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP])
    def test_the_document_is_replaced_and_the_answer_says_how(self, document: Path, number: int) -> None:
        with Calls(at_call("exchange_names", failing(number))).watched():
            done = publish(document, to(b"new\n"))

        assert (done.status, done.guarded) == ("published", False)
        assert document.read_bytes() == b"new\n"
        assert names(document.parent) == ["GOAL.md"]

    @pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
    def test_an_exchange_that_fails_is_no_file_system_without_it(self, document: Path, number: int) -> None:
        with Calls(at_call("exchange_names", failing(number))).watched():
            refused(document, "document_write_failed")

        assert document.read_bytes() == b"old\n"
        assert names(document.parent) == ["GOAL.md"]

    def test_a_save_before_the_last_look_is_merged_all_the_same(self, document: Path) -> None:
        saves = [b"theirs\n"]

        def never(_: int, called: str) -> None:
            if called == "exchange_names":
                failing(errno.EINVAL)()

        def merge(data: bytes) -> bytes:
            while saves:
                replace_save(document, saves.pop())
            return data + b"ours\n"

        with Calls(never).watched():
            publish(document, merge)

        assert document.read_bytes() == b"theirs\nours\n"

    def test_a_failed_sync_is_an_unknown_outcome(self, document: Path) -> None:
        def act(_: int, called: str) -> None:
            if called == "exchange_names":
                calls.before = at_call("fsync", failing(errno.EIO))
                failing(errno.EINVAL)()

        calls = Calls(act)
        with calls.watched(), pytest.raises(NotPublished) as refusal:
            publish(document, to(b"new\n"))

        assert refusal.value.facts["outcome"] == "unknown"
        assert document.read_bytes() == b"new\n"

    def test_a_c_library_without_the_call_is_a_system_without_it(
        self, document: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
        linux_calls._c_renameat2.cache_clear()
        try:
            assert not publish(document, to(b"new\n")).guarded
        finally:
            linux_calls._c_renameat2.cache_clear()


class TestFailures:
    """Each call fails once, with each error: old bytes or new ones, never a half, nothing left, and a refusal."""

    @pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
    def test_replace(self, document: Path, number: int) -> None:
        os.setxattr(document, "user.stateward.test", b"kept")
        last = sweep(lambda: publish(document, to(b"new\n")), document, b"old\n", number)
        assert last > 40

    @pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
    def test_current(self, document: Path, number: int) -> None:
        sweep(lambda: publish(document, to(b"old\n")), document, b"old\n", number)

    @pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
    def test_create(self, document: Path, number: int) -> None:
        sweep(lambda: create_file(document, b"new\n"), document, None, number)

    def test_a_short_write_is_found_before_anything_is_replaced(
        self, document: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as lying:
            lying.setattr(os, "pwrite", lambda _, data, __: len(data))
            refused(document, "document_write_failed")

        assert document.read_bytes() == b"old\n"
        assert names(document.parent) == ["GOAL.md"]


def sweep(call: Callable[[], object], document: Path, old: bytes | None, number: int) -> int:
    """Let each call of a publication fail in turn, until one finishes without meeting its fault."""
    for at in range(300):
        if old is None:
            document.unlink(missing_ok=True)
        else:
            document.write_bytes(old)
        calls = Calls(once(at, failing(number), but_not={"sleep", "close what was read"}))
        outcome = ""
        with calls.watched():
            try:
                call()
            except NotPublished as refusal:
                outcome = str(refusal.facts["outcome"])
        found = document.read_bytes() if document.exists() else None
        where = f"call {at}, {calls.names[at : at + 1]}"
        match outcome:
            case "refused":
                assert found == old, where
            case "unknown":
                assert found in (old, b"new\n"), where
            case _:
                assert found in (b"new\n", old) if old == b"old\n" else found == b"new\n", where
        if at < len(calls.names) and calls.names[at] in ("unlink", "stat", "open", "fstat", "listxattr", "getxattr"):
            # What could not be removed or looked at is left to the next publication.
            publish(document, to(b"old\n")) if document.exists() else create_file(document, b"old\n")
        assert names(document.parent) == (["GOAL.md"] if document.exists() else []), where
        if at >= len(calls.names):
            return at
    pytest.fail("a publication does not come to an end")


class TestCrash:
    """Killed before each call: the document is old or new, and the next publication clears up."""

    def test_replace(self, document: Path) -> None:
        for at in range(300):
            document.write_bytes(b"old\n")
            calls = Calls(killing(at))
            with calls.watched(), contextlib.suppress(Killed):
                publish(document, to(b"new\n"))

            assert document.read_bytes() in (b"old\n", b"new\n")
            assert publish(document, to(b"next\n")).kept == ()
            assert names(document.parent) == ["GOAL.md"]
            if at > len(calls.names):
                return
        pytest.fail("a publication does not come to an end")

    @pytest.mark.parametrize("supported", [True, False])
    def test_create(self, folder: Path, *, supported: bool) -> None:
        path = folder / "GOAL.md"
        for at in range(300):
            path.unlink(missing_ok=True)
            kill = killing(at)

            def before(number: int, called: str, kill: Callable[[int, str], None] = kill) -> None:
                kill(number, called)
                if called == "rename_to_free_name" and not supported:
                    failing(errno.EINVAL)()

            calls = Calls(before)
            with calls.watched(), contextlib.suppress(Killed):
                create_file(path, b"new\n")

            if path.exists():
                assert path.read_bytes() == b"new\n"
                assert publish(path, to(b"next\n")).kept == ()
            else:
                assert create_file(path, b"next\n").kept == ()
            assert names(folder) == ["GOAL.md"]
            if at > len(calls.names):
                return
        pytest.fail("a publication does not come to an end")

    def test_a_save_that_was_out_when_we_were_killed_is_kept_and_named(self, document: Path) -> None:
        exchanges = 0

        def act(_: int, called: str) -> None:
            nonlocal exchanges
            if called == "exchange_names":
                exchanges += 1
                if exchanges == 1:
                    replace_save(document, b"theirs\n")
            if exchanges == 2:
                raise Killed

        with Calls(act).watched(), contextlib.suppress(Killed):
            publish(document, to(b"new\n"))

        for _ in range(2):
            (kept,) = publish(document, to(b"next\n")).kept
            assert (document.parent / kept).read_bytes() == b"theirs\n"

    def test_files_of_others_are_not_ours_to_clear(self, document: Path) -> None:
        theirs = [".stateward-notes", "x.tmp", ".stateward-.hidden"]
        for name in theirs:
            (document.parent / name).write_bytes(b"theirs\n")

        publish(document, to(b"new\n"))

        assert names(document.parent) == sorted(["GOAL.md", *theirs])


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
