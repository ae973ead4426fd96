"""Deliveries on a real store: what was delivered is known after a restart, and writers and an editor race.

Rows LX-122, LX-124, LX-125.
"""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from authority.shown_goal import DOCUMENT, GOAL, GRIND, LENS
from editor import save
from stateward.location import Place
from stateward_daemon.delivering import deliver
from stateward_daemon.host import Host
from stateward_daemon.lanes import Lanes
from stateward_daemon.settings import Settings
from stateward_daemon.standing import goal_status
from stateward_daemon.steps import OnLane
from stateward_engine.authority.commands import ConfigureGoal, PromoteGoal, RegisterGoal
from stateward_engine.authority.decide import DECIDERS
from stateward_engine.authority.display import section_digests, take_snapshot
from stateward_engine.authority.operations import Decision
from stateward_engine.state.commands import Configure
from stateward_engine.store.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_engine.store.store import Store

ROUNDS: Final = 8


@pytest.fixture
def path(tmp_path: Path) -> Path:
    document = tmp_path / "ACTIVE_GOAL_STATE.md"
    document.write_text(DOCUMENT, "utf-8")
    return document


def promoted(store: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    records = {record["todo_id"]: record for record in (LENS, GRIND)}

    def decide(*_: object) -> Decision:
        return Decision({}, {"authority": {"promoted": True}, "records": records})

    monkeypatch.setitem(DECIDERS, PromoteGoal, decide)
    store.commit_now(RegisterGoal(GOAL, str(path), {}, None, "s"))
    store.commit_now(PromoteGoal(goal_id=GOAL, operation_id="promote", source_sha256=""))
    return host_on(store)


def host_on(store: Store) -> Host:
    return Host(store=store, place=Place(Path("/store")), settings=Settings())


def test_what_was_delivered_is_known_after_a_restart(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(tmp_path / "store") as store:
        host = promoted(store, path, monkeypatch)
        revision = take_snapshot(store.view, GOAL).goal.provider_revision
        assert deliver(host, GOAL)["projection_delivery"] == "delivered"
        assert take_snapshot(store.view, GOAL).goal.provider_revision == revision

    with open_store(tmp_path / "store") as store:
        sections = section_digests(path.read_text("utf-8"))
        delivered = take_snapshot(store.view, GOAL).delivered
        assert delivered.keys() == sections.keys()
        assert all(digest in delivered[role] for role, digest in sections.items())
        # More changes than are kept: only the note tells that nobody has edited the sections.
        for number in range(10):
            store.commit_now(ConfigureGoal(GOAL, (f"a{number}",)))
        assert deliver(host_on(store), GOAL)["projection_delivery"] == "delivered"


def test_a_store_that_was_opened_to_read_is_delivered_from(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(tmp_path / "store") as store:
        promoted(store, path, monkeypatch)
    with open_store(tmp_path / "store", read_only=True) as store:
        assert deliver(host_on(store), GOAL)["projection_delivery"] == "delivered"


async def test_a_lane_of_a_daemon_waits_for_the_writer_and_the_loop_does_not(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There the answers of the writer come by way of the loop, which a delivery in its thread must not hold up."""
    loop = asyncio.get_running_loop()

    def soon(call: Callable[[], None]) -> None:
        loop.call_soon_threadsafe(call)

    store = open_store(tmp_path / "store", deliver=soon)
    try:
        host = await asyncio.to_thread(promoted, store, path, monkeypatch)
        answer = loop.create_future()
        host.lanes = Lanes(partial(_in_thread, loop))
        step = OnLane(GOAL, partial(deliver, host, GOAL))
        host.lanes.run(step, answer.set_result, answer.set_exception)

        assert (await answer)["projection_delivery"] == "delivered"
        assert take_snapshot(store.view, GOAL).delivered
    finally:
        await asyncio.to_thread(store.close)


def _in_thread(loop: asyncio.AbstractEventLoop, job: Any, done: Any, _failed: Any) -> None:
    loop.run_in_executor(None, job).add_done_callback(lambda future: done(future.result()))


def test_writers_and_an_editor_race_and_nothing_is_lost(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each writer commits and delivers; an editor saves lines of his own between; in the end all of it stands there."""
    with open_store(tmp_path / "store") as store:
        host = promoted(store, path, monkeypatch)
        # However long the editor sleeps between reading and saving, what he saves is known.
        store.commit_now(Configure(100))
        lane = threading.Lock()
        reports: list[dict[str, Any]] = []

        def write(name: str) -> None:
            for number in range(ROUNDS):
                store.commit_now(ConfigureGoal(GOAL, (f"{name}{number}",)))
                with lane:
                    reports.append(deliver(host, GOAL)["projection_outbox"])

        writers = [threading.Thread(target=write, args=(name,)) for name in ("a", "b", "c")]
        for writer in writers:
            writer.start()
        for number in range(ROUNDS):
            # An editor reads, and saves what he read with a line more, whatever came between.
            save(path, path.read_text("utf-8").replace("# Optics\n", f"# Optics\n\nline {number}\n", 1))
        for writer in writers:
            writer.join()

        assert deliver(host, GOAL)["projection_delivery"] in ("delivered", "current")
        assert goal_status(host, GOAL)["display"] == {"state": "current"}
        text = path.read_text("utf-8")
        assert all(f"line {number}\n" in text for number in range(ROUNDS))
        for report in reports:
            caught_up = report.get("provider_revision") == report.get("observed_provider_revision") is not None
            assert (report["status"] in ("delivered", "current")) == caught_up, report
            assert report.get("delivery_attempts", 1) <= 3
        assert sorted(found.name for found in tmp_path.iterdir()) == ["ACTIVE_GOAL_STATE.md", "store"]
