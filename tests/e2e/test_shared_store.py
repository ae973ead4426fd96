"""Two daemons on one database: what a machine commits the others see, and each works on its own documents.

Source: store.md section 1, security.md rows 26 and 30.
"""

from __future__ import annotations

import contextlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from test_state_vectors import follow, vectors
from test_todo_day import Day, MortalDaemon, live_through

from store.postgres_server import postgres_server
from wire import Daemon, Refused, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from state.vectors import Vector

GOAL: Final = "rollback"
# Vectors that set what a store keeps and start the daemon anew; the others are shown by the daemon that all share.
RESTARTED: Final = {"history-limit-bounds", "history-reload-keeps-window", "own-multi-scope-order"}
REHEARSE: Final = "todo_rehearse"
SECRET: Final = "hunter2"  # noqa: S105 - what must not be told
ATTACH: Final = {"client": {"name": "test"}, "protocol": 1}
DOCUMENT: Final = f"""\
# Rollback

## Agent Todo

- [ ] [P1] Rehearse it.
  <!-- loopx:todo todo_id={REHEARSE} status=open task_class=advancement_task -->

prose
"""


def machine(folder: Path, address: str, name: str, **settings: Any) -> Daemon:
    """Return the daemon of a machine that has a home of its own."""
    (folder / name).mkdir()
    return Daemon(folder / name, store=address, machine=name, **settings)


@pytest.fixture
def two(tmp_path: Path, store_in_database: str) -> Iterator[tuple[Daemon, Daemon]]:
    with machine(tmp_path, store_in_database, "loom") as here, machine(tmp_path, store_in_database, "wheel") as there:
        yield here, there


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, new_store_in_database: Callable[[], str]) -> Iterator[Daemon]:
    with machine(tmp_path_factory.mktemp("shared"), new_store_in_database(), "loom") as daemon:
        yield daemon


def until(wire: Wire, method: str, wanted: Callable[[dict[str, Any]], bool]) -> None:
    """Return once a notification tells what is waited for."""
    while True:
        message = wire.notifications.pop(0) if wire.notifications else wire.receive()
        if message["method"] == method and wanted(message["params"]):
            return


def refusal_of(wire: Wire, method: str, params: dict[str, Any]) -> Refused:
    """Call a method until it is refused."""
    while True:
        found = wire.outcome(wire.request(method, params))
        if isinstance(found, Refused):
            return found


class TestState:
    @pytest.mark.parametrize("vector", vectors(alone=False))
    def test_a_vector_on_a_database(self, daemon: Daemon, vector: Vector) -> None:
        """SF-001, SF-010, SF-017, SF-018, SF-121: the engine of the ledger is seen by no client."""
        follow(daemon, vector)

    @pytest.mark.parametrize("vector", [found for found in vectors(alone=True) if found.id in RESTARTED])
    def test_a_vector_with_a_database_of_its_own(self, tmp_path: Path, store_in_database: str, vector: Vector) -> None:
        """SF-188: also across restarts."""
        with machine(tmp_path, store_in_database, "loom") as daemon:
            follow(daemon, vector)

    def test_a_change_here_is_told_and_read_there(self, two: tuple[Daemon, Daemon]) -> None:
        here, there = two
        with here.agent() as writer, there.agent() as reader:
            reader.call("subscribe", {"topics": ["state"]})
            writer.call("patch_state", {"patch": {"global": {"lazy": {"from": "loom"}}}})

            until(reader, "state_changed", lambda told: told["scopes"] == ["global"])
            assert reader.call("read_state", {"path": "global.lazy.from"})["value"] == "loom"

    def test_a_directory_of_the_same_path_is_another_one_there(self, two: tuple[Daemon, Daemon]) -> None:
        here, there = two
        there.cwd = here.cwd
        with here.agent() as writer, there.agent() as reader:
            for number in range(2):
                writer.call(
                    "patch_state", {"patch": {"cwd": {"lazy": {"n": number}}, "global": {"lazy": {"n": number}}}}
                )
            assert writer.call("attach", {"client": {"name": "t"}, "protocol": 1, "cwd": str(here.cwd)})["cwd"] == str(
                here.cwd
            )
            # A mutation follows first, so that this is decided on all of them.
            reader.call("patch_state", {"patch": {"cwd": {"lazy": {"m": 1}}}})

            assert reader.call("read_state", {"path": "global.lazy.n"})["value"] == 1
            assert reader.call("read_state", {"path": "cwd.lazy"})["value"] == {"m": 1}

    def test_racing_patches_are_all_kept(self, two: tuple[Daemon, Daemon]) -> None:
        """Whoever loses the race for the head decides again."""
        each = 25

        def write(daemon: Daemon) -> None:
            with daemon.agent() as wire:
                for number in range(each):
                    change = {"global": {"lazy": {daemon.folder.name: {str(number): number}}}}
                    wire.call("patch_state", {"patch": change})

        with ThreadPoolExecutor() as threads:
            list(threads.map(write, two))

        for daemon in two:
            with daemon.agent() as wire:
                wire.call("patch_state", {"patch": {"global": {"lazy": {"end": True}}}})
                found = wire.call("read_state", {"path": "global.lazy"})["value"]
                assert {name: len(found[name]) for name in ("loom", "wheel")} == {"loom": each, "wheel": each}

    def test_a_key_is_answered_once_whichever_daemon_is_asked(self, two: tuple[Daemon, Daemon]) -> None:
        params = {"patch": {"global": {"lazy": {"n": 1}}}, "idempotency_key": "once"}
        answers = []
        for daemon in two:
            with daemon.agent(session=None, wanted=["global"]) as wire:
                wire.attach(None, None)
                answers.append(wire.call("patch_state", params))

        assert answers[0] == answers[1]


