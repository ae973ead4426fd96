"""A daemon on a disk that can be held up, and what readers notice of it.

As a program, `slow_disk.py GATE daemon run`, it is the daemon: a sync of it ends when nobody holds the lock of the
file `GATE`. Source: store.md section 6.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.measuring import interleaved, report, timed
from stateward_daemon.cli import main
from wire import Daemon

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import HasFileno

    from wire import Wire

HELD_S: Final = 2.0
ROUNDS: Final = 7


class SlowDisk(Daemon):
    """A daemon whose syncs the bench can hold."""

    @property
    def gate(self) -> Path:
        return self.folder / "gate"

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, __file__, str(self.gate), *arguments]

    @contextlib.contextmanager
    def held_sync(self, writer: Wire) -> Iterator[None]:
        """Patch, and let the sync of the patch end after the block and not before."""
        with self.gate.open("wb") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            waiting = writer.request("patch_state", {"patch": {"cwd": {"tactics": {"at": time.time()}}}})
            yield
            answered, _, _ = select.select([writer.socket], [], [], 0)
            assert not answered, "the sync was not held"
        writer.answer(waiting)


def p99(wire: Wire) -> float:
    """Return the 99th percentile of small reads within `HELD_S`, in seconds."""
    ends, times = time.perf_counter() + HELD_S, []
    while time.perf_counter() < ends:
        times.append(timed(lambda: wire.call("read_state", {"path": "cwd.tactics.n"})))
    return statistics.quantiles(times, n=100)[-1]


def run(folder: Path) -> None:
    """Small reads while a sync takes `HELD_S`, against reads of an idle daemon."""
    with SlowDisk(folder) as daemon, daemon.agent() as writer, daemon.agent() as reader:
        writer.call("patch_state", {"patch": {"cwd": {"tactics": {"n": 0}}}})

        def held() -> float:
            with daemon.held_sync(writer):
                return p99(reader)

        found = interleaved({"held": held, "idle": lambda: p99(reader)}, ROUNDS)
    report(f"read, p99, while a sync is held for {HELD_S:.0f} s, against idle", found["held"], found["idle"], "1.2x")


def hold_syncs(gate: Path) -> None:
    """Let `fdatasync` of this process return when the device has the data and the lock of the gate is free."""
    sync = os.fdatasync
    gate.touch()
    descriptor = os.open(gate, os.O_RDONLY)

    def held(fd: int | HasFileno) -> None:
        sync(fd)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    os.fdatasync = held


if __name__ == "__main__":
    hold_syncs(Path(sys.argv.pop(1)))
    sys.exit(main())
