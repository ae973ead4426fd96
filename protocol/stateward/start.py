"""Finding the daemon of a store, or starting one: six starters at once give one daemon.

A starter reads the announcement in the store's lock file and connects. When nobody is there it takes the starter lock,
looks again, and only then spawns. A daemon holds the lock of its store for life, so that even a starter which knows
nothing of this one cannot make a second writer. Source: protocol.md section 7, daemon.md section 3.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from stateward.backoff import attempts
from stateward.location import ensure_private_directory, read_announcement
from stateward.stop import stop_daemon
from stateward.transport import SocketTransport, unavailable
from stateward_protocol import __version__
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from stateward.location import Place

# How to get the daemon itself; `stateward.Start` knows one more way, which needs none.
DaemonStart: TypeAlias = Literal["auto", "never"]

# Long enough for a store that has much to recover; a caller that cannot wait says so.
TIMEOUT_S: Final = 30.0

# The reason for a store in a place where no daemon could work, while its bytes may be read.
READ_ONLY: Final = "read_only"

_PRIVATE_FILE: Final = 0o600
_UNWRITABLE: Final = (errno.EROFS, errno.EACCES)
# Reasons for which no daemon of ours is at an announced socket. A stranger's is passed over, never talked to: the
# announcement may be old, and its place taken since.
_NOBODY: Final = ("not_listening", "foreign_socket")


class _Running(NamedTuple):
    transport: SocketTransport
    version: str


def open_transport(
    place: Place, *, start: DaemonStart = "auto", socket: str | None = None, timeout_s: float = TIMEOUT_S
) -> SocketTransport:
    """Return a connection to the daemon of a store.

    Args:
        place: Where the store is.
        start: `never` takes only a daemon that runs, of whatever version. `auto` also starts one, and replaces an
            older one by asking it to leave; a newer one is used as it is.
        socket: Where a daemon that is started shall listen. One that runs is found by its announcement.
        timeout_s: Seconds until finding, starting and later each call is given up.

    Raises:
        WireError: `store_unavailable`, whose `reason_code` says why: `not_running` under `never`, `lock_held`, `died`,
            `timeout`, `no_socket`, `read_only`, `store`; or what the daemon reported.
    """
    deadline = time.monotonic() + timeout_s
    running = _find(place.directory, timeout_s)
    if running is not None and (start == "never" or not is_older(running.version)):
        return running.transport
    if start == "never":
        raise unavailable("no daemon runs for this store; start one with stateward daemon start", "not_running")
    if running is not None:
        running.transport.close()
    ensure_private_directory(place.directory)
    with _starter_lock(place.directory, deadline):
        return _start(place, socket, timeout_s, deadline)


def check_start(start: str, taken: Sequence[str]) -> None:
    """Refuse a way to start that is none of those taken.

    Raises:
        ValueError: It lists them.
    """
    if start not in taken:
        raise ValueError(f"start is one of {', '.join(taken)}, not {start!r}")


def is_older(version: str) -> bool:
    """Whether a daemon of `version` is to make room for ours; a part that is no plain number counts for nothing."""
    return _dotted(version) < _dotted(__version__)


def _dotted(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _find(store: Path, timeout_s: float) -> _Running | None:
    """Return the daemon that is announced and answers the door; an announcement alone proves nothing."""
    announced = read_announcement(store)
    if announced is None:
        return None
    try:
        return _Running(SocketTransport(announced.socket, timeout_s), announced.version)
    except WireError as error:
        if error.data.get("reason_code") in _NOBODY:
            return None
        raise


def _start(place: Place, socket: str | None, timeout_s: float, deadline: float) -> SocketTransport:
    """Under the starter lock: return a connection to whichever daemon comes to hold the store."""
    held = unavailable("the store is held by a daemon that cannot be reached", "lock_held")
    for _ in attempts(deadline):
        running = _find(place.directory, timeout_s)
        if running is not None and not is_older(running.version):
            return running.transport
        if running is not None:
            stop_daemon(running.transport, deadline - time.monotonic())
        try:
            return _spawn(place, socket, timeout_s, deadline)
        except WireError as error:
            if error.data.get("reason_code") != "lock_held":
                raise
            # Somebody's daemon is ending, or was started without this lock and is about to announce itself.
            held = error
    raise held


def _spawn(place: Place, socket: str | None, timeout_s: float, deadline: float) -> SocketTransport:
    # Not at the top: it imports `subprocess`, and almost every caller finds a daemon running.
    from stateward.spawn import spawn_daemon  # noqa: PLC0415

    spawn_daemon(place, socket, deadline)
    running = _find(place.directory, timeout_s)
    if running is None:
        raise unavailable("the daemon was ready and is gone again; its log says why", "died")
    return running.transport


@contextmanager
def _starter_lock(store: Path, deadline: float) -> Iterator[None]:
    """Hold the lock that makes starters take turns; it is never deleted, so all of them mean the same file."""
    path = store / "start.lock"
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, _PRIVATE_FILE)
    except OSError as error:
        reason_code = READ_ONLY if error.errno in _UNWRITABLE else "store"
        raise unavailable(
            f"the store cannot be written ({error.strerror}); choose another", reason_code, path=str(path)
        ) from None
    try:
        _take(lock, deadline)
        yield
    finally:
        os.close(lock)


def _take(lock: int, deadline: float) -> None:
    # Not a blocking call: a starter that was stopped by its user would hold all others beyond their timeouts.
    for _ in attempts(deadline):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        return
    raise unavailable("another program has been starting the daemon for too long; try again", "timeout")