class Goal:
    """A goal whose document is on the first of two machines."""

    def __init__(self, here: Daemon, there: Daemon) -> None:
        self.path = here.cwd / "ACTIVE_GOAL_STATE.md"
        self.path.write_text(DOCUMENT, "utf-8")
        self.here, self.there = here.agent("here"), there.agent("there")
        self.here.call("goal_register", {"goal_id": GOAL, "path": str(self.path)})
        # Sees it, since it follows before it decides.
        self.there.call("patch_state", {"patch": {"cwd": {"lazy": {"n": 1}}}})

    def promote(self) -> None:
        self.here.call("authority_shadow_bootstrap", {"goal_id": GOAL, "operation_id": "shadow"})
        self.here.call("authority_promote", {"goal_id": GOAL, "operation_id": "promote"})
        self.there.call("patch_state", {"patch": {"cwd": {"lazy": {"n": 2}}}})

    def complete(self, wire: Wire) -> dict[str, Any]:
        found: dict[str, Any] = wire.call(
            "todo_complete", {"goal_id": GOAL, "todo_id": REHEARSE, "operation_id": "done", "evidence": "it went well"}
        )
        return found

    def close(self) -> None:
        self.here.close()
        self.there.close()


@pytest.fixture
def goal(two: tuple[Daemon, Daemon]) -> Iterator[Goal]:
    with contextlib.closing(Goal(*two)) as found:
        yield found


class TestGoals:
    def test_a_day_of_a_goal_on_a_database(self, tmp_path: Path, store_in_database: str) -> None:
        with MortalDaemon(tmp_path, store=store_in_database) as daemon:
            assert isinstance(daemon, MortalDaemon)
            with Day(daemon, catches_up=True) as day:
                live_through(day)

    def test_an_unpromoted_goal_is_worked_on_where_its_document_is(self, goal: Goal) -> None:
        with pytest.raises(Refused) as refused:
            goal.complete(goal.there)

        assert refused.value.data["reason_code"] == "document_elsewhere"
        assert (refused.value.data["machine"], refused.value.data["document"]) == ("loom", str(goal.path))
        assert goal.complete(goal.here)["status"] == "done"

    def test_a_display_is_delivered_by_the_daemon_of_its_machine(self, goal: Goal) -> None:
        goal.promote()
        goal.here.call("subscribe", {"topics": ["goals", "todos"]})
        answer = goal.complete(goal.there)

        assert (answer["status"], answer["projection_delivery"]) == ("done", "pending")
        assert answer["projection_outbox"]["reason_code"] == "todo_projection_elsewhere"
        until(goal.here, "todos_changed", lambda told: told["todo_ids"] == [REHEARSE])
        # In the lane of the goal, so after the delivery that nobody asked for.
        report = goal.here.call("project_markdown", {"goal_id": GOAL, "execute": True})
        assert report["status"] in ("current", "delivered")
        assert "- [x] [P1] Rehearse it." in goal.path.read_text("utf-8")
        assert goal.there.call("goal_status", {"goal_id": GOAL})["display"] == {"state": "elsewhere"}

    def test_nobody_has_to_ask_for_a_delivery(self, goal: Goal) -> None:
        """Its problems are told once the document is another one."""
        goal.promote()
        goal.here.call("subscribe", {"topics": ["goals"]})
        goal.complete(goal.there)
        while "- [x]" not in goal.path.read_text("utf-8"):
            until(goal.here, "diagnostics_changed", lambda told: told["goal"] == GOAL)

    def test_a_todo_has_one_claim(self, two: tuple[Daemon, Daemon], goal: Goal) -> None:
        goal.promote()

        def claim(number: int) -> bool:
            with two[number % 2].agent(f"s{number}") as wire:
                who = f"agent-{number}"
                params = {"goal_id": GOAL, "todo_id": REHEARSE, "claimed_by": who, "agent_id": who}
                try:
                    wire.call("todo_claim", params)
                except Refused as refused:
                    assert refused.data["reason_code"] == "claim_owner_mismatch"  # noqa: PT017
                    return False
                return True

        with ThreadPoolExecutor(16) as threads:
            assert sum(threads.map(claim, range(16))) == 1


