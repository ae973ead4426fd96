"""The ledger in a database: what several daemons on it see of each other, and what its rows prove."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from stateward_engine.errors import CorruptStore, StoreUnavailable
from stateward_engine.state.transition import Repeat
from stateward_engine.store import postgresql
from stateward_engine.store.decide import decide
from stateward_engine.store.group import Committed, Compacted, Rejected
from stateward_engine.store.postgresql import PostgresqlLedger, open_postgresql, read_postgresql
from stateward_engine.store.postgresql_check import check_postgresql
from stateward_engine.store.postgresql_condition import look_at, weaknesses_of
from stateward_engine.store.postgresql_link import Link, Statement
from stateward_engine.store.postgresql_schema import Created, connect, create_schema
from stateward_engine.store.postgresql_target import Limits, Target
from stateward_engine.store.receipt_keys import names_of
from stateward_engine.store.store import open_store
from stateward_engine.store.writer import Compact, WriterCore
from store.planted import kept, noon, put, telling
from store.postgres_server import LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from stateward_engine.state.view import View
    from store.postgres_server import PostgresServer


@pytest.fixture
def cores(target: Target) -> Iterator[Callable[[], WriterCore]]:
    """Opens another daemon's writer on the ledger of the test."""
    with contextlib.ExitStack() as opened:

        def core() -> WriterCore:
            ledger, view = open_postgresql(target)
            opened.callback(ledger.close)
            return WriterCore(view, ledger, now=noon)

        yield core


def rows(postgres: PostgresServer, target: Target, sql: str) -> list[Any]:
    """Do something to the tables of a ledger behind its back."""
    with postgres.admin() as admin:
        admin.execute(f'SET search_path TO "{target.schema}"'.encode())
        done = admin.execute(sql.encode())
        return done.fetchall() if done.description else []


