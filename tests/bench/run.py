"""Ratios, measured in one run on one machine: medians of interleaved rounds, with the spread beside them.

Absolute times are printed to make the ratios readable; only the ratios mean anything elsewhere.
Source: store.md section 6, and the walking daemon's own bars.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench import goals, lsp, postgresql, slow_disk, state
from bench.measuring import interleaved, p50s, private, report
from wire import Daemon, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLIENTS: Final = 32
PATCH: Final = {"patch": {"cwd": {"tactics": {"n": 0, "note": "x" * 64}}}}


@contextlib.contextmanager
def echo(folder: Path) -> Iterator[Path]:
    """Run the echo server and yield its socket."""
    path = folder / "echo.sock"
    reader, writer = os.pipe()
    command = [sys.executable, str(Path(__file__).with_name("echo.py")), str(path), str(writer)]
    process = subprocess.Popen(command, pass_fds=(writer,))
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.readline() == b"R\n"
    yield path
    process.kill()
    process.wait()


def bare_commit(folder: Path, size_bytes: int) -> Callable[[], object]:
    """Return a call that appends that many bytes on the disk of the store, syncs them, and reads them back."""
    descriptor = os.open(folder / "bare.log", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    data = b"x" * size_bytes
    offset = 0

    def commit() -> None:
        nonlocal offset
        os.write(descriptor, data)
        os.fdatasync(descriptor)
        assert os.pread(descriptor, size_bytes, offset) == data
        offset += size_bytes

    return commit


def patch_call(wire: Wire) -> Callable[[], object]:
    """Return a call that changes one number durably."""
    counter = iter(range(10**9))

    def call() -> object:
        value = {"n": next(counter), "note": "x" * 64}
        return wire.call("patch_state", {"patch": {"cwd": {"tactics": value}}})

    return call


def one_client(daemon: Daemon, folder: Path, echo_path: Path) -> None:
    """Small reads against the echo, and durable patches against the echo and a bare commit together."""
    with daemon.agent() as wire, Wire(echo_path) as floor:
        read = {"path": "cwd.tactics.n"}
        wire.call("patch_state", PATCH)
        before = wire.call("status")["store_bytes"]
        patch = patch_call(wire)
        patch()
        entry_bytes = wire.call("status")["store_bytes"] - before
        found = p50s(
            {
                "read": lambda: wire.call("read_state", read),
                "echo of a read": lambda: floor.call("read_state", read),
                "patch": patch,
                "echo of a patch": lambda: floor.call("patch_state", PATCH),
                "bare": bare_commit(folder, entry_bytes),
            }
        )
    report("small read, p50, against the echo", found["read"], found["echo of a read"], "1.5x")
    floor_of_patch = [a + b for a, b in zip(found["echo of a patch"], found["bare"], strict=True)]
    report("durable patch, p50, against echo + bare commit", found["patch"], floor_of_patch, "1.5x")


def rate(path: Path, calls: Callable[[int, Wire], Callable[[], object]], count: int) -> float:
    """Return calls per second of `CLIENTS` clients that call at once, `count` times each."""
    barrier = threading.Barrier(CLIENTS + 1)

    def work(number: int) -> None:
        with Wire(path) as wire:
            call = calls(number, wire)
            barrier.wait()
            for _ in range(count):
                call()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    barrier.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    return CLIENTS * count / (time.perf_counter() - began)


def many_clients(daemon: Daemon, echo_path: Path) -> None:
    """Durable patches per second of many clients against the echo's rate with as many."""

    def attached(number: int, wire: Wire) -> Callable[[], object]:
        wire.attach(daemon.cwd, f"s{number}")
        return patch_call(wire)

    def echoed(_number: int, wire: Wire) -> Callable[[], object]:
        return lambda: wire.call("patch_state", PATCH)

    found = interleaved(
        {"patches": lambda: rate(daemon.socket, attached, 40), "echo": lambda: rate(echo_path, echoed, 40)}, rounds=5
    )
    ratios = sorted(a / b for a, b in zip(found["patches"], found["echo"], strict=True))
    print(
        f"{f'durable patches, {CLIENTS} clients, share of the echo rate':52} {statistics.median(ratios):6.2f}   "
        f"[{ratios[0]:.2f} .. {ratios[-1]:.2f}]  {statistics.median(found['patches']):6.0f}/s of "
        f"{statistics.median(found['echo']):6.0f}/s  bar 0.50",
        flush=True,
    )


def run_once(command: list[str], environment: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def starts(daemon: Daemon, folder: Path) -> None:
    """The command line with a warm daemon, and a daemon's start to its first answer, against a bare interpreter.

    With bytecode, as an installed program has it, wherever the bench itself is told to write none.
    """
    stateward = str(Path(sys.executable).with_name("stateward"))
    read = [stateward, "read", "cwd.tactics.n", "--cwd", str(daemon.cwd), "--session", "s1"]
    cold = Daemon(folder)
    for one in (daemon, cold):
        one.environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    # The first start also compiles, and makes a store.
    cold.start()
    fill(cold, 10)
    cold.stop()

    def cold_start() -> float:
        began = time.perf_counter()
        cold.start()
        with cold.connect() as wire:
            wire.call("ping")
        took = time.perf_counter() - began
        cold.stop()
        return took

    found = interleaved(
        {
            "bare": lambda: run_once([sys.executable, "-c", "pass"], daemon.environment),
            "read": lambda: run_once(read, daemon.environment),
            "cold": cold_start,
        }
    )
    report("`stateward read`, against python -c pass", found["read"], found["bare"], "-")
    report("daemon start on 10 MB, against python -c pass", found["cold"], found["bare"], "15x")


def fill(daemon: Daemon, megabytes: int) -> None:
    """Put that much lazy state into the store."""
    with daemon.agent() as wire:
        for number in range(megabytes):
            text = json.dumps({"n": number}) + "x" * 1_000_000
            wire.call("patch_state", {"patch": {"cwd": {"lazy": {f"k{number}": text}}}})


def main() -> None:
    """Run all measures."""
    sizes: list[tuple[str, int]] = [("an empty store", 0), ("a store of 100 MB", 100)]
    with tempfile.TemporaryDirectory(prefix="sw") as name:
        folder = Path(name)
        with echo(folder) as echo_path:
            for title, megabytes in sizes:
                print(f"-- {title}")
                place = private(folder / f"d{megabytes}")
                daemon = Daemon(place).start()
                fill(daemon, megabytes)
                one_client(daemon, place, echo_path)
                if not megabytes:
                    many_clients(daemon, echo_path)
                    starts(daemon, private(place / "cold"))
                daemon.stop()
            print("-- a disk that is held up")
            slow_disk.run(private(folder / "slow"))
            print("-- state, most of it lazy")
            state.run(folder, echo_path)
        postgresql.run(private(folder / "pg"))
        lsp.run(private(folder / "lsp"))
    goals.main()


if __name__ == "__main__":
    main()
