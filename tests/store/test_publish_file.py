"""One publication: what it does to a document, what it refuses, and what it makes of a name that is free."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
import threading
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from stateward_engine.errors import InvalidRequest, NotPublished, Overtaken
from stateward_engine.store import document_place, linux_calls, snapshot
from stateward_engine.store.publish_file import Publication, create_file
from store.planted_calls import Calls, at_call, failing
from store.publications import ERRORS, add, names, publish, refused, replace_save, skip_syncs, to

if TYPE_CHECKING:
    from pathlib import Path


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
        os.setxattr(document, "user.stateward.test", b"kept")
        document.chmod(mode)
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
