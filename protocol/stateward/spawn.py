"""Starting a daemon process and hearing from it whether it is ready.

The child inherits the writing end of a pipe and reports one line: `R` once it listens, or `E` and an error object when
it cannot start. End of file without a line means that it died, and then its log says why. Nothing is guessed from time.
Source: protocol.md section 7, daemon.md section 3.
"""

from __future__ import annotations

import json
import os
import select
import stat
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Final

from stateward.location import ensure_private_directory, log_path
from stateward.printable import printable
from stateward.transport import unavailable
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from stateward.location import Place

READY_DESCRIPTOR: Final = "STATEWARD_READY_FD"
# One error object; a child that floods the pipe is cut off here.
REPORT_BYTES_MAX: Final = 64 * 1024
# How much of a dead daemon's last words is shown.
LAST_WORDS_BYTES_MAX: Final = 4 * 1024
LAST_WORDS_LINES_MAX: Final = 5

_PRIVATE_FILE: Final = 0o600


def spawn_daemon(place: Place, socket: str | None, deadline: float) -> None:
    """Start a daemon for a store and return once it listens.

    Args:
        place: Where the store is.
        socket: Where it is to listen; `None` leaves the choice to the daemon.
        deadline: On the monotonic clock. A daemon that is still starting then is left alone.

    Raises:
        WireError: What the daemon reported, or `store_unavailable` with the `reason_code` `died` or `timeout`.
    """
    ensure_private_directory(log_path(place).parent)
    log = _open_log(log_path(place))
    try:
        begun_at = os.fstat(log).st_size
        report = _report_of_child(_command(place, socket), _environment(place), log, deadline)
        if report == b"R":
            return
        if report.startswith(b"E"):
            raise WireError.from_error(json.loads(report[1:]))
        raise unavailable(
            "the daemon ended before it was ready; its log says why",
            "died",
            reason=_last_words(log, begun_at),
            log=str(log_path(place)),
        )
    finally:
        os.close(log)


def _open_log(path: Path) -> int:
    """Return a descriptor of the log; what is no plain file of ours is neither followed nor waited for."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        log = os.open(path, flags, _PRIVATE_FILE)
    except OSError as error:
        raise unavailable(f"the log cannot be opened ({error.strerror}); move it away", "log", path=str(path)) from None
    found = os.fstat(log)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        os.close(log)
        raise unavailable("the log is no plain file with one name; move it away", "log", path=str(path))
    return log


def _command(place: Place, socket: str | None) -> list[str]:
    command = [sys.executable, "-m", "stateward_daemon", "daemon", "run"]
    # Everybody can read the arguments of a process, so an address, which may hold a password, is none.
    command += ["--store", str(place.directory)] if place.database is None else []
    return command if socket is None else [*command, "--socket", socket]


def _environment(place: Place) -> Mapping[str, str]:
    return os.environ if place.database is None else {**os.environ, "STATEWARD_STORE": place.database.address}


def _report_of_child(command: list[str], environment: Mapping[str, str], log: int, deadline: float) -> bytes:
    """Run `command` in a session of its own and return the line that it reports, empty when it died."""
    reading, writing = os.pipe()
    try:
        try:
            child = subprocess.Popen(  # noqa: S603 - our own program, by absolute path
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env={**environment, READY_DESCRIPTOR: str(writing)},
                start_new_session=True,
                pass_fds=(writing,),
            )
        finally:
            # Ours must go, or the child's death would not end the file.
            os.close(writing)
        # The daemon outlives most callers; for a caller that outlives it, somebody must reap it.
        threading.Thread(target=child.wait, daemon=True).start()
        return _read_line(reading, deadline)
    except OSError as error:
        raise unavailable(f"the daemon cannot be started ({error.strerror})", "died") from None
    finally:
        os.close(reading)


def _read_line(pipe: int, deadline: float) -> bytes:
    """Return what comes before the first line feed or the end of file."""
    watch = select.poll()
    watch.register(pipe, select.POLLIN)
    received = b""
    while b"\n" not in received and len(received) < REPORT_BYTES_MAX:
        left_s = deadline - time.monotonic()
        if left_s <= 0 or not watch.poll(left_s * 1000):
            raise unavailable("the daemon has not become ready in time; try again, or set a longer timeout", "timeout")
        chunk = os.read(pipe, REPORT_BYTES_MAX)
        if not chunk:
            return b""
        received += chunk
    return received.partition(b"\n")[0]


def _last_words(log: int, begun_at: int) -> str:
    """Return the last lines that were written to the log since `begun_at`, safe to show."""
    size = os.fstat(log).st_size
    tail = os.pread(log, LAST_WORDS_BYTES_MAX, max(begun_at, size - LAST_WORDS_BYTES_MAX))
    lines = tail.decode("utf-8", "replace").strip().split("\n")[-LAST_WORDS_LINES_MAX:]
    return "\n".join(map(printable, lines))
