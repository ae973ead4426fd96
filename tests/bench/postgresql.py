"""A store in a PostgreSQL database: what a daemon adds to a bare commit, how soon others know, and what two are worth.

The server is started here, with its data in a temporary directory; bare statements go to it by the same socket.
Source: store.md section 1.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from psycopg.sql import SQL, Identifier

from bench.measuring import interleaved, p50s, private, report
from store.postgres_server import postgres_server
from wire import Daemon, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import psycopg

CLIENTS: Final = 32
# How often each of them calls.
COUNT: Final = 40
ROUNDS: Final = 5
NOTICES: Final = 200


def patch(wire: Wire, scope: str) -> Callable[[], object]:
    """Return a call that changes one number durably."""
    numbers = iter(range(10**9))

    def call() -> object:
        value = {"n": next(numbers), "note": "x" * 64}
        return wire.call("patch_state", {"patch": {scope: {"lazy": {"bench": value}}}})

    return call


def bare(connection: psycopg.Connection[tuple[bytes]], schema: str) -> Callable[[], object]:
    """Return a call that commits the record that the ledger got last once more, by a statement that is prepared."""
    connection.execute("CREATE TABLE bare (id bigserial PRIMARY KEY, data bytea NOT NULL)")
    last = SQL("SELECT record FROM {}.groups ORDER BY first DESC LIMIT 1").format(Identifier(schema))
    ((data,),) = connection.execute(last).fetchall()
    return lambda: connection.execute("INSERT INTO bare (data) VALUES (%s)", (data,), prepare=True, binary=True)


def propagation(here: Wire, there: Wire) -> list[float]:
    """Return how long after the answer to a patch another daemon told of it, in seconds."""
    change, found = patch(here, "global"), []
    there.call("subscribe", {"topics": ["state"]})
    for _ in range(NOTICES):
        change()
        began = time.perf_counter()
        while (there.notifications.pop(0) if there.notifications else there.receive())["method"] != "state_changed":
            pass
        found.append(time.perf_counter() - began)
        # Longer than notices are held back to be told together.
        time.sleep(0.1)
    there.call("unsubscribe", {"topics": ["state"]})
    return found


def rate(daemons: Sequence[Daemon]) -> float:
    """Return the patches per second of all clients at once, who are spread over daemons."""
    barrier = threading.Barrier(CLIENTS + 1)

    def work(number: int) -> None:
        daemon = daemons[number % len(daemons)]
        with daemon.connect() as wire:
            wire.attach(daemon.cwd, f"s{number}")
            call = patch(wire, "session")
            barrier.wait()
            for _ in range(COUNT):
                call()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    barrier.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    return CLIENTS * COUNT / (time.perf_counter() - began)


def run(folder: Path) -> None:
    """Run all measures of a store in a database."""
    print("-- a store in a PostgreSQL database")
    with postgres_server() as server:
        target = server.new_target()
        store = target.shown
        one, two = (Daemon(private(folder / name), store=store, machine=name).start() for name in ("one", "two"))
        with one.agent() as wire, two.agent() as other, server.admin() as connection:
            change = patch(wire, "cwd")
            change()
            found = p50s({"patch": change, "bare": bare(connection, target.schema)})
            report("durable patch, p50, against a bare INSERT and COMMIT", found["patch"], found["bare"], "2x")
            times = propagation(wire, other)
            middle_ms = statistics.median(times) * 1e3
            print(f"{'from an answer here to state_changed there, p50':52} {middle_ms:6.1f} ms", flush=True)
        rates = interleaved({"one": lambda: rate([one]), "two": lambda: rate([one, two])}, rounds=ROUNDS)
        ratios = sorted(b / a for a, b in zip(rates["one"], rates["two"], strict=True))
        print(
            f"{f'{CLIENTS} clients of two daemons, against all of one':52} {statistics.median(ratios):6.2f}x  "
            f"[{ratios[0]:.2f} .. {ratios[-1]:.2f}]  {statistics.median(rates['two']):6.0f}/s of "
            f"{statistics.median(rates['one']):6.0f}/s",
            flush=True,
        )
        for daemon in (one, two):
            daemon.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="sw") as name:
        run(Path(name))
