"""Two daemons on one database, killed in turns with the server under their clients: nothing answered is lost.

Source: store.md section 1, security.md row 30.
"""

from __future__ import annotations

import os
import random
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest
from field_goal import FieldGoal, clean
from nothing_lost import Crowd, Register, final_of, history_of
from test_goal_kill import Agent, check

from stateward_engine.state.machines import named_on
from stateward_engine.state.view import Identity
from stateward_engine.store.postgresql import read_postgresql
from store.postgres_server import postgres_server
from wire import Daemon, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from stateward_engine.store.postgresql_target import Target
    from store.postgres_server import PostgresServer, Stop
    from wire import Wire

# `make crash` asks for more of them.
ROUNDS: Final = int(os.environ.get("STATEWARD_CRASH_KILLS", "10")) // 10
CLIENTS: Final = 32
AGENTS: Final = 8
# Who is told one of these tries again: the database is away or held.
BORNE: Final = frozenset({"store_unavailable", "busy"})
# A smart stop waits for those who are connected.
STOPS: Final[tuple[Stop, ...]] = ("fast", "immediate", "kill")
CATCH_UP: Final = {"patch": {"global": {"lazy": {"caught_up": True}}}}
LIMITS: Final = {"database_connect_s": 1, "database_statement_s": 5, "database_poll_s": 0.5}


class Site:
    """A server, a store in it, and the daemons of two machines."""

    def __init__(self, folder: Path, server: PostgresServer, target: Target) -> None:
        self.server, self.target = server, target
        self.daemons = [self._machine(folder / name) for name in ("loom", "wheel")]

    def _machine(self, folder: Path) -> Daemon:
        folder.mkdir()
        return Daemon(folder, store=self.target.shown, machine=folder.name, **LIMITS)

    def disasters(self, chance: random.Random, crowd: Crowd[Any]) -> Iterator[str]:
        """Let each thing happen once in every round, in another order each time."""
        kills = {f"kill of {number}": partial(crowd.kill_and_restart, number) for number in range(len(self.daemons))}
        stops = {f"{how} stop of the server": partial(self.server.restart, how) for how in STOPS}
        happen = {**kills, **stops}
        for _ in range(ROUNDS):
            for name in chance.sample(sorted(happen), k=len(happen)):
                happen[name]()
                yield name


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with postgres_server() as server:
        site = Site(tmp_path, server, server.new_target())
        try:
            for daemon in site.daemons:
                daemon.start()
            yield site
        finally:
            for daemon in site.daemons:
                daemon.stop()


@pytest.fixture
def chance() -> random.Random:
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # noqa: T201 - shown when a test fails
    return random.Random(seed)


def catch_up(wire: Wire) -> None:
    """Have a daemon hear of all that others have committed: a mutation is decided on it, once the database is back."""
    while isinstance(refused := wire.outcome(wire.request("patch_state", CATCH_UP)), Refused):
        assert refused.category in BORNE


def test_nothing_that_was_answered_is_lost_or_half_there(site: Site, chance: random.Random) -> None:
    """DM-005, DM-009."""
    kind = partial(Register, shared="global")
    with Crowd(site.daemons, CLIENTS, kind, BORNE) as crowd:
        for _ in site.disasters(chance, crowd):
            crowd.wait(chance.choice([1, 10, 50]))
        crowd.wait(CLIENTS)
    history = history_of(crowd)

    assert list(history.violations()) == []
    for name, (shared, own) in final_of(site.daemons, crowd, "global").items():
        assert shared == own
        assert len(history.acknowledged[name]) <= own <= len(history.invoked[name])
    # What was repeated was done once: a revision counts the changes of a scope.
    view = read_postgresql(site.target)
    for client in crowd.clients:
        daemon = site.daemons[client.daemon_number]
        place = named_on(os.path.realpath(daemon.cwd), daemon.folder.name)
        scope = view.scopes[Identity("session", place, client.name)]
        assert scope.planes["tactics"] == {client.name: scope.revision}


def test_what_was_answered_about_todos_has_happened_once(site: Site, chance: random.Random) -> None:
    """LX-107, LX-121: claims exclude each other across machines."""
    with FieldGoal(site.daemons[0], clean(agent={"todo_first": "[P1] First"})) as goal:
        goal.promote(handoff_mode="hard_lease")
        before = int(goal.call("goal_status")["cursor"])
        kind = partial(Agent, goal_id=goal.goal_id, board=[])
        with Crowd(site.daemons, AGENTS, kind, BORNE) as crowd:
            for _ in site.disasters(chance, crowd):
                crowd.wait(chance.choice([1, 5, 20]))
            crowd.wait(2 * AGENTS)
        crowd.demand_ended()
        goal.reconnect()
        catch_up(goal.wire)
        check(goal, crowd.clients, before)
        assert goal.project()["status"] in ("delivered", "current")
