"""The listening socket: born private, published by rename, removed by its own inode only."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stateward.location import ensure_private_directory
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Clients that may wait to be accepted. With less, a burst of agents gets EAGAIN from connect, which few of them expect.
BACKLOG: Final = 1024
_SOCKET_MODE: Final = 0o600


class Listener:
    """A bound and listening Unix socket.

    Invariant: the caller holds the store's life lock, so no daemon of this store is behind a socket that is already
    there; and one that another daemon listens on is not replaced, so nobody's clients are taken away.
    """

    def __init__(self, path: Path) -> None:
        """Listen at `path`.

        Raises:
            WireError: `store_unavailable` with `reason_code` `no_socket`, when sockets do not work here.
        """
        self.path = path
        ensure_private_directory(path.parent)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            with _held_directory(path.parent) as parent:
                # Born in a directory that only we can enter, so nobody connects between bind and chmod; and under a
                # short name for it, because the temporary name may not fit where the final one just does.
                temporary = Path(f"/proc/self/fd/{parent}/.{os.getpid()}.sock")
                temporary.unlink(missing_ok=True)
                self.socket.bind(os.fspath(temporary))
                try:
                    temporary.chmod(_SOCKET_MODE)
                    self.socket.listen(BACKLOG)
                    self._identity = _identity(temporary)
                    _refuse_foreign(path)
                    temporary.rename(path)
                except OSError:
                    temporary.unlink()
                    raise
        except OSError as error:
            self.socket.close()
            raise _no_socket(path, error) from None

    def is_published(self) -> bool:
        """Tell whether clients that open the path still reach this socket."""
        return _identity(self.path) == self._identity

    def withdraw(self) -> None:
        """Remove the path, unless it is a successor's by now."""
        with contextlib.suppress(FileNotFoundError):
            if self.is_published():
                self.path.unlink()


@contextlib.contextmanager
def _held_directory(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return None
    return facts.st_dev, facts.st_ino


def _refuse_foreign(path: Path) -> None:
    """Refuse to replace what is no stale socket of ours.

    A mistyped path must not cost somebody a file, and a daemon of another store may have been given the same path.
    """
    with contextlib.suppress(FileNotFoundError):
        facts = path.lstat()
        if not stat.S_ISSOCK(facts.st_mode) or facts.st_uid != os.geteuid():
            raise OSError(errno.EEXIST, "something else is there")
        with socket.socket(socket.AF_UNIX) as visitor:
            visitor.setblocking(False)
            if visitor.connect_ex(os.fspath(path)) in (0, errno.EAGAIN):
                raise OSError(errno.EADDRINUSE, "the daemon of another store listens there")


def _no_socket(path: Path, error: OSError) -> WireError:
    return WireError(
        "store_unavailable",
        f"no socket can be made at {path}: {error.strerror or error}; choose another place with --socket",
        reason_code="no_socket",
        path=str(path),
    )
