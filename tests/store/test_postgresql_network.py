"""A network that fails between a daemon and its database: nothing is lost, and nothing has to be restarted.

Security row 30; store.md section 1.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

import pytest

from stateward_engine.errors import StoreUnavailable
from stateward_engine.state.transition import Repeat
from stateward_engine.store import postgresql, postgresql_link
from stateward_engine.store.group import Committed, Rejected
from stateward_engine.store.postgresql import open_postgresql, read_postgresql
from stateward_engine.store.postgresql_target import Limits
from stateward_engine.store.store import open_store
from stateward_engine.store.writer import WriterCore
from store.network import Network, network
from store.planted import kept, noon, put, telling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from stateward_engine.store.postgresql_target import Target
    from store.network import Trouble
    from store.postgres_server import PostgresServer

LIMITS = Limits(connect_s=2.0, statement_s=1.0, lock_s=0.3, poll_s=0.2)
PATIENCE_S = 20


@pytest.fixture
def between(postgres: PostgresServer) -> Iterator[Network]:
    with network(postgres.port) as carried:
        yield carried


@pytest.fixture
def far(postgres: PostgresServer, between: Network) -> Target:
    """A ledger in a database that is reached by the network."""
    near = postgres.new_target(LIMITS)
    return near._replace(uri=f"postgresql://ada@127.0.0.1:{between.port}/postgres?application_name=far")


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "_RETRY_FIRST_S", 0.0)
    monkeypatch.setattr(postgresql_link, "_SILENCE_S", 0.2)


def test_a_network_that_loses_the_answer_of_a_commit_leaves_it_unknown(far: Target, between: Network) -> None:
    """Whether it was cut or swallows everything; a repeat is answered as the first time would have been."""
    troubles: tuple[Trouble, ...] = ("reset", "silence")
    ledger, view = open_postgresql(far)
    with contextlib.closing(ledger):
        core = WriterCore(view, ledger, now=noon)
        core.commit([put("first", 0)])
        for number, trouble in enumerate(troubles):
            command: Any = put(trouble, number, idempotency_key=trouble)
            between.troubles[between.connections - 1] = trouble

            (outcome,) = core.commit([command])
            assert isinstance(outcome, Rejected)
            assert isinstance(outcome.error, StoreUnavailable)
            assert outcome.error.facts["outcome"] == "unknown"

            (outcome,) = core.commit([command])
            assert isinstance(outcome, Repeat)
        assert kept(core.view) == {"first": 0, "reset": 0, "silence": 1}


def test_a_network_that_is_down_refuses_and_comes_back_by_itself(far: Target, between: Network) -> None:
    ledger, view = open_postgresql(far)
    with contextlib.closing(ledger):
        core = WriterCore(view, ledger, now=noon)
        core.commit([put("a", 1)])
        between.cut()
        outcomes = [core.commit([put("b", number)])[0] for number in range(2)]
        assert all(isinstance(outcome, Rejected) for outcome in outcomes)
        assert ledger.outage is not None

        between.mend()
        (outcome,) = core.commit([put("c", 3)])
        assert isinstance(outcome, Committed)
        assert ledger.outage is None
    assert kept(read_postgresql(far)) == {"a": 1, "c": 3}


def test_a_change_whose_notice_is_lost_is_seen_all_the_same(
    postgres: PostgresServer, far: Target, between: Network, tmp_path: Path
) -> None:
    """The writer looks at the head now and then, whatever it is told."""
    changed = threading.Event()
    near = far._replace(uri=postgres.uri())
    with open_store(tmp_path / "far", database=far, deliver=telling(changed)) as store:
        # The second connection is that of who listens; it has looked for the first time once it listens.
        assert changed.wait(PATIENCE_S)
        between.troubles[1] = "silence"
        with open_store(tmp_path / "near", database=near) as other:
            other.commit_now(put("a", 1))
        while kept(store.view) != {"a": 1}:
            changed.clear()
            assert kept(store.view) == {"a": 1} or changed.wait(PATIENCE_S)
        assert store.health == "ok"
