"""A database that is away, hung, full or in others' hands: a typed answer each time, and recovery without a restart.

Security row 30: fail closed, and never another store instead.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from stateward_engine.errors import Busy, StoreUnavailable
from stateward_engine.state.transition import Repeat
from stateward_engine.state.view import View
from stateward_engine.store import postgresql, postgresql_link
from stateward_engine.store.clock import elapsed_s
from stateward_engine.store.group import Committed, Compacted, Rejected
from stateward_engine.store.postgresql import open_postgresql, read_postgresql
from stateward_engine.store.postgresql_failures import Lost
from stateward_engine.store.postgresql_link import Link
from stateward_engine.store.postgresql_schema import create_schema
from stateward_engine.store.postgresql_target import Limits
from stateward_engine.store.store import open_store
from stateward_engine.store.writer import WriterCore
from store.planted import kept, noon, put, telling
from store.postgres_server import postgres_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from stateward_engine.errors import EngineError
    from stateward_engine.store.postgresql_target import Target
    from store.postgres_server import PostgresServer, Stop

FRAGILE = Limits(connect_s=2.0, statement_s=1.0, lock_s=0.3, poll_s=0.2)


@pytest.fixture(scope="module")
def fragile() -> Iterator[PostgresServer]:
    """A server that the tests of this file stop and break; each leaves it running."""
    with postgres_server() as server:
        yield server


@pytest.fixture
def target(fragile: PostgresServer) -> Target:
    return fragile.new_target(FRAGILE)


@pytest.fixture
def core(target: Target) -> Iterator[WriterCore]:
    ledger, view = open_postgresql(target)
    with contextlib.closing(ledger):
        yield WriterCore(view, ledger, now=noon)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that is back is found by the next call, and a silent one is left soon."""
    monkeypatch.setattr(postgresql, "_RETRY_FIRST_S", 0.0)
    monkeypatch.setattr(postgresql_link, "_SILENCE_S", 0.2)


def refusal(core: WriterCore, command: Any) -> EngineError:
    (outcome,) = core.commit([command])
    assert isinstance(outcome, Rejected), outcome
    assert isinstance(outcome.error, StoreUnavailable | Busy)
    return outcome.error


def committed(core: WriterCore, command: Any) -> None:
    (outcome,) = core.commit([command])
    assert isinstance(outcome, Committed), outcome


def in_schema(fragile: PostgresServer, target: Target, *statements: str) -> None:
    with fragile.admin() as admin:
        for sql in (f'SET search_path TO "{target.schema}"', *statements):
            admin.execute(sql.encode())


