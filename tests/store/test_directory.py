"""Names in a store directory: what is opened, what is refused, what is left behind."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
from typing import TYPE_CHECKING

import pytest

from stateward_engine.errors import CorruptStore, StoreUnavailable
from stateward_engine.store import directory as directory_module
from stateward_engine.store import linux_calls
from stateward_engine.store.directory import Directory
from stateward_engine.store.store import open_store
from store.planted import kept, put
from strangers import give_away

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

OWNED = ["FORMAT", "lock", "journal/000001.log"]


@pytest.fixture
def any_umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0)
    os.umask(before)
    yield os.umask
    os.umask(before)


@pytest.fixture
def made(place: Path) -> Path:
    """A closed store that holds one key."""
    with open_store(place) as store:
        store.commit_now(put("kept", 1))
    return place


def tree(place: Path) -> dict[str, bytes]:
    """Every regular file and its bytes, except the lock, which says who looked."""
    files = [path for path in place.rglob("*") if path.name != "lock" and not path.is_symlink() and path.is_file()]
    return {str(path.relative_to(place)): path.read_bytes() for path in files}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_new_directories_are_0700_and_new_files_0600_whatever_the_umask(
    place: Path, any_umask: Callable[[int], int], umask: int
) -> None:
    """security.md row 32."""
    any_umask(umask)
    deep = place / "parents" / "made" / "too"
    open_store(deep).close()

    directories = [path for path in place.rglob("*") if path.is_dir()]
    assert {mode(path) for path in [place, *directories]} == {0o700}
    assert {mode(deep / name) for name in OWNED} == {0o600}


def test_every_descriptor_is_closed_on_exec(place: Path) -> None:
    """security.md row 28."""
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names only
    with open_store(place):
        opened = {int(name) for name in os.listdir("/proc/self/fd")} - {int(name) for name in before}  # noqa: PTH208
        alive = [descriptor for descriptor in opened if os.path.exists(f"/proc/self/fd/{descriptor}")]  # noqa: PTH110
        assert alive
        assert not any(os.get_inheritable(descriptor) for descriptor in alive)


@pytest.mark.parametrize(
    # A reader does not open the lock.
    ("name", "read_only"),
    [*((name, False) for name in OWNED), ("FORMAT", True), ("journal/000001.log", True)],
)
@pytest.mark.parametrize("kind", ["symlink", "hard link", "fifo", "socket", "directory", "open to others"])
def test_a_name_that_is_no_private_file_is_refused_at_once(
    made: Path, name: str, kind: str, *, read_only: bool
) -> None:
    """security.md rows 7, 8, 9: nothing is followed, nothing hangs, nothing is changed."""
    target = made / name
    aside = made.parent / "aside"
    match kind:
        case "symlink":
            target.rename(aside)
            target.symlink_to(aside)
        case "hard link":
            aside.hardlink_to(target)
        case "fifo":
            target.unlink()
            os.mkfifo(target, 0o600)
        case "socket":
            target.unlink()
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(os.path.relpath(target))
        case "directory":
            target.unlink()
            target.mkdir(0o700)
        case "open to others":
            target.chmod(0o640)
    before = tree(made)

    with pytest.raises(StoreUnavailable, match="is refused") as refusal:
        open_store(made, read_only=read_only)

    assert refusal.value.facts["file"] == str(target)
    assert tree(made) == before


@pytest.mark.parametrize("name", ["", "journal", *OWNED])
def test_a_name_of_another_user_is_refused(made: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    give_away(made / name, monkeypatch)

    with pytest.raises(StoreUnavailable, match="belongs to another user"):
        open_store(made)


@pytest.mark.parametrize("name", ["", "journal"])
@pytest.mark.parametrize("others", [0o020, 0o002])
def test_a_directory_that_others_may_write_to_is_refused(made: Path, name: str, others: int) -> None:
    (made / name).chmod(0o700 | others)

    with pytest.raises(StoreUnavailable, match="chmod 700"):
        open_store(made)


@pytest.mark.parametrize("name", ["", "journal"])
def test_a_symlink_to_a_directory_is_refused(made: Path, name: str) -> None:
    aside = made.parent / "aside"
    (made / name).rename(aside)
    (made / name).symlink_to(aside)

    with pytest.raises(StoreUnavailable, match="is refused"):
        open_store(made)


def test_a_store_at_a_dangling_symlink_is_refused_and_not_made_at_its_target(place: Path) -> None:
    place.symlink_to(place.parent / "elsewhere")

    with pytest.raises(StoreUnavailable):
        open_store(place)

    assert not (place.parent / "elsewhere").exists()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_directory_with_foreign_content_is_refused_and_stays_as_it_was(place: Path, *, read_only: bool) -> None:
    place.mkdir(0o700)
    (place / "thesis.txt").write_text("mine")

    with pytest.raises(StoreUnavailable, match="choose an empty or a new directory"):
        open_store(place, read_only=read_only)

    assert [path.name for path in place.iterdir()] == ["thesis.txt"]


def mounted_as(patch: pytest.MonkeyPatch, kind: str | None) -> None:
    patch.setattr(linux_calls, "file_system_of", lambda _: kind)


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse", "fuse.sshfs", "fuseblk"])
def test_a_file_system_that_machines_share_is_refused_unless_it_is_allowed(
    place: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """store.md section 4: where a lock may not keep out a second daemon, nothing is written."""
    mounted_as(monkeypatch, kind)
    with pytest.raises(StoreUnavailable, match="STATEWARD_STORE_FILE_SYSTEM=any") as refusal:
        open_store(place)

    assert refusal.value.facts["reason_code"] == "shared_file_system"
    assert list(place.iterdir()) == []
    open_store(place, any_file_system=True).close()
    open_store(place, read_only=True).close()


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "fusectl", None])
def test_a_file_system_of_this_machine_and_an_unknown_one_are_not_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch, kind: str | None
) -> None:
    mounted_as(monkeypatch, kind)

    open_store(place).close()


def test_the_kernel_tells_the_file_system_of_a_descriptor() -> None:
    with open("/proc/self/status", "rb") as file:  # noqa: PTH123 - its descriptor is what counts
        assert linux_calls.file_system_of(file.fileno()) == "proc"
        closed = file.fileno()
    assert linux_calls.file_system_of(closed) is None


def test_an_unknown_format_is_refused_with_its_bytes_kept(made: Path) -> None:
    """SF-194: unsupported store formats fail with an actionable message and leave bytes as they were."""
    (made / "FORMAT").write_bytes(b"stateward store 2\n")
    before = tree(made)

    with pytest.raises(CorruptStore, match="use the version that wrote it"):
        open_store(made)

    assert tree(made) == before


@pytest.mark.parametrize("missing", ["journal/000001.log", "journal"])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_missing_journal_beside_a_format_file_is_never_a_first_start(
    made: Path, missing: str, *, read_only: bool
) -> None:
    (made / missing).rename(made.parent / "aside")

    with pytest.raises(CorruptStore, match="is missing") as refusal:
        open_store(made, read_only=read_only)

    assert refusal.value.facts["file"] == "journal"
    assert not (made / missing).exists()


def test_a_missing_format_beside_a_used_journal_is_never_a_first_start(made: Path) -> None:
    (made / "FORMAT").unlink()
    before = tree(made)

    with pytest.raises(CorruptStore, match="FORMAT is missing"):
        open_store(made)

    assert tree(made) == before


def test_a_journal_of_a_later_version_is_refused(made: Path) -> None:
    (made / "journal" / "v2.log").touch(0o600)

    with pytest.raises(CorruptStore, match="does not know") as refusal:
        open_store(made)

    assert refusal.value.facts["file"] == "journal/v2.log"


def test_a_failed_start_gives_back_its_descriptors_and_the_lock(made: Path) -> None:
    (made / "FORMAT").rename(made / "aside")
    before = os.listdir("/proc/self/fd")  # noqa: PTH208 - names only
    with pytest.raises(StoreUnavailable):
        open_store(made)
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208

    (made / "aside").rename(made / "FORMAT")
    with open_store(made) as store:
        assert kept(store.view) == {"kept": 1}


def test_a_shortage_of_descriptors_is_no_verdict_on_the_store(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with monkeypatch.context() as shortage:
        shortage.setattr(os, "open", refuse)
        with pytest.raises(StoreUnavailable, match="Too many open files"):
            open_store(made)

    open_store(made).close()


class TestWriteFile:
    """Temporary files are verified before they are renamed (store.md section 3)."""

    @pytest.fixture
    def directory(self, tmp_path: Path) -> Iterator[Directory]:
        with contextlib.closing(Directory.open(tmp_path / "d", create=True)) as opened:
            yield opened

    def test_a_file_is_replaced_by_a_new_inode_with_exactly_the_bytes(self, directory: Directory) -> None:
        directory.write_file("name", b"old")
        inode = (directory.path / "name").stat().st_ino

        directory.write_file("name", b"new" * 1000)

        assert directory.read("name") == b"new" * 1000
        assert (directory.path / "name").stat().st_ino != inode
        assert directory.names() == ["name"]

    def test_more_than_one_call_can_take_is_written_piece_by_piece(
        self, directory: Directory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(directory_module, "COPY_BYTES_MAX", 7)

        directory.write_file("name", bytes(range(256)))

        assert directory.read("name") == bytes(range(256))

    def test_a_leftover_temporary_file_is_no_hindrance(self, directory: Directory) -> None:
        (directory.path / "name.tmp").write_bytes(b"half")

        directory.write_file("name", b"whole")

        assert directory.names() == ["name"]

    def test_a_copy_that_reads_back_wrong_never_gets_the_name(
        self, directory: Directory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        directory.write_file("name", b"old")
        monkeypatch.setattr(os, "pread", lambda *_: b"???")

        with pytest.raises(OSError, match="read back"):
            directory.write_file("name", b"new")

        assert directory.read("name") == b"old"
