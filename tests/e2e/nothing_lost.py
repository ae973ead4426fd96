"""Many clients, a daemon that is killed under them, and a check of all that anybody was answered.

Each client owns one register, a number that it only ever raises, in two scopes at once. A read returns all registers.
So the history is one of snapshots, and whether it is linearizable can be told in one pass: no search is needed.
"""

from __future__ import annotations

import itertools
import threading
import time
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar

from wire import PATIENCE_S, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wire import Daemon, Wire

# A client looks at everything after so many patches of its own.
_READ_EVERY: Final = 4


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one read answered.

    Attributes:
        invoked: When it was asked for, in seconds of one clock.
        answered: When the answer was there.
        registers: The numbers of all clients in the scope that they share; who has none is not in it.
        name: Who asked.
        own: The number of this client in its own scope.
    """

    invoked: float
    answered: float
    registers: Mapping[str, int]
    name: str
    own: int


@dataclass
class History:
    """Everything that was asked and answered.

    Attributes:
        invoked: For each client, when it first asked for each number, from 1.
        acknowledged: For each client, when each number was acknowledged, from 1.
        snapshots: All reads.
    """

    invoked: dict[str, list[float]] = field(default_factory=dict)
    acknowledged: dict[str, list[float]] = field(default_factory=dict)
    snapshots: list[Snapshot] = field(default_factory=list)

    def violations(self) -> Iterator[str]:
        """Yield what no single order of these patches and reads explains."""
        for seen in self.snapshots:
            yield from self._against_patches(seen)
        yield from self._against_each_other()

    def _against_patches(self, seen: Snapshot) -> Iterator[str]:
        if seen.own != seen.registers.get(seen.name, 0):
            yield f"half a change of {seen.name}: {seen.own} in its own scope, {seen.registers.get(seen.name)} in both"
        # A read includes what was acknowledged before it, and before any patch that it shows was asked for.
        due = seen.invoked
        for name, number in seen.registers.items():
            if number > bisect_left(self.invoked[name], seen.answered):
                yield f"{name} = {number} was read before it was asked for"
            elif number > 0:
                due = max(due, self.invoked[name][number - 1])
        for name, times in self.acknowledged.items():
            if (least := bisect_left(times, due)) > seen.registers.get(name, 0):
                yield f"{name} = {least} was acknowledged, and {seen.registers.get(name, 0)} was read"

    def _against_each_other(self) -> Iterator[str]:
        """Snapshots of one order contain each other, and none is older than one that was answered before it began."""
        ordered = sorted(self.snapshots, key=lambda seen: (sum(seen.registers.values()), seen.answered))
        for older, newer in itertools.pairwise(ordered):
            if any(number > newer.registers.get(name, 0) for name, number in older.registers.items()):
                yield f"{older.name} and {newer.name} read states of which neither contains the other"
        first_answered = float("inf")
        for seen in reversed(ordered):
            if seen.invoked > first_answered:
                yield f"{seen.name} read an older state than what was answered before"
            first_answered = min(first_answered, seen.answered)


class Client(threading.Thread):
    """Works for ever, on whatever daemon runs; what it got no answer for, it does again.

    Attributes:
        refused: What it was refused for no good reason; it ends then.
    """

    def __init__(self, crowd: Crowd[Any], name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.crowd = crowd
        self.refused: list[str] = []

    def run(self) -> None:
        wire: Wire | None = None
        while not self.crowd.over.is_set():
            try:
                wire = wire or self.crowd.connect(self.name)
                self.work(wire)
            except OSError:
                if wire:
                    wire.close()
                wire = None
            except Refused as refused:
                self.refused.append(f"{self.name}: {refused}")
                break
        if wire:
            wire.close()

    def work(self, wire: Wire) -> None:
        """Do the next thing, or the last one again if nobody answered it."""
        raise NotImplementedError


class Register(Client):
    """Raises its register, with an idempotency key for each number."""

    def __init__(self, crowd: Crowd[Register], name: str) -> None:
        super().__init__(crowd, name)
        self.number = 0
        self.invoked: list[float] = []
        self.acknowledged: list[float] = []
        self.snapshots: list[Snapshot] = []

    def work(self, wire: Wire) -> None:
        self._raise(wire)
        if self.number % _READ_EVERY == 0:
            self._look(wire)

    def _raise(self, wire: Wire) -> None:
        if len(self.invoked) == self.number:
            self.invoked.append(time.monotonic())
        wanted = {"tactics": {self.name: self.number + 1}}
        key = f"{self.name}-{self.number + 1}"
        wire.call("patch_state", {"patch": {"cwd": wanted, "session": wanted}, "idempotency_key": key})
        self.acknowledged.append(time.monotonic())
        self.number += 1
        self.crowd.count()

    def _look(self, wire: Wire) -> None:
        invoked = time.monotonic()
        paths = ["cwd.tactics", f"session.tactics.{self.name}"]
        registers, own = wire.call("read_state", {"paths": paths})["value"]
        self.snapshots.append(Snapshot(invoked, time.monotonic(), registers, self.name, own))


SomeClient = TypeVar("SomeClient", bound=Client)


class Crowd(Generic[SomeClient]):
    """So many clients of a kind on one daemon.

    Attributes:
        over: Set when they are to end.
        clients: The threads.
    """

    def __init__(self, daemon: Daemon, clients: int, kind: Callable[[Crowd[SomeClient], str], SomeClient]) -> None:
        self._daemon = daemon
        self.over = threading.Event()
        self._up = threading.Event()
        self._up.set()
        self._counted = threading.Condition()
        self._acknowledged = 0
        self.clients = [kind(self, f"c{number}") for number in range(clients)]

    def __enter__(self) -> Self:
        for client in self.clients:
            client.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        for client in self.clients:
            client.join(PATIENCE_S)

    def connect(self, name: str) -> Wire:
        """Return a connection to the daemon that runs, or to the next one."""
        assert self._up.wait(PATIENCE_S)
        return self._daemon.agent(session=name)

    def count(self) -> None:
        """Count one acknowledgement."""
        with self._counted:
            self._acknowledged += 1
            self._counted.notify_all()

    def wait(self, more: int) -> None:
        """Wait for so many more acknowledgements."""
        with self._counted:
            goal = self._acknowledged + more
            reached = self._counted.wait_for(lambda: self._acknowledged >= goal, PATIENCE_S)
        assert reached, f"the clients are stuck: {self.refused}"

    def kill_and_restart(self) -> None:
        """SIGKILL the daemon and start another one."""
        self._up.clear()
        self._daemon.kill()
        self._daemon.start()
        self._up.set()

    @property
    def refused(self) -> list[str]:
        """What any of them was refused for no good reason."""
        return [refused for client in self.clients for refused in client.refused]

    def demand_ended(self) -> None:
        """Check that all of them have, and that nobody was refused anything."""
        for client in self.clients:
            assert not client.is_alive(), f"{client.name} hangs"
        assert self.refused == []


def history_of(crowd: Crowd[Register]) -> History:
    """Return what all of them saw, once they have ended."""
    crowd.demand_ended()
    return History(
        invoked={client.name: client.invoked for client in crowd.clients},
        acknowledged={client.name: client.acknowledged for client in crowd.clients},
        snapshots=[seen for client in crowd.clients for seen in client.snapshots],
    )


def final_of(daemon: Daemon, crowd: Crowd[Register]) -> dict[str, tuple[Any, Any]]:
    """Ask the daemon for each client's number in both scopes."""
    found = {}
    for client in crowd.clients:
        with daemon.agent(session=client.name) as wire:
            paths = [f"cwd.tactics.{client.name}", f"session.tactics.{client.name}"]
            found[client.name] = tuple(wire.call("read_state", {"paths": paths})["value"])
    return found