class TestOutage:
    def test_reads_say_how_old_they_are_and_nothing_has_to_be_restarted(self, tmp_path: Path) -> None:
        """Row 30: mutations are refused meanwhile, and nothing falls back to another store."""
        limits = {"database_connect_s": 1, "database_statement_s": 2, "database_poll_s": 0.2}
        with postgres_server() as server:
            address = server.new_target().shown
            with machine(tmp_path, address, "loom", **limits) as daemon, daemon.agent() as wire:
                patch = {"patch": {"global": {"lazy": {"n": 1}}}}
                wire.call("patch_state", patch)
                server.stop("immediate")
                with pytest.raises(Refused) as refused:
                    wire.call("patch_state", {"patch": {"global": {"lazy": {"n": 2}}}, "idempotency_key": "two"})

                assert refused.value.category == "store_unavailable"
                read = wire.call("read_state", {"path": "global.lazy.n"})
                status = wire.call("status")
                assert (read["value"], read["stale_since"]) == (1, status["writer"]["stale_since"])
                assert not status["writer"]["ok"]
                assert wire.call("attach", ATTACH)["stale_since"] == read["stale_since"]
                printed = daemon.run("read", "global.lazy.n")
                assert (printed.stdout, read["stale_since"] in printed.stderr) == ("1\n", True)
                assert wire.call("state_status")["writer"]["stale_since"] == read["stale_since"]

                server.start()
                with contextlib.suppress(Refused):
                    # Perhaps before it was seen that the server is back.
                    wire.call("patch_state", {"patch": {"global": {"lazy": {"n": 2}}}, "idempotency_key": "two"})
                while "stale_since" in wire.call("read_state", {"path": "global.lazy.n"}):
                    pass
                wire.call("patch_state", {"patch": {"global": {"lazy": {"n": 2}}}, "idempotency_key": "two"})
                assert wire.call("read_state", {"path": "global.lazy.n"})["value"] == 2
                assert wire.call("status")["writer"] == {"ok": True, "reason": None}

    def test_reads_that_are_too_old_are_refused_where_that_is_wanted(self, tmp_path: Path) -> None:
        limits = {"database_connect_s": 1, "database_statement_s": 2, "database_poll_s": 0.2, "max_stale_s": 0.01}
        with postgres_server() as server:
            address = server.new_target().shown
            with machine(tmp_path, address, "loom", **limits) as daemon, daemon.agent() as wire:
                server.stop("immediate")
                with pytest.raises(Refused):
                    wire.call("patch_state", {"patch": {"global": {"lazy": {"n": 1}}}})
                refused = refusal_of(wire, "read_state", {"path": "global"})

                assert (refused.category, refused.data["reason_code"]) == ("store_unavailable", "stale")
                assert wire.call("status")["writer"]["stale_since"] == refused.data["stale_since"]