class TestAway:
    def test_a_server_that_is_down_at_the_start_is_named(
        self, fragile: PostgresServer, target: Target, tmp_path: Path
    ) -> None:
        fragile.stop()
        try:
            with pytest.raises(StoreUnavailable, match="cannot be reached") as refused:
                open_store(tmp_path / "local", database=target)
        finally:
            fragile.start()
        assert refused.value.facts["reason_code"] == "database_unreachable"
        assert refused.value.facts["outcome"] == "refused"
        # Nothing stays locked, and no store was begun in its place.
        assert [path.name for path in (tmp_path / "local").iterdir()] == ["lock"]
        open_store(tmp_path / "local", database=target).close()

    def test_a_restart_between_two_mutations_goes_unnoticed(self, fragile: PostgresServer, core: WriterCore) -> None:
        committed(core, put("a", 1))
        fragile.restart("immediate")
        committed(core, put("b", 2))
        assert core.ledger.outage is None

    def test_an_outage_ends_by_itself(self, fragile: PostgresServer, target: Target, tmp_path: Path) -> None:
        changed = threading.Event()
        with open_store(tmp_path / "a", database=target, deliver=telling(changed)) as store:
            store.commit_now(put("a", 1))
            fragile.stop("immediate")
            with pytest.raises(StoreUnavailable):
                store.commit_now(put("b", 2))
            assert store.outage is not None
            assert store.health == store.outage.reason
            assert kept(store.view) == {"a": 1}
            fragile.start()
            with open_store(tmp_path / "b", database=target) as other:
                other.commit_now(put("c", 3))
            while kept(store.view) != {"a": 1, "c": 3}:
                changed.clear()
                assert changed.wait(20)
            assert store.health == "ok"
            store.commit_now(put("b", 2))

    def test_a_database_that_was_just_away_is_left_alone_for_a_moment(
        self, fragile: PostgresServer, core: WriterCore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = [0.0]
        monkeypatch.setattr(postgresql, "elapsed_s", lambda: now[0])
        monkeypatch.setattr(postgresql, "_RETRY_FIRST_S", 1.0)
        core.ledger._retry_s = 1.0  # type: ignore[attr-defined]
        fragile.stop()
        refusal(core, put("a", 1))
        fragile.start()
        assert refusal(core, put("a", 1)).facts["outcome"] == "refused"
        now[0] = 1.0
        committed(core, put("a", 1))


class TestUnknown:
    @pytest.mark.parametrize("how", ["fast", "immediate", "kill"])
    def test_a_server_that_dies_under_a_commit_leaves_it_unknown_and_a_repeat_settles_it(
        self, fragile: PostgresServer, target: Target, how: Stop
    ) -> None:
        ledger, view = open_postgresql(target._replace(limits=FRAGILE._replace(statement_s=20.0)))
        core = WriterCore(view, ledger, now=noon)
        command = put("a", 1, idempotency_key="k")
        in_schema(
            fragile, target,
            "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN PERFORM pg_sleep(20); RETURN NULL; END $$",
            "CREATE TRIGGER planted AFTER INSERT ON groups EXECUTE FUNCTION wait()",
        )  # fmt: skip
        with contextlib.closing(ledger):
            outcomes: list[Any] = []
            thread = threading.Thread(target=lambda: outcomes.extend(core.commit([command])))
            thread.start()
            wait_for_sleep(fragile)
            fragile.restart(how)
            thread.join(20)
        in_schema(fragile, target, "DROP TRIGGER planted ON groups")
        assert isinstance(outcomes[0], Rejected)
        assert outcomes[0].error.facts["outcome"] == "unknown"  # type: ignore[attr-defined]

        ledger, view = open_postgresql(target)
        with contextlib.closing(ledger):
            again = WriterCore(view, ledger, now=noon)
            committed(again, command)
            assert kept(again.view) == {"a": 1}

    def test_one_that_did_commit_is_found_without_a_restart(
        self, core: WriterCore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        command = put("a", 1, idempotency_key="k")
        committed(core, put("first", 0))
        with monkeypatch.context() as patch:
            lose_answer_of(patch, "append")
            assert refusal(core, command).facts["outcome"] == "unknown"
        assert core.ledger.outage is not None
        assert core.ledger.poison is None
        (outcome,) = core.commit([command])
        assert isinstance(outcome, Repeat)
        assert (kept(core.view), core.ledger.head) == ({"first": 0, "a": 1}, 2)
        assert core.ledger.outage is None
        # Whoever delivers what others commit looks at everything again.
        assert core.followed[-1] == (View(), core.view)

    def test_nothing_else_is_appended_before_it_is_found(
        self, core: WriterCore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patch:
            lose_answer_of(patch, "append")
            refusal(core, put("a", 1))
        committed(core, put("b", 2))
        assert kept(core.view) == {"a": 1, "b": 2}

    def test_a_hung_server_is_left_and_its_late_commit_found(self, fragile: PostgresServer, core: WriterCore) -> None:
        command = put("a", 1, idempotency_key="k")
        committed(core, put("b", 2))
        fragile.signal(signal.SIGSTOP)
        began = elapsed_s()
        try:
            found = refusal(core, command)
        finally:
            fragile.signal(signal.SIGCONT)
        assert elapsed_s() - began < 8
        assert found.facts["outcome"] == "unknown"
        assert "did not answer within" in str(found)
        while isinstance((outcome := core.commit([command])[0]), Rejected):
            assert isinstance(outcome.error, StoreUnavailable)
        assert kept(core.view) == {"a": 1, "b": 2}
        assert core.view.sequence == 2

    def test_a_commit_that_fails_after_its_rows_came_is_refused(
        self, fragile: PostgresServer, target: Target, core: WriterCore
    ) -> None:
        """The server answers with rows, and only then finds that it cannot commit."""
        in_schema(fragile, target, failing("53100"), late_trigger())
        found = refusal(core, put("a", 1))
        assert found.facts["outcome"] == "refused"
        assert found.facts["reason_code"] == "database_disk_full"
        in_schema(fragile, target, "DROP TRIGGER planted ON groups")
        committed(core, put("b", 2))
        assert kept(read_postgresql(target)) == {"b": 2}


class TestRefused:
    @pytest.mark.parametrize(
        ("sqlstate", "reason_code"),
        [
            ("53100", "database_disk_full"),
            ("53200", "database_memory"),
            ("57014", "statement_timeout"),
            ("42501", "database_privileges"),
            ("25006", "database_read_only"),
            ("XX001", "database_damaged"),
            ("58030", "database_disk"),
            ("P0001", "database_error"),
        ],
    )
    def test_each_trouble_of_the_server_has_its_answer(
        self, fragile: PostgresServer, target: Target, core: WriterCore, sqlstate: str, reason_code: str
    ) -> None:
        in_schema(
            fragile, target, failing(sqlstate), "CREATE TRIGGER planted BEFORE INSERT ON groups EXECUTE FUNCTION fail()"
        )
        found = refusal(core, put("a", 1))
        assert found.facts == {"outcome": "refused", "reason_code": reason_code, "sqlstate": sqlstate}
        in_schema(fragile, target, "DROP TRIGGER planted ON groups")
        committed(core, put("b", 2))
        assert (kept(core.view), core.ledger.outage) == ({"b": 2}, None)

    def test_a_race_that_the_server_ends_is_decided_again(
        self, fragile: PostgresServer, target: Target, core: WriterCore
    ) -> None:
        in_schema(
            fragile, target, "CREATE SEQUENCE times",
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "IF nextval('times') = 1 THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF; RETURN NULL; END $$",
            "CREATE TRIGGER planted BEFORE INSERT ON groups EXECUTE FUNCTION fail()",
        )  # fmt: skip
        committed(core, put("a", 1))

    def test_a_server_without_writes_is_refused_at_the_start_and_later(
        self, fragile: PostgresServer, target: Target, core: WriterCore
    ) -> None:
        fragile.restart(default_transaction_read_only="on")
        try:
            found = refusal(core, put("a", 1))
            with pytest.raises(StoreUnavailable, match="takes no writes") as refused:
                open_postgresql(target)
            assert read_postgresql(target).sequence == 0
        finally:
            fragile.restart()
        assert {found.facts["reason_code"], refused.value.facts["reason_code"]} == {"database_read_only"}
        committed(core, put("a", 1))

    def test_somebody_who_holds_the_head_makes_it_busy(
        self, fragile: PostgresServer, target: Target, core: WriterCore
    ) -> None:
        with fragile.admin() as other:
            other.autocommit = False
            other.execute(f'SELECT FROM "{target.schema}".head FOR UPDATE'.encode())
            found = refusal(core, put("a", 1))
            other.rollback()
        assert isinstance(found, Busy)
        assert (found.retryable, found.facts) == (True, {"limit": "lock_timeout"})
        committed(core, put("b", 2))
        assert kept(core.view) == {"b": 2}

    def test_somebody_who_holds_the_base_puts_compaction_off_and_ends_no_writer(
        self, fragile: PostgresServer, target: Target, core: WriterCore
    ) -> None:
        """It is tried after any group, on the thread that everybody waits for."""
        committed(core, put("a", 1))
        with fragile.admin() as other:
            other.autocommit = False
            other.execute(f'SELECT FROM "{target.schema}".base FOR UPDATE'.encode())
            put_off = core.compact()
            other.rollback()
        assert isinstance(put_off, Rejected)
        assert isinstance(put_off.error, Busy)
        committed(core, put("b", 2))
        assert isinstance(core.compact(), Compacted)

    @pytest.mark.parametrize(
        ("user", "database", "reason_code"),
        [
            ("bea", "postgres", "database_connections"),
            ("nobody_known", "postgres", "database_login"),
            ("ada", "nowhere", "database_missing"),
        ],
    )
    def test_a_refused_connection_says_why(
        self, fragile: PostgresServer, user: str, database: str, reason_code: str
    ) -> None:
        with fragile.admin() as admin:
            admin.execute("DROP ROLE IF EXISTS bea")
            admin.execute("CREATE ROLE bea LOGIN CONNECTION LIMIT 0")
        target = fragile.target()._replace(uri=fragile.uri(database, user=user))
        with pytest.raises(StoreUnavailable) as refused:
            open_postgresql(target)
        assert refused.value.facts["reason_code"] == reason_code

    def test_a_ledger_that_took_the_place_of_another_is_not_written_to(
        self, fragile: PostgresServer, target: Target, core: WriterCore
    ) -> None:
        committed(core, put("a", 1))
        in_schema(fragile, target, f'DROP SCHEMA "{target.schema}" CASCADE', END_OTHERS)
        create_schema(target)
        assert "another ledger" in str(refusal(core, put("b", 2)))
        assert "another ledger" in str(core.ledger.poison)
        assert read_postgresql(target).sequence == 0


END_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stateward'"


def failing(sqlstate: str) -> str:
    """Return what makes a trigger function that refuses everything with a code."""
    return (
        "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION 'secret row' USING ERRCODE = '{sqlstate}'; END $$"
    )


def late_trigger() -> str:
    return (
        "CREATE CONSTRAINT TRIGGER planted AFTER INSERT ON groups DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION fail()"
    )


def lose_answer_of(patch: pytest.MonkeyPatch, name: str) -> None:
    """Let a statement run to its end, and its answer never come."""
    call = Link.call

    def lost(link: Link, statement: Any, *values: Any) -> Any:
        answer = call(link, statement, *values)
        if statement.name == name:
            raise Lost("the answer was lost")
        return answer

    patch.setattr(Link, "call", lost)


def wait_for_sleep(server: PostgresServer) -> None:
    """Return once a trigger waits in the middle of an append."""
    with server.admin() as admin:
        while not admin.execute("SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'").rowcount:
            pass