class TestSharing:
    def test_what_one_commits_another_sees(self, target: Target, tmp_path: Path) -> None:
        """store.md section 1: `LISTEN/NOTIFY` to follow."""
        seen = threading.Event()
        with (
            open_store(tmp_path / "a", database=target) as one,
            open_store(tmp_path / "b", database=target, deliver=telling(seen)) as two,
        ):
            one.commit_now(put("a", 1))
            assert seen.wait(20)
            while kept(two.view) != {"a": 1}:
                seen.clear()
                assert seen.wait(20)
            assert (one.provider, one.outage, two.health) == ("postgresql", None, "ok")

    def test_a_notice_that_is_lost_costs_time_and_never_a_change(
        self, target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Link, "listen", lambda _link: None)
        seen = threading.Event()
        with open_store(tmp_path / "b", database=target, deliver=telling(seen)) as two:
            with open_store(tmp_path / "a", database=target) as one:
                one.commit_now(put("a", 1))
            while kept(two.view) != {"a": 1}:
                assert seen.wait(20)
                seen.clear()

    def test_who_races_loses_nothing_and_is_not_turned_away(self, cores: Callable[[], WriterCore]) -> None:
        """SF-191: a lost race is decided again, and then the head is held, so that it is not lost for ever."""
        outcomes: list[Any] = []

        def work(core: WriterCore, name: str) -> None:
            for number in range(40):
                outcomes.extend(core.commit([put(f"{name}{number}", number)]))

        threads = [threading.Thread(target=work, args=(cores(), name)) for name in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert [outcome for outcome in outcomes if not isinstance(outcome, Committed)] == []
        assert len(kept(cores().view)) == 120

    def test_it_is_told_at_once_and_not_only_looked_for(self, postgres: PostgresServer, tmp_path: Path) -> None:
        seldom = postgres.new_target(LIMITS._replace(poll_s=600.0))
        seen = threading.Event()
        with (
            open_store(tmp_path / "a", database=seldom) as one,
            open_store(tmp_path / "b", database=seldom, deliver=telling(seen)) as two,
        ):
            # Once it has looked for the first time, it listens.
            assert seen.wait(20)
            one.commit_now(put("a", 1))
            while kept(two.view) != {"a": 1}:
                seen.clear()
                assert kept(two.view) == {"a": 1} or seen.wait(20)

    def test_a_race_that_was_lost_once_is_won_next(
        self, cores: Callable[[], WriterCore], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The head is held for who lost: a rival that is faster each time does not keep it away for ever."""
        slow, rival = cores(), cores()
        append = PostgresqlLedger.append
        rivals = iter(range(100))

        def overtaken(ledger: PostgresqlLedger, entries: Any, *, expected_head: int) -> None:
            if ledger is slow.ledger:
                rival.commit([put("rival", next(rivals))])
            append(ledger, entries, expected_head=expected_head)

        monkeypatch.setattr(PostgresqlLedger, "append", overtaken)
        (outcome,) = slow.commit([put("slow", 1)])
        assert isinstance(outcome, Committed)
        assert kept(slow.view) == {"rival": 0, "slow": 1}

    def test_a_repeat_is_answered_wherever_it_ran_first(self, cores: Callable[[], WriterCore]) -> None:
        one, two = cores(), cores()
        one.commit([put("a", 1, idempotency_key="k")])
        (outcome,) = two.commit([put("a", 1, idempotency_key="k")])
        assert isinstance(outcome, Repeat)
        assert two.view == one.view

    def test_a_key_is_committed_once_even_if_it_was_decided_twice(
        self, postgres: PostgresServer, target: Target, cores: Callable[[], WriterCore]
    ) -> None:
        """The unique receipts of the database are a guard of their own."""
        core = cores()
        core.commit([put("a", 1, idempotency_key="k")])
        rows(postgres, target, "INSERT INTO receipts SELECT sha256('x'), 1")
        forgetful = WriterCore(core.view, core.ledger, now=noon, decide=forgetting)

        with pytest.raises(CorruptStore, match="idempotency key"):
            forgetful.commit([put("a", 2, idempotency_key="k")])

        assert core.ledger.head == 1
        assert isinstance(core.commit([put("a", 3)])[0], Committed)
        assert kept(read_postgresql(target)) == {"a": 3}

    def test_a_key_that_everybody_forgot_can_be_used_again(
        self, cores: Callable[[], WriterCore], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(postgresql, "RECEIPTS_KEPT_MAX", 4)
        core = cores()
        for number in range(6):
            core.commit([put("a", number, idempotency_key=f"k{number}")])
        forgetful = WriterCore(core.view, core.ledger, now=noon, decide=forgetting)
        assert isinstance(forgetful.commit([put("a", "new", idempotency_key="k0")])[0], Committed)
        with pytest.raises(CorruptStore):
            forgetful.commit([put("a", "newer", idempotency_key="k4")])

    def test_who_follows_slower_than_compaction_starts_anew_from_it(self, cores: Callable[[], WriterCore]) -> None:
        one, two = cores(), cores()
        for number in range(3):
            one.commit([put("a", number, idempotency_key=f"k{number}")])
            one.commit([Compact()])
        one.commit([put("b", 1)])

        assert two.ledger.follow(two.view) == one.view
        two.view = two.ledger.follow(two.view)
        assert isinstance(two.commit([put("c", 1)])[0], Committed)
        assert two.ledger.length > 0

    def test_two_that_compact_do_it_once(self, cores: Callable[[], WriterCore]) -> None:
        one = cores()
        one.commit([put("a", 1)])
        two = cores()
        assert [*one.commit([Compact()]), *two.commit([Compact()])] == [Compacted(2), Compacted(0)]
        assert (one.ledger.length, two.ledger.length) == (0, 0)


def forgetting(basis: Any, command: Any, at: str) -> Any:
    """Decide as one that knows of no receipts: a mistake that must not reach the ledger."""
    basis.receipts = {}
    return decide(basis, command, at)


class TestDamage:
    """What contradicts itself is refused, by name, and a check tells it."""

    @pytest.mark.parametrize(
        ("done", "where", "what"),
        [
            ("DELETE FROM groups WHERE first = 2", "groups/3", "there is a gap"),
            (
                "UPDATE groups SET record = set_byte(record, 40, get_byte(record, 40) # 1) WHERE first = 2",
                "groups/2",
                "it is no record",
            ),
            ("UPDATE groups SET chain = sha256(chain) WHERE first = 3", "groups/3", "do not fit its chain"),
            ("UPDATE head SET sequence = 2", "head", "the groups lead to 3"),
            ("DELETE FROM groups WHERE first = 3", "head", "the groups lead to 2"),
            ("DELETE FROM head", "head", "does not have one row"),
            ("UPDATE base SET catalogue = substr(catalogue, 2)", "base", "catalogue is damaged"),
        ],
    )
    def test_no_change_behind_the_back_of_the_ledger_is_read(
        self,
        postgres: PostgresServer,
        target: Target,
        cores: Callable[[], WriterCore],
        *,
        done: str,
        where: str,
        what: str,
    ) -> None:
        one = cores()
        for number in range(3):
            one.commit([put("a", number)])
        assert check_postgresql(target).faults == ()
        rows(postgres, target, done)

        with pytest.raises(CorruptStore, match=what) as refusal:
            read_postgresql(target)

        assert refusal.value.facts["file"] == where
        assert where in {fault.file for fault in check_postgresql(target).faults}

    def test_another_past_is_never_appended_to(
        self, postgres: PostgresServer, target: Target, cores: Callable[[], WriterCore]
    ) -> None:
        """A database that was restored from a copy, and went on from there."""
        one, two = cores(), cores()
        one.commit([put("a", 1)])
        two.view = two.ledger.follow(two.view)
        rows(
            postgres,
            target,
            "DELETE FROM groups; UPDATE head SET sequence = 0, chain = decode(repeat('00', 32), 'hex')",
        )
        three = cores()
        three.commit([put("a", "other")])

        with pytest.raises(CorruptStore, match="another past"):
            two.commit([put("b", 2)])

        assert two.ledger.outage is not None
        assert kept(two.view) == {"a": 1}
        assert kept(read_postgresql(target)) == {"a": "other"}

    def test_a_damaged_checkpoint_fails_its_stream_alone(
        self, postgres: PostgresServer, target: Target, cores: Callable[[], WriterCore]
    ) -> None:
        core = cores()
        core.commit([put("a", 1)])
        core.commit([Compact()])
        rows(postgres, target, "UPDATE streams SET body = substr(body, 2) WHERE file LIKE 'streams/cwd/%'")
        view = read_postgresql(target)
        assert [identity.kind for identity in view.damaged] == ["cwd"]
        assert [identity.kind for identity in view.scopes] == ["session"]
        assert [fault.file.split("/")[1] for fault in check_postgresql(target).faults] == ["cwd"]


class TestSchema:
    def test_it_is_made_by_command_and_once(self, postgres: PostgresServer) -> None:
        target = postgres.target("made_here")
        with pytest.raises(
            StoreUnavailable, match=r"stateward store create --store 'postgresql://.*schema=made_here'"
        ) as missing:
            open_postgresql(target)
        first, second = create_schema(target), create_schema(target)
        assert missing.value.facts["reason_code"] == "schema_missing"
        assert first == Created("created", 1, first.ledger)
        assert second == first._replace(did="unchanged")

    def test_a_schema_of_others_is_left_alone(self, postgres: PostgresServer) -> None:
        with postgres.admin() as admin:
            admin.execute("CREATE SCHEMA theirs CREATE TABLE friends (name text)")
        with pytest.raises(StoreUnavailable, match="holds 1 other things"):
            create_schema(postgres.target("theirs"))

    @pytest.mark.parametrize(
        ("done", "remedy"),
        [
            ("UPDATE format SET version = 99", "use a newer stateward"),
            ("UPDATE format SET version = 0", "store create"),
        ],
    )
    def test_another_version_is_refused(self, postgres: PostgresServer, target: Target, done: str, remedy: str) -> None:
        rows(postgres, target, done)
        with pytest.raises(StoreUnavailable, match=remedy) as refusal:
            open_postgresql(target)
        assert refusal.value.facts["reason_code"] == "schema_version"

    def test_one_that_is_there_is_left_to_the_daemons_that_use_it(
        self, target: Target, cores: Callable[[], WriterCore]
    ) -> None:
        core = cores()
        assert create_schema(target).did == "unchanged"
        core.commit([put("a", 1)])


class TestCondition:
    def test_it_is_told_what_a_ledger_stands_on(self, target: Target, cores: Callable[[], WriterCore]) -> None:
        cores().commit([put("a", 1), put("b", 2)])
        found = look_at(target)
        assert (found.head, found.base, found.groups, found.weaknesses) == (2, 0, 1, ())
        assert int(found.server.partition(".")[0]) >= 13
        assert found.encrypted is False

    def test_a_server_that_promises_less_is_told_of(self) -> None:
        assert [line.partition(":")[0] for line in weaknesses_of("off", "off", "on")] == [
            "fsync is off",
            "full_page_writes is off",
            "it takes no writes",
        ]
        assert weaknesses_of("on", "on", "off") == ()


class TestSession:
    @pytest.mark.parametrize(
        ("default", "ours"), [("off", "on"), ("remote_write", "on"), ("remote_apply", "remote_apply")]
    )
    def test_a_commit_is_durable_whatever_the_database_defaults_to(
        self, target: Target, default: str, ours: str
    ) -> None:
        told = target._replace(uri=f"{target.uri}&options=-csynchronous_commit%3D{default}")
        link, _ = connect(told, sharing=False)
        with link:
            assert link.call(Statement("show", "SELECT current_setting('synchronous_commit')")) == [(ours,)]

    def test_what_an_address_says_of_tls_is_kept(self, target: Target) -> None:
        told = target._replace(uri=f"{target.uri}&sslmode=require&hostaddr=127.0.0.1")
        with pytest.raises(StoreUnavailable, match="SSL"):
            open_postgresql(told)

    def test_no_refusal_shows_a_password(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Security row 26."""
        monkeypatch.setenv("PGPASSWORD", "hush-hush")
        for uri in (
            "postgresql://ada:s3cret@127.0.0.1:1/team",
            "postgresql://ada:s3cret@127.0.0.1:1/team?nonsense=s3cret",
            "postgresql://ada:s3cret@/team?host=/nowhere/s3cret/hush-hush",
        ):
            target = Target(uri, "stateward", "postgresql://ada@127.0.0.1:1/team", Limits())
            with pytest.raises(StoreUnavailable) as refusal:
                open_postgresql(target)
            told = f"{refusal.value} {refusal.value.facts} {target!r}"
            assert "postgresql://ada@127.0.0.1:1/team" in told
            assert "hush-hush" not in told
            assert "s3cret" not in told

    def test_without_psycopg_it_says_what_to_install(self) -> None:
        script = (
            "import sys; sys.modules['psycopg'] = None\n"
            "from stateward_engine.errors import StoreUnavailable\n"
            "from stateward_engine.store.store import open_store\n"
            "from stateward_engine.store.postgresql_target import Target\n"
            "try: open_store('nowhere', read_only=True, database=Target('', 'stateward', ''))\n"
            "except StoreUnavailable as error: print(error)\n"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert "pip install 'stateward[postgresql]'" in done.stdout

    def test_a_store_in_files_loads_nothing_of_it(self, tmp_path: Path) -> None:
        script = (
            "import sys; from stateward_engine.store.store import open_store\n"
            "open_store(sys.argv[1]).close()\n"
            "print([name for name in sys.modules if 'psycopg' in name or 'postgresql' in name])"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, tmp_path / "s"], capture_output=True, text=True, check=True
        )
        assert done.stdout == "[]\n"


def test_operations_of_goals_are_named_for_the_whole_store() -> None:
    entry: dict[str, Any] = {
        "cwd": None,
        "session": None,
        "key": None,
        "goal": "g1",
        "patches": {"goal": {"receipts": {"op": {}}}},
    }
    other = {**entry, "goal": "g2"}
    (one, two), given_up = names_of([msgspec.json.encode(entry), msgspec.json.encode(other)])
    assert one.key == two.key
    assert one.goal != two.goal
    assert given_up == []
    assert names_of([msgspec.json.encode({**entry, "patches": {}, "reset": True})]) == ([], [one.goal])


def test_a_view_that_was_read_is_that_of_the_writer(target: Target, cores: Callable[[], WriterCore]) -> None:
    core = cores()
    core.commit([put("a", 1, idempotency_key="k"), put("b", 2)])
    view: View = read_postgresql(target)
    assert view == core.view
    assert not isinstance(core.commit([put("c", 3)])[0], Rejected)
