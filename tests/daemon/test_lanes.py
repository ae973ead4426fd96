"""Lanes: the jobs of one goal in order, those of others beside them, equal ones together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from stateward_daemon import lanes as lanes_module
from stateward_daemon.lanes import Lanes
from stateward_daemon.steps import OnLane
from stateward_engine.errors import Busy

if TYPE_CHECKING:
    from collections.abc import Callable


class Threads:
    """Runs a job when the test says so."""

    def __init__(self) -> None:
        self.started: list[tuple[Callable[[], Any], Callable[[Any], None], Callable[[Exception], None]]] = []

    def start(self, job: Callable[[], Any], done: Callable[[Any], None], failed: Callable[[Exception], None]) -> None:
        self.started.append((job, done, failed))

    def finish(self) -> None:
        job, done, failed = self.started.pop(0)
        try:
            result = job()
        except ZeroDivisionError as error:
            failed(error)
        else:
            done(result)


@pytest.fixture
def threads() -> Threads:
    return Threads()


@pytest.fixture
def told() -> list[Any]:
    return []


@pytest.fixture
def lanes(threads: Threads) -> Lanes:
    return Lanes(threads.start)


@pytest.fixture
def run(lanes: Lanes, told: list[Any]) -> Callable[..., None]:
    def add(goal_id: str, result: Any, *, shared: object = None) -> None:
        def job() -> Any:
            return 1 // 0 if result == "fails" else result

        lanes.run(OnLane(goal_id, job, shared), partial(_tell, told, "done"), partial(_tell, told, "failed"))

    return add


def _tell(told: list[Any], how: str, what: object) -> None:
    told.append((how, what if isinstance(what, str) else type(what).__name__))


def test_the_jobs_of_a_goal_run_one_after_the_other(
    run: Callable[..., None], threads: Threads, told: list[Any]
) -> None:
    run("a", "first")
    run("a", "second")

    assert len(threads.started) == 1
    threads.finish()
    assert (told, len(threads.started)) == ([("done", "first")], 1)
    threads.finish()
    assert told == [("done", "first"), ("done", "second")]


def test_goals_do_not_wait_for_each_other(run: Callable[..., None], threads: Threads) -> None:
    run("a", "first")
    run("b", "second")

    assert len(threads.started) == 2


def test_a_job_that_fails_fails_alone(run: Callable[..., None], threads: Threads, told: list[Any]) -> None:
    run("a", "fails")
    run("a", "second")
    threads.finish()
    threads.finish()

    assert told == [("failed", "ZeroDivisionError"), ("done", "second")]


def test_equal_jobs_that_wait_together_run_once(run: Callable[..., None], threads: Threads, told: list[Any]) -> None:
    run("a", "running", shared="deliver")
    run("a", "waits", shared="deliver")
    run("a", "edits")
    run("a", "waits too", shared="deliver")
    threads.finish()

    # What runs already may have looked at the goal before the others came.
    assert told == [("done", "running")]
    threads.finish()
    assert told[1:] == [("done", "waits"), ("done", "waits")]
    threads.finish()
    assert told[3:] == [("done", "edits")]
    assert threads.started == []


def test_a_lane_is_bounded(run: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes_module, "LANE_LENGTH_MAX", 2)
    run("a", "first")
    run("a", "second")

    with pytest.raises(Busy) as caught:
        run("a", "third")
    assert caught.value.facts["limit"] == "lane_length_max"
    run("b", "first")


def test_that_nothing_is_left_is_told_after_the_results(
    lanes: Lanes, run: Callable[..., None], threads: Threads, told: list[Any]
) -> None:
    """DM-010: the last step of a job may be a commit, and the writer is closed next."""
    run("a", "first")
    run("b", "second")
    lanes.when_empty(lambda: told.append("empty"))
    threads.finish()
    threads.finish()

    assert told == [("done", "first"), ("done", "second"), "empty"]
    lanes.when_empty(lambda: told.append("still empty"))
    assert told[3:] == ["still empty"]


def test_what_has_not_begun_is_taken_back_and_nobody_is_told(
    threads: Threads, lanes: Lanes, told: list[Any], run: Callable[..., None]
) -> None:
    run("g", "first")
    second = lanes.run(OnLane("g", lambda: "second"), told.append, told.append)
    run("g", "third")
    assert second.cancel()
    threads.finish()
    threads.finish()

    assert not threads.started
    assert [result for _, result in told] == ["first", "third"]


def test_what_has_begun_is_not_taken_back_whether_it_runs_alone_or_with_others(
    threads: Threads, lanes: Lanes, told: list[Any]
) -> None:
    waiting = [lanes.run(OnLane("g", lambda: "x", shared="s"), told.append, told.append) for _ in range(3)]
    assert [each.cancel() for each in waiting] == [False, True, True]
    waiting[1:] = [lanes.run(OnLane("g", lambda: "y", shared="t"), told.append, told.append) for _ in range(2)]
    threads.finish()
    assert [each.cancel() for each in waiting] == [False, False, False]
    threads.finish()

    assert told == ["x", "y", "y"]
