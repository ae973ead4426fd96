"""The language server on a long document, end to end through the bridge: what somebody who types waits for.

And what somebody else waits for meanwhile: small reads of another client, in a process of its own, while an editor
types without pause, against the same reads while nobody types. Source: daemon.md section 2.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench import goals
from bench.measuring import private, report, timed
from bench.typist import Typist
from wire import Daemon, Wire

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection

ROWS: Final = 10_000
KEYSTROKES: Final = 200
STORM_S: Final = 3.0
ROUNDS: Final = 7
# One read, then a breath: who asks without pause competes for the processor and measures that.
BREATH_S: Final = 0.001
# What is asked at a place, and what is announced by those who serve it.
ASKED: Final = {
    "textDocument/hover": "hoverProvider",
    "textDocument/completion": "completionProvider",
    "textDocument/inlayHint": "inlayHintProvider",
}
# For how long nobody does anything, and how long it takes until that is so.
IDLE_S: Final = 60.0
SETTLE_S: Final = 5.0
# Documents in the folders of a workspace.
GOALS: Final = 20
# How many lines an editor shows at once.
SCREEN: Final = 60


def tell(title: str, times: Sequence[float], bar: str) -> None:
    """Print the percentiles of some times, which are in seconds."""
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    print(
        f"{title:62} p50 {cuts[49] * 1e3:6.1f} ms   p99 {cuts[98] * 1e3:6.1f} ms   "
        f"[{min(times) * 1e3:.1f} .. {max(times) * 1e3:.1f}]  {len(times)} times  bar {bar}",
        flush=True,
    )


def asked(typist: Typist, method: str, *, typing: bool) -> float:
    """Return how long the answer takes to a question about a place, at rest or behind a character just typed."""
    at = typist.place()
    params = {"textDocument": {"uri": typist.uri}, "position": at}
    if method == "textDocument/inlayHint":
        start = {"line": at["line"], "character": 0}
        params = {**params, "range": {"start": start, "end": {"line": at["line"] + SCREEN, "character": 0}}}
    if typing:
        typist.type()
    took = timed(lambda: typist.call(method, params))
    if typing:
        typist.shown()
    return took


def questions(typist: Typist) -> None:
    """What an editor asks at a place, one by one."""
    for method, provider in ASKED.items():
        if not typist.capabilities.get(provider):
            print(f"{method:62} is not served")
            continue
        for typing, when in ((False, "at rest"), (True, "behind a character just typed")):
            times = [asked(typist, method, typing=typing) for _ in range(KEYSTROKES)]
            tell(f"{method}, {when}", times, "p50 20 ms")


def read_at_times(end: Connection, socket: Path, cwd: Path) -> None:
    """Read for as many seconds as told, and tell the 99th percentile, until told nothing."""
    with Wire(socket) as wire:
        wire.attach(cwd, "reader")
        wire.call("patch_state", {"patch": {"cwd": {"tactics": {"n": 0}}}})
        while seconds := end.recv():
            until, times = time.perf_counter() + seconds, []
            while time.perf_counter() < until:
                times.append(timed(lambda: wire.call("read_state", {"path": "cwd.tactics.n"})))
                time.sleep(BREATH_S)
            end.send(statistics.quantiles(times, n=100)[-1])


@contextlib.contextmanager
def reader(daemon: Daemon) -> Iterator[Connection]:
    """Run another client."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=read_at_times, args=(theirs, daemon.socket, daemon.cwd)
    )
    process.start()
    yield ours
    ours.send(None)
    process.join()


def storms(daemon: Daemon, typist: Typist) -> None:
    """Typing without pause, and the reads of another client meanwhile."""
    times: list[float] = []
    found: dict[str, list[float]] = {"storm": [], "idle": []}
    with reader(daemon) as other:
        for _ in range(ROUNDS):
            for name, p99s in found.items():
                other.send(STORM_S)
                if name == "storm":
                    times += typist.storm(STORM_S)
                p99s.append(other.recv())
    tell("a typing storm, each character to its diagnostics", times, "15 and 40 ms")
    report("read of another client, p99, typing storm against idle", found["storm"], found["idle"], "2x")


def wake_ups(pid: int) -> int:
    """Return how often the threads of a process gave up the processor so far."""
    tasks = Path(f"/proc/{pid}/task").glob("*/status")
    lines = (line for task in tasks for line in task.read_text().splitlines())
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


def spent_s(pid: int) -> float:
    """Return the time of the processor that a process has taken, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle(folder: Path) -> None:
    """A daemon and a bridge with a workspace, an editor and two agents, while nobody does anything."""
    daemon = Daemon(folder).start()
    for number in range(GOALS):
        place = daemon.cwd / f"goal{number}"
        place.mkdir()
        (place / "ACTIVE_GOAL_STATE.md").write_text(goals.document(10), encoding="utf-8")
    path, text = daemon.cwd / "ACTIVE_GOAL_STATE.md", goals.document(ROWS)
    path.write_text(text, encoding="utf-8")
    with Typist(daemon, path, text) as typist, daemon.agent("one"), daemon.agent("two"):
        # What was written just now is looked at closely for a while.
        time.sleep(SETTLE_S)
        pids = {"daemon": daemon.pid, "bridge": typist.bridge.pid}
        before = {name: (spent_s(pid), wake_ups(pid)) for name, pid in pids.items()}
        time.sleep(IDLE_S)
        for name, pid in pids.items():
            spent, woken = spent_s(pid) - before[name][0], wake_ups(pid) - before[name][1]
            title = f"the {name} at rest, {GOALS + 1} documents watched, {IDLE_S:.0f} s"
            print(f"{title:62} {spent / IDLE_S:.3%} of a core, {woken / IDLE_S:.1f} wake-ups/s  bar 0.2%", flush=True)
    daemon.stop()


def run(folder: Path) -> None:
    """Run all measures of the language server."""
    print(f"-- an editor behind the bridge, a document of {ROWS} todos")
    daemon = Daemon(folder).start()
    path, text = daemon.cwd / "ACTIVE_GOAL_STATE.md", goals.document(ROWS)
    path.write_text(text, encoding="utf-8")
    with Typist(daemon, path, text) as typist:
        times = [typist.keystroke() for _ in range(KEYSTROKES)]
        tell("a character after a rest, to its diagnostics", times, "15 and 40 ms")
        questions(typist)
        storms(daemon, typist)
    daemon.stop()
    idle(private(folder / "idle"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="sw") as name:
        run(Path(name))
