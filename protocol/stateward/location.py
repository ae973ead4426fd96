"""Where a store, its socket and its log are: the one place that computes them, for clients and daemon alike.

A client reads the announcement in the store's lock file first, so that clients with different environments meet.
Only whoever starts a daemon computes a socket path. Source: protocol.md section 1, security.md rows 1 to 9.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward.database import Database

# The size of `sun_path` on Linux without its final NUL; a longer path cannot be bound or connected to.
SOCKET_PATH_BYTES_MAX: Final = 107
# More than an announcement of the oddest path; without a bound, a foreign file in its place would be read whole.
ANNOUNCEMENT_READ_BYTES_MAX: Final = 4096

# What the addresses of databases begin with.
DATABASE_SCHEMES: Final = ("postgresql://", "postgres://")

_APPLICATION: Final = "stateward"
_PRIVATE_DIRECTORY: Final = 0o700
_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH


class Announcement(NamedTuple):
    """What the daemon that holds a store writes into its lock file."""

    pid: int
    socket: str
    version: str


class Place(NamedTuple):
    """Where a store is, and where its daemon is found on this machine.

    Attributes:
        directory: Holds the lock of the daemon, real and absolute; it need not exist. It is the store itself, unless
            that is in a database.
        database: Where the store is, if not in `directory`.
    """

    directory: Path
    database: Database | None = None

    def __str__(self) -> str:
        """Return what names the store, without secrets."""
        return str(self.directory) if self.database is None else self.database.shown


# -- the store -------------------------------------------------------------------------------------------------------


def store_place(explicit: str | os.PathLike[str] | None = None) -> Place:
    """Return the place of a store.

    Args:
        explicit: A directory, or the address of a database, that the caller names; else `STATEWARD_STORE`, else the
            user's data directory.

    Raises:
        WireError: `invalid_request` for an address that does not fit.
    """
    named = explicit or os.environ.get("STATEWARD_STORE") or data_directory()
    if not names_database(named):
        return Place(Path(os.path.realpath(named)))
    from stateward.database import read_database  # noqa: PLC0415 - few stores are in a database

    database = read_database(str(named))
    return Place(Path(os.path.realpath(databases_directory() / database.key)), database)


def names_database(text: str | os.PathLike[str]) -> bool:
    """Whether what names a store is the address of a database, and no directory."""
    return isinstance(text, str) and text.startswith(DATABASE_SCHEMES)


def data_directory() -> Path:
    """Return the directory of the store that a user has who names none; it need not exist."""
    import platformdirs  # noqa: PLC0415 - costs start-up time, and most callers name their store

    return platformdirs.user_data_path(_APPLICATION, appauthor=False)


def databases_directory() -> Path:
    """Return the directory of what a machine has of stores in databases; it need not exist.

    Beside the other one, which holds a store and nothing else.
    """
    import platformdirs  # noqa: PLC0415 - as in `data_directory`

    return platformdirs.user_data_path(f"{_APPLICATION}-databases", appauthor=False)


def log_path(place: Place) -> Path:
    """Return the file that the daemon of a store logs to, one per store; it need not exist."""
    if place.database is not None:
        return place.directory / "daemon.log"
    import platformdirs  # noqa: PLC0415 - as in `data_directory`: reading a log is rare

    return platformdirs.user_log_path(_APPLICATION, appauthor=False) / f"{_store_key(place.directory)}.log"


def _store_key(store: Path) -> str:
    """Return 16 hex digits that stand for the store, however it is spelled."""
    return hashlib.sha256(os.fsencode(os.path.realpath(store))).hexdigest()[:16]


# -- the socket ------------------------------------------------------------------------------------------------------


def socket_path(store: Path, explicit: str | os.PathLike[str] | None = None) -> Path:
    """Return the path at which a new daemon of `store` listens; looks only, creates nothing.

    Args:
        store: The store directory.
        explicit: What the caller names; else `STATEWARD_SOCKET`, else the first runtime candidate that fits and is
            usable. A named path is never replaced by another.

    Raises:
        WireError: `store_unavailable` with `reason_code` `socket_path`, when no path fits or is usable.
    """
    named = explicit or os.environ.get("STATEWARD_SOCKET")
    if named:
        path = Path(os.path.abspath(named))  # noqa: PTH100 - `Path.absolute` keeps `..`, which costs bytes
        if not _fits(path):
            raise _no_socket_path(f"the socket path is over {SOCKET_PATH_BYTES_MAX} bytes", path=str(path))
        return path
    for candidate in runtime_candidates(store):
        if _fits(candidate) and _usable(candidate.parent):
            return candidate
    raise _no_socket_path(f"no private directory gives a socket path of at most {SOCKET_PATH_BYTES_MAX} bytes")


def runtime_candidates(store: Path) -> Iterator[Path]:
    """Yield the socket paths to try for `store`, best first.

    `$TMPDIR` is not among them: it differs between the programs of one user. Nor is the project: its path is long,
    and its file system may know no sockets.
    """
    name = f"{_store_key(store)}.sock"
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    # The XDG specification has a relative value ignored. The directory is the system's to make, so it must exist.
    if runtime.startswith("/") and _is_ours_and_writable(Path(runtime)):
        yield Path(runtime, _APPLICATION, name)
    home = os.path.expanduser("~")  # noqa: PTH111 - `Path.home` raises where there is none
    if home.startswith("/"):
        yield Path(home, ".local/state", _APPLICATION, "run", name)
    yield Path(f"/tmp/{_APPLICATION}-{os.geteuid()}", name)  # noqa: S108 - a private directory in it, checked by owner


def _no_socket_path(problem: str, **data: str) -> WireError:
    return WireError(
        "store_unavailable",
        f"{problem}; set STATEWARD_SOCKET to a short path in a directory that only you can write",
        reason_code="socket_path",
        limit=SOCKET_PATH_BYTES_MAX,
        example="STATEWARD_SOCKET=/run/user/1000/stateward.sock",
        **data,
    )


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= SOCKET_PATH_BYTES_MAX


def _is_ours_and_writable(directory: Path) -> bool:
    try:
        found = directory.stat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and os.access(directory, os.W_OK | os.X_OK)


def _usable(directory: Path) -> bool:
    """Whether `directory` is private, or could be made so where it is missing."""
    if os.path.lexists(directory):
        return _directory_fault(directory) is None and os.access(directory, os.W_OK | os.X_OK)
    ancestor = next(parent for parent in directory.parents if os.path.lexists(parent))
    return ancestor.is_dir() and os.access(ancestor, os.W_OK | os.X_OK)


# -- private directories ---------------------------------------------------------------------------------------------


def ensure_private_directory(path: Path) -> None:
    """Make sure that `path` is a directory which nobody else can write to; a missing one is created with mode 0700.

    Missing parents are created with the same mode. What exists is judged and never changed: somebody else may rely
    on it.

    Raises:
        WireError: `store_unavailable`, saying what is wrong with the directory and how to mend it.
    """
    missing = [path] if not os.path.lexists(path) else []
    missing += [parent for parent in path.parents if missing and not os.path.lexists(parent)]
    try:
        for directory in reversed(missing):
            # Another starter may be faster; the check below judges its directory as well.
            directory.mkdir(_PRIVATE_DIRECTORY, exist_ok=True)
    except OSError as error:
        raise WireError(
            "store_unavailable", f"the directory cannot be created ({error.strerror}); choose another", path=str(path)
        ) from None
    fault = _directory_fault(path)
    if fault is not None:
        raise WireError("store_unavailable", fault, path=str(path))


def _directory_fault(path: Path) -> str | None:
    """Return what makes an existing `path` unfit for private files and how to mend it, or `None`."""
    try:
        found = path.lstat()
    except OSError as error:
        return f"the directory cannot be examined ({error.strerror}); choose another"
    if stat.S_ISLNK(found.st_mode):
        return "the directory is a symbolic link; name its target instead"
    if not stat.S_ISDIR(found.st_mode):
        return "the path is no directory; move it away or choose another"
    if found.st_uid != os.geteuid():
        return f"the directory belongs to user {found.st_uid}; choose one of your own"
    if found.st_mode & _WRITABLE_BY_OTHERS:
        return "others can write to the directory; take that right away with chmod go-w"
    return None


# -- the announcement ------------------------------------------------------------------------------------------------


def read_announcement(store: Path) -> Announcement | None:
    """Return what the last daemon of `store` announced, or `None` when there is nothing readable.

    The daemon may be gone: only connecting tells. The pid is for people and is never signalled.
    """
    try:
        # Non-blocking, so that a FIFO in its place cannot hold us.
        lock = os.open(store / "lock", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        line = os.read(lock, ANNOUNCEMENT_READ_BYTES_MAX).partition(b"\n")[0]
    except OSError:
        return None
    finally:
        os.close(lock)
    return _parse_announcement(line)


def _parse_announcement(line: bytes) -> Announcement | None:
    try:
        found = json.loads(os.fsdecode(line))
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    pid, socket, version = (found.get(name) for name in Announcement._fields)
    # `type`, because a bool is an int; absolute, because nobody shares our working directory.
    if type(pid) is int and isinstance(socket, str) and socket.startswith("/") and isinstance(version, str):
        return Announcement(pid, socket, version)
    return None
