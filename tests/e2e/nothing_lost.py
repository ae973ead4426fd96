"""Many clients, daemons that are killed under them, and a check of all that anybody was answered.

Each client owns one register, a number that it only ever raises, in two scopes at once. A read returns all registers.
So the history is one of snapshots, and whether it is linearizable can be told in one pass: no search is needed.
Daemons that share a store hear of each other a moment later. What is asked of one of them is linearizable, and all of
them read states of the one order of patches, in which every patch stands after those that were acknowledged before it
was asked for.
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
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wire import Daemon, Wire

# A client looks at everything after so many patches of its own.
_READ_EVERY: Final = 4
# Before a client tries again what it was refused.
PAUSE_S: Final = 0.05


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
        daemons: For each client, which daemon it talks to; the same one for those that are not in it.
    """

    invoked: dict[str, list[float]] = field(default_factory=dict)
    acknowledged: dict[str, list[float]] = field(default_factory=dict)
    snapshots: list[Snapshot] = field(default_factory=list)
    daemons: dict[str, int] = field(default_factory=dict)

    def violations(self) -> Iterator[str]:
        """Yield what no single order of these patches and reads explains."""
        for seen in self.snapshots:
            yield from self._against_patches(seen)
        yield from self._against_each_other()

    def _against_patches(self, seen: Snapshot) -> Iterator[str]:
        if seen.own != seen.registers.get(seen.name, 0):
            yield f"half a change of {seen.name}: {seen.own} in its own scope, {seen.registers.get(seen.name)} in both"
        # A read includes what was acknowledged before any patch that it shows was asked for, and of what its own daemon
        # acknowledged all that was there before it.
        due = 0.0
        for name, number in seen.registers.items():
            if number > bisect_left(self.invoked[name], seen.answered):
                yield f"{name} = {number} was read before it was asked for"
            elif number > 0:
                due = max(due, self.invoked[name][number - 1])
        for name, times in self.acknowledged.items():
            latest = max(due, seen.invoked) if self._daemon(name) == self._daemon(seen.name) else due
            if (least := bisect_left(times, latest)) > seen.registers.get(name, 0):
                yield f"{name} = {least} was acknowledged, and {seen.registers.get(name, 0)} was read"

    def _against_each_other(self) -> Iterator[str]:
        """Snapshots of one order contain each other, and none is older than one that was answered before it began."""
        ordered = sorted(self.snapshots, key=lambda seen: (sum(seen.registers.values()), seen.answered))
        for older, newer in itertools.pairwise(ordered):
            if any(number > newer.registers.get(name, 0) for name, number in older.registers.items()):
                yield f"{older.name} and {newer.name} read states of which neither contains the other"
        first_answered: dict[int, float] = {}
        for seen in reversed(ordered):
            daemon = self._daemon(seen.name)
            first = first_answered.get(daemon, float("inf"))
            if seen.invoked > first:
                yield f"{seen.name} read an older state than what was answered before"
            first_answered[daemon] = min(first, seen.answered)

    def _daemon(self, name: str) -> int:
        return self.daemons.get(name, 0)


class Client(threading.Thread):
    """Works for ever, on whatever daemon runs; what it got no answer for, it does again.

    Attributes:
        daemon: The number of the daemon that it talks to.
        refused: What it was refused for no good reason; it ends then.
    """

    def __init__(self, crowd: Crowd[Any], name: str, daemon: int = 0) -> None:
        super().__init__(name=name, daemon=True)
        self.crowd = crowd
        self.daemon_number = daemon
        self.refused: list[str] = []

    def run(self) -> None:
        wire: Wire | None = None
        while not self.crowd.over.is_set():
            try:
                wire = wire or self.crowd.connect(self.name, self.daemon_number)
                self.work(wire)
            except OSError:
                if wire:
                    wire.close()
                wire = None
            except Refused as refused:
                if refused.category in self.crowd.borne:
                    # The database is away; to ask without pause would only keep it away for longer.
                    self.crowd.over.wait(PAUSE_S)
                    continue
                self.refused.append(f"{self.name}: {refused}")
                break
        if wire:
            wire.close()

    def work(self, wire: Wire) -> None:
        """Do the next thing, or the last one again if nobody answered it."""
        raise NotImplementedError


class Register(Client):
    """Raises its register, with an idempotency key for each number."""

    def __init__(self, crowd: Crowd[Register], name: str, daemon: int = 0, *, shared: str = "cwd") -> None:
        super().__init__(crowd, name, daemon)
        self._shared = shared
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
        wire.call("patch_state", {"patch": {self._shared: wanted, "session": wanted}, "idempotency_key": key})
        self.acknowledged.append(time.monotonic())
        self.number += 1
        self.crowd.count()

    def _look(self, wire: Wire) -> None:
        invoked = time.monotonic()
        paths = [f"{self._shared}.tactics", f"session.tactics.{self.name}"]
        registers, own = wire.call("read_state", {"paths": paths})["value"]
        self.snapshots.append(Snapshot(invoked, time.monotonic(), registers, self.name, own))


SomeClient = TypeVar("SomeClient", bound=Client)


class Crowd(Generic[SomeClient]):
    """So many clients of a kind, spread over daemons.

    Attributes:
        over: Set when they are to end.
        borne: The categories of refusals that all of them bear, and try again.
        clients: The threads.
    """

    def __init__(
        self,
        daemons: Sequence[Daemon],
        clients: int,
        kind: Callable[[Crowd[SomeClient], str, int], SomeClient],
        borne: frozenset[str] = frozenset(),
    ) -> None:
        self._daemons = daemons
        self.over = threading.Event()
        self.borne = borne
        self._up = [threading.Event() for _ in daemons]
        for up in self._up:
            up.set()
        self._counted = threading.Condition()
        self._acknowledged = 0
        self.clients = [kind(self, f"c{number}", number % len(daemons)) for number in range(clients)]

    def __enter__(self) -> Self:
        for client in self.clients:
            client.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        for client in self.clients:
            client.join(PATIENCE_S)

    def connect(self, name: str, daemon: int) -> Wire:
        """Return a connection to a daemon, once it runs."""
        assert self._up[daemon].wait(PATIENCE_S)
        return self._daemons[daemon].agent(session=name)

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

    def kill_and_restart(self, daemon: int = 0) -> None:
        """SIGKILL a daemon and start another one in its place."""
        self._up[daemon].clear()
        self._daemons[daemon].kill()
        self._daemons[daemon].start()
        self._up[daemon].set()

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
        daemons={client.name: client.daemon_number for client in crowd.clients},
    )


def final_of(daemons: Sequence[Daemon], crowd: Crowd[Register], shared: str = "cwd") -> dict[str, tuple[Any, Any]]:
    """Ask the daemon of each client for its number in both scopes."""
    found = {}
    for client in crowd.clients:
        with daemons[client.daemon_number].agent(session=client.name) as wire:
            paths = [f"{shared}.tactics.{client.name}", f"session.tactics.{client.name}"]
            found[client.name] = tuple(wire.call("read_state", {"paths": paths})["value"])
    return found
