"""The kernel fails the calls: strace counts those that concern the store, and injects an error, a lie or a kill.

What `failures` does inside of one process is done here from outside, to everything that the interpreter calls.
"""

from __future__ import annotations

import itertools
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from stateward_engine.store.checkpoint import file_name
from stateward_engine.store.directory import TEMPORARY_SUFFIX
from store.faults import child
from store.faults.disk import Disk
from store.faults.life import REFUSED, Life, nobody
from store.faults.subjects import Promise
from store.faults.sweep import Findings, emptied, record
from store.planted import CLIENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from store.faults.workloads import Workload

STRACE: Final = shutil.which("strace")
_ERRORS: Final = {
    "openat": "EIO ENOSPC EDQUOT EMFILE ENFILE EACCES EROFS EINTR",
    "newfstatat,fstat": "EIO ENOMEM",
    "getdents64": "EIO",
    "mkdir,mkdirat": "EIO ENOSPC EROFS",
    "fchmod": "EIO EPERM",
    "flock": "EAGAIN ENOLCK EINTR",
    "pwrite64": "EIO ENOSPC EDQUOT EINTR",
    "fdatasync": "EIO ENOSPC EDQUOT EINTR",
    "fsync": "EIO ENOSPC EINTR",
    "fadvise64": "EIO",
    "fallocate": "EIO ENOSPC EOPNOTSUPP",
    "pread64": "EIO EINTR",
    "read": "EIO EINTR",
    "rename,renameat,renameat2": "EIO ENOSPC EXDEV EROFS",
    "unlink,unlinkat": "EIO EROFS",
}
# A result without the call: a write that says that it took one byte or none, a read at the end of the file.
_LIES: Final = {"pwrite64": "1 0", "pread64": "0 1", "read": "0"}
INJECTIONS: Final = (
    *((calls, f"error={name}") for calls, names in _ERRORS.items() for name in names.split()),
    *((calls, f"retval={value}") for calls, values in _LIES.items() for value in values.split()),
    *((calls, "signal=KILL") for calls in _ERRORS),
)


def sweep_injections(
    workload: Workload, injections: Iterable[tuple[str, str]], folder: Path, *, at_most: int | None = None
) -> Findings:
    """Inject each error at each call of a workload, one per run, and look at what the next start makes of it.

    Args:
        workload: One that does not break the disk itself, without preparation.
        injections: Names of calls as strace takes them, and what to inject.
        folder: Where disks can be made.
        at_most: The last occurrence of each to look at; `None` is all.
    """
    clean = record(workload, folder).told()
    findings = Findings()
    for calls, what in injections:
        for at in itertools.islice(itertools.count(1), at_most):
            wrong = _injected(workload, f"{calls}:{what}:when={at}", clean, folder)
            if wrong is None:
                break
            findings.states += 1
            findings.violations += [f"{workload.name}, {calls} {what} at {at}: {problem}" for problem in wrong]
    return findings


def _injected(workload: Workload, injection: str, clean: Sequence[str], folder: Path) -> list[str] | None:
    """Return what was wrong with one run; `None` when the injection met no call."""
    with emptied(folder / "run") as root:
        log = folder / "strace.log"
        done = subprocess.run(
            [*_command(root, log, injection), sys.executable, child.__file__, str(root), workload.name],
            capture_output=True,
            check=False,
            timeout=120,
        )
        if "INJECTED" not in log.read_text(errors="replace") and done.returncode == 0:
            return None
        told = [line.decode() for line in done.stdout.splitlines(keepends=True) if line.endswith(b"\n")]
        facts = [line.removesuffix("\n") for line in told]
        states = [fact for fact in facts if not fact.startswith(REFUSED)]
        place = clean.index(states[-1]) if states else 0
        refused = frozenset(fact for fact in facts if fact.startswith(REFUSED))
        wrong = []
        if done.returncode not in (0, child.REFUSED_STATUS, -signal.SIGKILL, 128 + signal.SIGKILL):
            wrong.append(f"status {done.returncode}: {done.stderr[-300:].decode(errors='replace')}")
        with Disk(root) as disk:
            return [
                *wrong,
                *workload.subject.broken(Life(root, nobody, disk), Promise(tuple(clean[place : place + 2]), refused)),
            ]


def _command(root: Path, log: Path, injection: str) -> list[str]:
    assert STRACE
    calls = injection.split(":", maxsplit=1)[0]
    # Only what is called on the store: the interpreter's own start is not what is tested.
    store = root / "store"
    files = ["", "lock", "FORMAT", "reserve", "journal", "journal/000001.log", "journal/000002.log", "streams"]
    streams = [CLIENT.identity(scope) for scope in CLIENT.wanted]
    files += [f"streams/{name}" for stream in streams for name in (stream.kind, f"{stream.kind}/{file_name(stream)}")]
    places = [root, *(store / (name + suffix) for name in files for suffix in ("", TEMPORARY_SUFFIX))]
    of_store = [argument for place in places for argument in ("-P", str(place))]
    trace = ["-e", f"trace={calls}", "-e", "signal=none", "-e", f"inject={injection}"]
    return [STRACE, "-f", "-qq", "-o", str(log), *trace, *of_store]
