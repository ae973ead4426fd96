"""SIGKILL at any instant: whatever was acknowledged is there afterwards, and nothing is half there."""

from __future__ import annotations

import os
import random
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from wire import Daemon

# `make crash` asks for more of them.
KILLS: Final = int(os.environ.get("STATEWARD_CRASH_KILLS", "20"))
CLIENTS: Final = 4


class Client(threading.Thread):
    """Patches two scopes at once with a rising number until the connection breaks."""

    def __init__(self, daemon: Daemon, name: str, start: int, enough: threading.Event) -> None:
        super().__init__(daemon=True)
        self.wire = daemon.agent(session=name)
        self.key = name
        self.acknowledged = start
        self.attempted = start
        self._enough = enough

    def run(self) -> None:
        try:
            while True:
                self.attempted += 1
                value = {"tactics": {self.key: self.attempted}}
                self.wire.call("patch_state", {"patch": {"cwd": value, "session": value}})
                self.acknowledged = self.attempted
                if self.acknowledged % 20 == 0:
                    self._enough.set()
        except OSError:
            pass
        finally:
            self.wire.close()


def test_every_acknowledged_patch_survives_a_kill(start: Callable[[], Daemon]) -> None:
    """DM-009, DM-005: the daemon is killed in the middle of patches, started again, and asked."""
    daemon = start()
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    counts = {f"c{number}": 0 for number in range(CLIENTS)}
    for _ in range(KILLS):
        enough = threading.Event()
        clients = [Client(daemon, name, count, enough) for name, count in counts.items()]
        for client in clients:
            client.start()
        assert enough.wait(30)
        # Some kills hit at once, some between later groups: burn a random number of acknowledgements first.
        goal = clients[0].acknowledged + chance.randrange(5)
        while clients[0].acknowledged < goal and clients[0].is_alive():
            os.sched_yield()
        daemon.kill()
        for client in clients:
            client.join(30)
        daemon.start()
        for client in clients:
            with daemon.agent(session=client.key) as wire:
                paths = [f"cwd.tactics.{client.key}", f"session.tactics.{client.key}"]
                in_cwd, in_session = wire.call("read_state", {"paths": paths})["value"]
            assert in_cwd == in_session, f"half a change of {client.key}, seed {seed}"
            # The one that was on its way may be there or not; nothing before it may be missing.
            assert client.acknowledged <= in_cwd <= client.attempted, f"lost a patch of {client.key}, seed {seed}"
            counts[client.key] = in_cwd


def test_a_view_is_never_ahead_of_the_journal(start: Callable[[], Daemon]) -> None:
    """A value that any client could read before the kill is there after it."""
    daemon = start()
    with daemon.agent() as writer, daemon.agent("other") as reader:
        number = 0
        for _ in range(50):
            number += 1
            pending = writer.request("patch_state", {"patch": {"cwd": {"tactics": {"n": number}}}})
            seen = reader.call("read_state", {"path": "cwd.tactics"})["value"]
            writer.answer(pending)
        writer.request("patch_state", {"patch": {"cwd": {"tactics": {"n": number + 1}}}})
        seen = reader.call("read_state", {"path": "cwd.tactics.n"})["value"]
        daemon.kill()
    daemon.start()
    with daemon.agent() as wire:
        assert wire.call("read_state", {"path": "cwd.tactics.n"})["value"] >= seen
