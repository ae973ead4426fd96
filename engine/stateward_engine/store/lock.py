"""The life lock: who has it is the only process that writes to the store.

The file `lock` is never deleted, because a lock on a deleted file would not exclude the next comer. It also announces
the holder: one JSON object, padded with spaces and a newline to `ANNOUNCEMENT_BYTES`. The size never changes and one
call replaces all of it, so a reader sees an old or a new announcement and never a torn one. A killed holder leaves its
announcement behind: only the lock itself says whether someone holds it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from typing import TYPE_CHECKING, Final

from stateward_engine.errors import StoreUnavailable, TooLarge
from stateward_engine.store.disk_file import give_back

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Self

    from stateward_engine.store.directory import Directory

LOCK_NAME: Final = "lock"
# Where clients that start a daemon take turns, before there is a store; not a foreign file to it.
STARTER_LOCK_NAME: Final = "start.lock"
# Room for a socket path of 107 bytes and the rest. One full of control characters, each an escape of six, is refused.
ANNOUNCEMENT_BYTES: Final = 512


class Lock:
    """The held life lock of a store."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self._path = os.fspath(path)
        self._file = os.fstat(descriptor)

    @classmethod
    def acquire(cls, directory: Directory) -> Self:
        """Take the lock of a store and announce this process, without waiting.

        Raises:
            StoreUnavailable: Another process holds it; the fact `pid` names that process if it has announced itself.

        Source: store.md section 4, daemon.md section 3.
        """
        descriptor = directory.open_file(LOCK_NAME, os.O_RDWR | os.O_CREAT)
        try:
            _take(descriptor, directory, fcntl.LOCK_EX)
            lock = cls(descriptor, directory.path / LOCK_NAME)
            # At once, so that nobody is told the process id of the holder before us.
            lock.announce(pid=os.getpid())
        except BaseException:
            give_back(descriptor)
            raise
        return lock

    @staticmethod
    @contextlib.contextmanager
    def shared(directory: Directory) -> Iterator[None]:
        """Keep writers out while this process reads, without waiting; other readers may come in.

        A directory without a lock file has never had a writer.

        Raises:
            StoreUnavailable: As for `acquire`.
        """
        try:
            descriptor = directory.open_file(LOCK_NAME, os.O_RDONLY)
        except FileNotFoundError:
            yield
            return
        try:
            _take(descriptor, directory, fcntl.LOCK_SH)
            yield
        finally:
            give_back(descriptor)

    def announce(self, *, pid: int, socket: str | None = None, version: str | None = None) -> None:
        """Tell others who holds the store and where it listens.

        Raises:
            TooLarge: It does not fit `ANNOUNCEMENT_BYTES`.
        """
        members = {"pid": pid, "socket": socket, "version": version}
        text = json.dumps({name: value for name, value in members.items() if value is not None}, ensure_ascii=False)
        # Through the encoding of the file system: a path need not be valid UTF-8.
        line = os.fsencode(text)
        if len(line) >= ANNOUNCEMENT_BYTES:
            raise TooLarge(
                "the announcement does not fit the lock file; choose a shorter socket path", limit="announcement_bytes"
            )
        self._write(line)

    def is_in_place(self) -> bool:
        """Tell whether the lock file still stands where the store is: if not, the next comer locks another one.

        Also false once the directory of the store was moved away: what is written then is not in the store.
        """
        if self._descriptor < 0:
            return False
        try:
            found = os.stat(self._path)  # noqa: PTH116 - asked twice for each commit, and a `Path` costs half as much again
        except FileNotFoundError:
            return False
        return os.path.samestat(found, self._file)

    def release(self) -> None:
        """Withdraw the announcement and let the next process in; a second call does nothing."""
        if self._descriptor < 0:
            return
        try:
            with contextlib.suppress(OSError):
                self._write(b"{}")
        finally:
            give_back(self._descriptor)
            self._descriptor = -1

    def _write(self, line: bytes) -> None:
        os.pwrite(self._descriptor, line.ljust(ANNOUNCEMENT_BYTES - 1) + b"\n", 0)


def _take(descriptor: int, directory: Directory, kind: int) -> None:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise _held_by(_announced_pid(descriptor), directory) from error


def _announced_pid(descriptor: int) -> int | None:
    """Return the process id that the lock file names, or `None`."""
    try:
        announcement = json.loads(os.pread(descriptor, ANNOUNCEMENT_BYTES, 0))
    except ValueError:
        return None
    pid = announcement.get("pid") if isinstance(announcement, dict) else None
    return pid if isinstance(pid, int) else None


def _held_by(pid: int | None, directory: Directory) -> StoreUnavailable:
    holder = f"process {pid}" if pid is not None else "another process"
    return StoreUnavailable(
        f"the store {directory.path} is in use by {holder}; connect to that one or stop it first",
        reason_code="lock_held",
        pid=pid,
    )
