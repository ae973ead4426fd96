"""The store's directories: everything in them is opened through one descriptor and checked before it is used.

Nobody but the owner may be able to change the store, or to make it change something else. So a name in it is an owned
regular file with one link, or an owned directory, and anything else is refused: symlinks, hard links, FIFOs, devices.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING, Final

from stateward_engine.errors import StoreUnavailable
from stateward_engine.store import linux_calls
from stateward_engine.store.disk_file import DiskFile, give_back, write_durably

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Self

DIRECTORY_MODE: Final = 0o700
FILE_MODE: Final = 0o600
TEMPORARY_SUFFIX: Final = ".tmp"
# One call cannot write more than 2 GiB, and what is read back is held in memory beside what was written.
COPY_BYTES_MAX: Final = 64 * 2**20

# Where a lock may not keep out another machine's daemon, and a sync may not reach a disk: NFS, SMB, 9p and FUSE.
_SHARED_FILE_SYSTEMS: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "fuseblk", "fuse"})

_DIRECTORY_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a FIFO that someone put there would wait forever. It does nothing to a regular file.
_FILE_FLAGS: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# What the kernel answers when a symlink, a socket, a device or a thing of the other kind stands at a name.
_WRONG_KIND: Final = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO, errno.ENODEV})


class Directory:
    """An open directory of the store; a context manager that closes it.

    Attributes:
        path: Where it was when it was opened, for messages; nothing is opened by it afterwards.
    """

    def __init__(self, descriptor: int, path: Path) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: Path, *, create: bool) -> Directory:
        """Open the directory at `path`; with `create`, make it and its missing parents first, with mode 0700.

        Raises:
            FileNotFoundError: There is none, and `create` is false.
            StoreUnavailable: A symlink, no directory, another owner, or others may write to it.

        Source: security.md rows 1, 7 and 32.
        """
        if create:
            _make_with_parents(path)
        with _refusing_wrong_kinds(path):
            descriptor = os.open(path, _DIRECTORY_FLAGS)
        return cls._proven(descriptor, path)

    @classmethod
    def _proven(cls, descriptor: int, path: Path) -> Directory:
        """Return the directory of a descriptor, which it owns from here on, even when it refuses it."""
        directory = cls(descriptor, path)
        try:
            _demand_own_directory(os.fstat(descriptor), path)
        except BaseException:
            directory.close()
            raise
        return directory

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptor back; a second call does nothing."""
        if self._descriptor >= 0:
            give_back(self._descriptor)
            self._descriptor = -1

    def demand_local(self) -> None:
        """Raise `StoreUnavailable` when its file system may be shared with other machines.

        Source: store.md section 4.
        """
        file_system = linux_calls.file_system_of(self._descriptor)
        if file_system is not None and file_system.partition(".")[0] in _SHARED_FILE_SYSTEMS:
            raise StoreUnavailable(
                f"{self.path} is on {file_system}, where a lock may not keep out a daemon on another machine; choose "
                "a store on a local disk, or set STATEWARD_STORE_FILE_SYSTEM=any if no other machine uses this one",
                reason_code="shared_file_system",
                file=str(self.path),
            )

    def names(self) -> list[str]:
        """Return the names in it, sorted."""
        return sorted(os.listdir(self._descriptor))  # noqa: PTH208 - a descriptor is no path

    def subdirectory(self, name: str, *, create: bool = False) -> Directory:
        """Open a directory in this one; with `create`, make it first unless it is there, and make its name durable.

        Raises:
            FileNotFoundError: There is none, and `create` is false.
            StoreUnavailable: As for `open`.
        """
        path = self.path / name
        if create:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, DIRECTORY_MODE, dir_fd=self._descriptor)
            # Also for one that was there: whoever made it may have been killed before this line.
            self.sync()
        with _refusing_wrong_kinds(path):
            descriptor = os.open(name, _DIRECTORY_FLAGS, dir_fd=self._descriptor)
        return self._proven(descriptor, path)

    def open_file(self, name: str, flags: int) -> int:
        """Return a descriptor of the file `name`, opened with `flags`; one that `O_CREAT` makes has mode 0600.

        Raises:
            FileNotFoundError: There is none, and the flags do not create it.
            StoreUnavailable: Not a regular file of this user alone, with one name and mode 0600.

        Source: security.md rows 7, 8, 9, 28 and 32.
        """
        path = self.path / name
        with _refusing_wrong_kinds(path):
            descriptor = os.open(name, flags | _FILE_FLAGS, FILE_MODE, dir_fd=self._descriptor)
        try:
            _demand_own_file(os.fstat(descriptor), path)
            if flags & os.O_CREAT:
                # The umask may have taken bits that the owner needs; it cannot have added any.
                os.fchmod(descriptor, FILE_MODE)
        except BaseException:
            give_back(descriptor)
            raise
        return descriptor

    def read(self, name: str) -> bytes | None:
        """Return the whole content of a file, or `None` when there is none."""
        try:
            descriptor = self.open_file(name, os.O_RDONLY)
        except FileNotFoundError:
            return None
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor is no path
            return file.read()

    def write_file(self, name: str, data: bytes) -> None:
        """Make `name` hold exactly `data`, durably, in a new inode; until then it holds what it held before.

        Raises:
            OSError: The first failing call; `name` is untouched unless only the last step, syncing the directory,
                failed.
        """
        self.place_file(name, data)
        self.sync()

    def place_file(self, name: str, data: bytes, *, previous: str | None = None) -> None:
        """Do as `write_file`, except for the last step: a crash before `sync` may bring the old content back.

        The copy is synced and read back under another name, so that a bad copy never replaces a good file.

        Args:
            name: Of the file.
            data: Its whole content.
            previous: The name that the file it replaces gets, where the file system can let two names trade places.
        """
        temporary = name + TEMPORARY_SUFFIX
        self.remove(temporary)
        with contextlib.closing(DiskFile(self.open_file(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL))) as file:
            for offset in range(0, len(data), COPY_BYTES_MAX):
                write_durably(file, data[offset : offset + COPY_BYTES_MAX], offset)
        if previous is not None and self._exchange(temporary, name):
            self.rename(temporary, previous)
        else:
            self.rename(temporary, name)

    def _exchange(self, one: str, other: str) -> bool:
        """Let two names trade places; `False` where one is not there or the file system cannot do it."""
        try:
            linux_calls.exchange_names(self._descriptor, one, other)
        except FileNotFoundError:
            return False
        except OSError as error:
            if linux_calls.is_unsupported(error):
                return False
            raise
        return True

    def rename(self, old: str, new: str) -> None:
        """Give a file another name, in the place of what has it."""
        os.rename(old, new, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        """Take a file away, if it is there."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._descriptor)

    def reserve(self, name: str, length: int) -> None:
        """Let a file hold `length` bytes of the disk, whatever they are.

        Raises:
            OSError: There is no room for them.
        """
        descriptor = self.open_file(name, os.O_RDWR | os.O_CREAT)
        try:
            if os.fstat(descriptor).st_size < length:
                os.posix_fallocate(descriptor, 0, length)
        finally:
            give_back(descriptor)

    def sync(self) -> None:
        """Make the names in it durable."""
        os.fsync(self._descriptor)

    def sync_parents(self) -> None:
        """Make its own name durable, and the names of all directories above it.

        A start that was killed may have made them and not come to that.
        """
        for parent in self.path.parents:
            # Who may not read a directory has not made it.
            with contextlib.suppress(PermissionError):
                _sync_directory(parent)


def _make_with_parents(path: Path) -> None:
    """Make every missing directory of `path` with mode 0700, and each name durable."""
    if path.is_symlink() or path.exists():
        return
    _make_with_parents(path.parent)
    # Another process that starts at the same time may win; the lock decides later which of us serves.
    with contextlib.suppress(FileExistsError):
        path.mkdir(DIRECTORY_MODE)
    _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        give_back(descriptor)


@contextlib.contextmanager
def _refusing_wrong_kinds(path: Path) -> Iterator[None]:
    """Turn the kernel's errors about a name that is no plain file or directory into a refusal."""
    try:
        yield
    except OSError as error:
        if error.errno not in _WRONG_KIND:
            raise
        raise _unsafe(path, "it is a link, a device or of another kind; move it away") from error


def _demand_own_directory(found: os.stat_result, path: Path) -> None:
    _demand_owner(found, path)
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise _unsafe(path, "other users may write to it; run chmod 700 on it")


def _demand_own_file(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise _unsafe(path, "it is no regular file; move it away")
    _demand_owner(found, path)
    if found.st_nlink != 1:
        raise _unsafe(path, "it has more than one name (hard links); replace it by a copy of its own")
    if stat.S_IMODE(found.st_mode) & ~FILE_MODE:
        raise _unsafe(path, "other users may open it; run chmod 600 on it")


def _demand_owner(found: os.stat_result, path: Path) -> None:
    if found.st_uid != os.geteuid():
        raise _unsafe(path, "it belongs to another user; start as its owner or choose another store")


def _unsafe(path: Path, why: str) -> StoreUnavailable:
    return StoreUnavailable(f"{path} is refused: {why}", file=str(path))