class TestSecrets:
    def test_no_password_is_told_anywhere(self, tmp_path: Path, store_in_database: str) -> None:
        """Row 26: neither in answers, nor in the log, nor among the arguments of a process."""
        secret = store_in_database.replace("ada@", f"ada:{SECRET}@")
        assert SECRET in secret
        with machine(tmp_path, secret, "loom") as daemon:
            told = [daemon.run(*verb.split()) for verb in ("where", "status", "doctor", "sessions", "store create")]
            bad = daemon.run("status", "--store", secret)
            argv = Path(f"/proc/{daemon.pid}/cmdline").read_bytes()
            log = json.loads(daemon.run("where", "--json").stdout)["log"]
            with daemon.agent() as wire:
                answered = json.dumps([wire.call("status"), wire.call("state_status")])

        assert [run.returncode for run in told] == [0] * len(told)
        assert (bad.returncode, "PGPASSWORD" in bad.stderr) == (2, True)
        texts = [run.stdout + run.stderr for run in (*told, bad)]
        logged = (daemon.folder / "daemon.err").read_text() + Path(log).read_text()
        assert "serving postgresql://ada@" in logged
        assert not any(SECRET in text for text in (*texts, argv.decode(), answered, logged))

    def test_a_client_starts_a_daemon_without_telling_it_the_password_as_an_argument(
        self, tmp_path: Path, store_in_database: str
    ) -> None:
        (tmp_path / "loom").mkdir()
        daemon = Daemon(tmp_path / "loom", store=store_in_database.replace("ada@", f"ada:{SECRET}@"), machine="loom")
        started = daemon.run("daemon", "start", "--json")
        try:
            pid = json.loads(started.stdout)["pid"]
            assert SECRET not in Path(f"/proc/{pid}/cmdline").read_text()
            assert daemon.run("patch", '{"global": {"lazy": {"n": 1}}}').returncode == 0
        finally:
            assert daemon.run("daemon", "stop").returncode == 0


class TestVerbs:
    def test_the_verbs_about_a_store(self, tmp_path: Path, store_in_database: str) -> None:
        with machine(tmp_path, store_in_database, "loom") as daemon:
            mine = ["--session", "s1", "--wanted", "session"]
            assert daemon.run("patch", '{"session": {"lazy": {"n": 1}}}', *mine).returncode == 0
            status = json.loads(daemon.run("status", "--json").stdout)
            assert (status["provider"], status["writer"]["ok"], status["store"]) == (
                *("postgresql", True),
                store_in_database,
            )
            file = str(tmp_path / "state.json")
            for verb in (
                ["compact"],
                ["doctor"],
                ["check-store"],
                ["export", file, *mine],
                ["import", file, "--session", "s2", "--wanted", "session"],
                ["reset-scope", "session", "--session", "s1", "--yes"],
            ):
                run = daemon.run(*verb)
                assert run.returncode == 0, (verb, run.stdout, run.stderr)

    def test_the_store_of_a_user_who_names_none_is_there_beside_it(
        self, tmp_path: Path, store_in_database: str
    ) -> None:
        """And whatever a machine keeps of a database is no store."""
        (tmp_path / "loom").mkdir()
        daemon = Daemon(tmp_path / "loom", store=store_in_database, machine="loom")
        patch = ("patch", '{"global": {"lazy": {"n": 1}}}')
        assert daemon.run(*patch).returncode == daemon.run("daemon", "stop").returncode == 0
        del daemon.environment["STATEWARD_STORE"]

        assert daemon.run(*patch).returncode == daemon.run("daemon", "stop").returncode == 0

    def test_without_a_daemon_it_is_worked_on_in_this_process(self, tmp_path: Path, store_in_database: str) -> None:
        (tmp_path / "loom").mkdir()
        daemon = Daemon(tmp_path / "loom", store=store_in_database, machine="loom")
        assert daemon.run("patch", '{"global": {"lazy": {"n": 1}}}', "--embedded").returncode == 0
        assert daemon.run("read", "global.lazy.n", "--embedded").stdout == "1\n"

    def test_a_store_is_copied_into_a_database_and_back(self, tmp_path: Path, store_in_database: str) -> None:
        (tmp_path / "alone").mkdir()
        alone = Daemon(tmp_path / "alone")
        assert alone.run("patch", '{"cwd": {"lazy": {"n": 1}}, "global": {"lazy": {"n": 2}}}').returncode == 0
        copied = alone.run("store", "copy", str(alone.store), store_in_database)
        assert copied.returncode != 0, "its daemon runs"
        assert alone.run("daemon", "stop").returncode == 0

        copied = alone.run("store", "copy", str(alone.store), store_in_database)
        assert copied.returncode == 0, copied.stderr
        again = alone.run("store", "copy", str(alone.store), store_in_database)
        assert (again.returncode, "empty" in again.stderr) == (3, True)
        back = alone.run("store", "copy", store_in_database, str(tmp_path / "back"))
        assert back.returncode == 0, back.stderr
        assert back.stdout == copied.stdout

        for store in (store_in_database, str(tmp_path / "back")):
            read = alone.run("read", "cwd.lazy.n", "global.lazy.n", "--embedded", "--store", store)
            assert (read.returncode, read.stdout.split()) == (
                0,
                alone.run(
                    "read", "cwd.lazy.n", "global.lazy.n", "--embedded", "--store", str(alone.store)
                ).stdout.split(),
            ), read.stderr
