"""What a daemon answers while its database or the network to it fails, and that it is well again without a restart.

Each test leaves the daemon that they share running; the engine's own answers are in `tests/store`.
Source: store.md section 1, security.md row 30.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from stateward_engine.store.postgresql import read_postgresql
from store.network import Network, network
from wire import Daemon, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_engine.store.postgresql_target import Target
    from store.network import Trouble
    from store.postgres_server import PostgresServer
    from wire import Wire

LIMITS: Final = {
    "database_connect_s": 2, "database_statement_s": 1, "database_lock_s": 0.3, "database_poll_s": 0.2
}  # fmt: skip
NUMBERS: Final = itertools.count(1)


class Far(NamedTuple):
    """A daemon, the network between it and its database, and the ledger there."""

    daemon: Daemon
    between: Network
    server: PostgresServer
    near: Target

    def change(self, *statements: str) -> None:
        """Do something to the tables behind the back of the daemon."""
        with self.server.admin() as admin:
            for sql in (f'SET search_path TO "{self.near.schema}"', *statements):
                admin.execute(sql.encode())

    def listening(self) -> int:
        """Return the number of the connection that the daemon is told on."""
        sql = "SELECT client_port FROM pg_stat_activity WHERE query = %s AND client_port > 0 ORDER BY backend_start"
        with self.server.admin() as admin:
            return self.between.number_of(admin.execute(sql, [f'LISTEN "{self.near.channel}"']).fetchall()[-1][0])


@pytest.fixture(scope="module")
def far(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Far]:
    near, folder = postgres.new_target(), tmp_path_factory.mktemp("far")
    with network(postgres.port) as between:
        address = f"postgresql://ada@127.0.0.1:{between.port}/postgres?schema={near.schema}"
        with Daemon(folder, store=address, machine="far", **LIMITS) as daemon:
            yield Far(daemon, between, postgres, near)


@pytest.fixture
def wire(far: Far) -> Iterator[Wire]:
    """A client; afterwards the same daemon, never restarted, is well again by itself."""
    pid = far.daemon.pid
    with far.daemon.agent() as wire:
        yield wire
        repeat(wire, patch())
        assert wire.call("status")["writer"] == {"ok": True, "reason": None}
    assert far.daemon.pid == pid


def patch() -> dict[str, Any]:
    """Return the params of a mutation that nobody has asked for yet."""
    number = next(NUMBERS)
    return {"patch": {"global": {"lazy": {"n": number}}}, "idempotency_key": f"key-{number}"}


def refusal(wire: Wire, params: dict[str, Any]) -> Refused:
    found = wire.outcome(wire.request("patch_state", params))
    assert isinstance(found, Refused), found
    return found


def repeat(wire: Wire, params: dict[str, Any]) -> Any:
    """Ask until the database is reached again, as the answers advise; return what is answered then."""
    while isinstance(found := wire.outcome(wire.request("patch_state", params)), Refused):
        assert found.category == "store_unavailable"
    return found


def n_of(wire: Wire) -> int:
    found: int = wire.call("read_state", {"path": "global.lazy.n"})["value"]
    return found


@pytest.mark.parametrize("kind", ["reset", "silence", "hung"])
def test_a_network_that_fails_under_a_commit_leaves_it_unknown_and_a_repeat_settles_it(
    far: Far, wire: Wire, kind: Trouble
) -> None:
    """Whether it was committed or not: it is done once."""
    repeat(wire, patch())
    before = read_postgresql(far.near).sequence
    far.between.trouble(kind)
    asked = patch()
    refused = refusal(wire, asked)

    assert (refused.category, refused.data["outcome"]) == ("store_unavailable", "unknown")
    assert refused.data["reason_code"] == "database_unreachable"
    assert "idempotency key" in refused.error["message"]
    repeat(wire, asked)
    assert read_postgresql(far.near).sequence == before + 1
    assert n_of(wire) == asked["patch"]["global"]["lazy"]["n"]


def test_a_network_that_is_down_refuses_and_reads_say_how_old_they_are(far: Far, wire: Wire) -> None:
    before = patch()
    wire.call("patch_state", before)
    far.between.cut()
    refused = refusal(wire, patch())
    read = wire.call("read_state", {"path": "global.lazy.n"})
    far.between.mend()

    assert (refused.category, refused.data["outcome"]) == ("store_unavailable", "refused")
    assert refused.data["reason_code"] == "database_unreachable"
    assert (read["value"], "stale_since" in read) == (before["patch"]["global"]["lazy"]["n"], True)


def test_a_change_elsewhere_is_told_though_its_notice_is_lost(far: Far, wire: Wire, elsewhere: Wire) -> None:
    """The listening connection is silent, and its head is looked at all the same."""
    repeat(wire, patch())
    wire.call("subscribe", {"topics": ["state"]})
    far.between.troubles[far.listening()] = "silence"
    elsewhere.call("patch_state", {"patch": {"global": {"lazy": {"from": "near"}}}})
    while wire.receive()["method"] != "state_changed":
        pass
    assert wire.call("read_state", {"path": "global.lazy.from"})["value"] == "near"


def test_somebody_who_holds_the_head_makes_it_busy_and_reads_go_on(far: Far, wire: Wire) -> None:
    before = patch()
    repeat(wire, before)
    with far.server.admin() as other:
        other.autocommit = False
        other.execute(f'SELECT FROM "{far.near.schema}".head FOR UPDATE'.encode())
        refused = refusal(wire, patch())
        read = wire.call("read_state", {"path": "global.lazy.n"})
        other.rollback()

    assert (refused.category, refused.data["limit"], refused.data["retryable"]) == ("busy", "lock_timeout", True)
    assert read["value"] == before["patch"]["global"]["lazy"]["n"]


@pytest.mark.parametrize(
    ("sqlstate", "reason_code"), [("53100", "database_disk_full"), ("25006", "database_read_only")]
)
def test_a_server_that_cannot_write_says_why_and_nothing_is_changed(
    far: Far, wire: Wire, sqlstate: str, reason_code: str
) -> None:
    before = patch()
    repeat(wire, before)
    far.change(
        "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION 'secret row' USING ERRCODE = '{sqlstate}'; END $$",
        "CREATE TRIGGER planted BEFORE INSERT ON groups EXECUTE FUNCTION fail()",
    )
    refused = refusal(wire, patch())
    far.change("DROP TRIGGER planted ON groups")

    assert (refused.category, refused.data["outcome"]) == ("store_unavailable", "refused")
    assert refused.data["reason_code"] == reason_code
    assert "secret" not in str(refused.error)
    assert n_of(wire) == before["patch"]["global"]["lazy"]["n"]


def test_a_ledger_of_another_version_is_refused_after_a_reconnection(far: Far, wire: Wire) -> None:
    repeat(wire, patch())
    far.change("UPDATE format SET version = version + 98")
    far.between.cut()
    far.between.mend()
    while (refused := refusal(wire, patch())).data.get("reason_code") == "database_unreachable":
        pass
    far.change("UPDATE format SET version = version - 98")

    assert (refused.category, refused.data["reason_code"]) == ("store_unavailable", "schema_version")


def test_a_daemon_does_not_start_without_its_database_and_does_once_it_is_there(
    postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It names the database and begins no store in its place."""
    near, folder = postgres.new_target(), tmp_path_factory.mktemp("late")
    with network(postgres.port) as between:
        address = f"postgresql://ada@127.0.0.1:{between.port}/postgres?schema={near.schema}"
        daemon = Daemon(folder, store=address, machine="late", **LIMITS)
        between.cut()
        failed = daemon.run("daemon", "run")
        between.mend()

        assert failed.returncode != 0
        assert "cannot be reached" in failed.stderr
        assert "Traceback" not in failed.stderr
        with daemon, daemon.agent() as wire:
            wire.call("patch_state", patch())


@pytest.fixture
def elsewhere(far: Far, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """A client of another daemon, which comes to the same ledger by a way of its own."""
    folder = tmp_path_factory.mktemp("near")
    with Daemon(folder, store=far.near.shown, machine="near", **LIMITS) as daemon, daemon.agent() as wire:
        yield wire
