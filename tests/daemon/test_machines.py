"""One store that two machines share: a document is worked on where it is, and nowhere else. Source: store.md section 1.

Two hosts stand for the daemons; each has its own directory for documents, at a path that the other has, too.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

from stateward.location import Place
from stateward_daemon import convert, promoting
from stateward_daemon.delivering import deliver, preview
from stateward_daemon.editing import edit
from stateward_daemon.following import follow
from stateward_daemon.goal_documents import records_now
from stateward_daemon.host import Host
from stateward_daemon.lanes import Lanes
from stateward_daemon.machine import this_machine
from stateward_daemon.settings import Settings
from stateward_daemon.standing import goal_status
from stateward_engine.authority import commands as c
from stateward_engine.authority.goal import Machine, find_goal
from stateward_engine.authority.registration import demand_free
from stateward_engine.errors import Refused
from stateward_engine.goals.document import read_document
from stateward_engine.goals.qualification import qualify
from stateward_engine.store.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HERE, THERE = Machine("m1", "loom"), Machine("m2", "wheel")
GOAL: Final = "looms"
TEXT: Final = "# Looms\n\n## Agent Todo\n\n- [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n\nprose\n"


class Desk:
    """A shared store with one goal of the first machine."""

    def __init__(self, folder: Path, here: Host, there: Host) -> None:
        self.path, self.here, self.there = folder / "goal.md", here, there
        self.path.write_text(TEXT, "utf-8")
        self.commit(c.RegisterGoal(GOAL, str(self.path), {}, None, "5704e1d5", HERE))

    def commit(self, command: Any) -> Any:
        return self.here.store.commit_now(command).receipt

    def complete(self) -> c.CompleteTodo:
        return c.CompleteTodo(goal_id=GOAL, operation_id="op-1", todo_id="todo_one")

    def promote(self) -> None:
        report = qualify(read_document(TEXT))
        shadow: dict[str, Any] = {"records": report.records, "source_sha256": report.source_sha256}
        self.commit(c.BootstrapShadow(goal_id=GOAL, operation_id="boot", **shadow))
        self.commit(c.PromoteGoal(goal_id=GOAL, operation_id="go", source_sha256=report.source_sha256))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_store(tmp_path / "store", any_file_system=True) as store:
        hosts = [
            Host(store=store, place=Place(tmp_path / "store"), settings=Settings(), machine=machine)
            for machine in (HERE, THERE)
        ]
        yield Desk(tmp_path, *hosts)


class TestDocumentElsewhere:
    @pytest.mark.parametrize(
        "work",
        [
            lambda desk: edit(desk.there, desk.complete()),
            lambda desk: promoting.report(desk.there, GOAL),
            lambda desk: records_now(desk.there, find_goal(desk.there.store.view, GOAL)),
            lambda desk: desk.there.admit(0, desk).path_of(None, None, GOAL),
            lambda desk: desk.commit(c.RegisterGoal(GOAL, str(desk.path), {}, None, "s", THERE)),
        ],
    )
    def test_work_on_it_is_refused_and_told_where_it_is(self, desk: Desk, work: Callable[[Desk], object]) -> None:
        with pytest.raises(Refused, match="loom") as refused:
            work(desk)

        facts = refused.value.facts
        assert (facts["reason_code"], facts["machine"], facts["host"], facts["document"]) == (
            *("document_elsewhere", "m1", "loom"),
            str(desk.path),
        )
        assert desk.path.read_text("utf-8") == TEXT

    def test_where_it_is_it_is_worked_on(self, desk: Desk) -> None:
        assert isinstance(edit(desk.here, desk.complete()), c.RecordEdit)
        assert desk.path.read_text("utf-8") != TEXT

    def test_the_same_path_on_another_machine_is_another_document(self, desk: Desk) -> None:
        """Every machine has a /home/ada."""
        demand_free(desk.there.store.view, "wheels", str(desk.path), THERE)
        with pytest.raises(Refused, match="belongs to another goal"):
            demand_free(desk.here.store.view, "wheels", str(desk.path), HERE)

        assert list(desk.here.goals_here()) == [str(desk.path)]
        assert list(desk.there.goals_here()) == []

    def test_a_document_that_was_moved_to_another_machine_is_worked_on_there(self, desk: Desk) -> None:
        desk.commit(c.ConfigureGoal(GOAL, path=str(desk.path), content={}, machine=THERE))

        assert list(desk.here.goals_here()) == []
        assert isinstance(edit(desk.there, desk.complete()), c.RecordEdit)

    def test_it_is_listed_and_its_status_told_everywhere(self, desk: Desk) -> None:
        entry = convert.goal_list(desk.there.store.view).goals[0]

        assert (entry.path, entry.machine, entry.host) == (str(desk.path), "m1", "loom")
        assert goal_status(desk.there, GOAL)["display"] == {"state": "elsewhere"}
        assert goal_status(desk.here, GOAL)["display"]["state"] == "current"


class TestDelivery:
    def test_a_display_elsewhere_is_reported_as_that_of_another_daemon(self, desk: Desk) -> None:
        desk.promote()
        for report in (deliver(desk.there, GOAL)["projection_outbox"], preview(desk.there, GOAL)):
            assert (report["status"], report["reason_code"]) == ("pending", "todo_projection_elsewhere")
            assert "loom (machine m1)" in report["recommended_action"]
            assert "do not repeat it" in report["recommended_action"]
            assert not report["retry_business_mutation"]

        assert desk.path.read_text("utf-8") == TEXT
        assert deliver(desk.here, GOAL)["projection_delivery"] == "delivered"

    async def test_what_was_committed_elsewhere_is_delivered_by_whoever_follows(self, desk: Desk) -> None:
        """Also what was committed before he began."""
        desk.promote()
        loop, jobs = asyncio.get_running_loop(), asyncio.Queue[str]()
        desk.here.lanes = Lanes(partial(_in_thread, loop, jobs))
        follow(desk.here)
        await jobs.get()
        assert "- [ ] a" in desk.path.read_text("utf-8")

        before = desk.here.store.view
        desk.commit(desk.complete())
        desk.here.store.followed(before, desk.here.store.view)
        await jobs.get()
        assert "- [x] a" in desk.path.read_text("utf-8")

        desk.here.store.followed(desk.here.store.view, desk.here.store.view)
        assert jobs.empty()

    async def test_who_follows_leaves_the_documents_of_others_alone(self, desk: Desk) -> None:
        desk.promote()
        jobs = asyncio.Queue[str]()
        desk.there.lanes = Lanes(partial(_in_thread, asyncio.get_running_loop(), jobs))
        follow(desk.there)

        assert jobs.empty()
        assert desk.path.read_text("utf-8") == TEXT


def _in_thread(loop: asyncio.AbstractEventLoop, jobs: asyncio.Queue[str], job: Any, done: Any, _failed: Any) -> None:
    def end(future: asyncio.Future[Any]) -> None:
        done(future.result())
        jobs.put_nowait("done")

    loop.run_in_executor(None, job).add_done_callback(end)


class TestDirectories:
    def test_a_directory_belongs_to_its_machine(self, tmp_path: Path) -> None:
        here, there, alone = (convert.selection(str(tmp_path), "s1", None, machine) for machine in (HERE, THERE, None))

        assert len({selection.identity("cwd") for selection in (here, there, alone)}) == 3
        assert here.identity("global") == there.identity("global")
        assert convert.shown_cwd(here.cwd, HERE) == convert.shown_cwd(alone.cwd, None) == str(tmp_path)
        assert convert.shown_cwd(here.cwd, THERE) == f"//m1{tmp_path}"
        assert convert.identity("session", str(tmp_path), "s1", None, HERE) == here.identity("session")

    def test_no_spelling_of_a_directory_is_that_of_another_machine(self, tmp_path: Path) -> None:
        assert convert.selection(f"/{tmp_path}", None, None, None).cwd == str(tmp_path)


class TestName:
    def test_it_is_that_of_the_setting_or_of_the_system(self, tmp_path: Path) -> None:
        assert this_machine(Settings(machine="loom-3"), tmp_path).id == "loom-3"
        assert this_machine(Settings(), tmp_path) == this_machine(Settings(), tmp_path)

    def test_one_that_the_system_does_not_tell_is_made_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("stateward_daemon.machine._SYSTEM", tmp_path / "none")
        made = this_machine(Settings(), tmp_path)

        assert len(made.id) == 16
        assert this_machine(Settings(), tmp_path) == made
        assert {path.name for path in tmp_path.iterdir()} == {"machine-id"}

    def test_the_number_of_the_system_itself_is_not_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "machine-id").write_text("0123456789abcdef0123456789abcdef\n")
        monkeypatch.setattr("stateward_daemon.machine._SYSTEM", tmp_path / "machine-id")

        assert this_machine(Settings(), tmp_path).id not in "0123456789abcdef0123456789abcdef"
