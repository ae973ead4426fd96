"""Lanes: the jobs of each goal, one after the other in the order in which they came, each in a thread.

A lane is the lock of a goal's document inside of this process: nothing else of it writes that document, and what is
decided about the document is decided there.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from stateward_engine.errors import Busy

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_daemon.steps import OnLane

# As many as may wait for the writer; a client that sends more is told to wait.
LANE_LENGTH_MAX: Final = 4096


# What runs a job in a thread and then calls `done` with its result or `failed`.
Work: TypeAlias = "Callable[[Callable[[], Any], Callable[[Any], None], Callable[[Exception], None]], None]"


@dataclass(slots=True, eq=False)
class Waiting:
    """A job in a lane, and who is told how it ended."""

    step: OnLane
    done: Callable[[Any], None]
    failed: Callable[[Exception], None]
    lane: deque[Waiting]
    is_begun: bool = False

    def cancel(self) -> bool:
        """Take back what has not begun; tell whether nothing has happened, and nobody will be told anything."""
        if not self.is_begun:
            self.lane.remove(self)
        return not self.is_begun


class Lanes:
    """All lanes of a process. Not for several threads: it runs where its jobs report."""

    def __init__(self, start: Work) -> None:
        """Take what runs the jobs, and calls where the lanes are."""
        self._start = start
        # The first job of each lane is running.
        self._lanes: dict[str, deque[Waiting]] = {}
        self._when_empty: list[Callable[[], None]] = []

    def when_empty(self, call: Callable[[], None]) -> None:
        """Call once no job waits or runs, and those who asked for the last ones have been told."""
        self._when_empty.append(call)
        self._note_empty()

    def run(self, step: OnLane, done: Callable[[Any], None], failed: Callable[[Exception], None]) -> Waiting:
        """Run a job when those before it in its lane have ended, then `done` with its result or `failed`.

        Returns:
            What takes it back.

        Raises:
            Busy: Too many jobs wait in the lane.
        """
        lane = self._lanes.setdefault(step.goal_id, deque())
        if len(lane) >= LANE_LENGTH_MAX:
            raise Busy("too many calls wait for the document of this goal; try again later", limit="lane_length_max")
        waiting = Waiting(step, done, failed, lane)
        lane.append(waiting)
        if len(lane) == 1:
            self._next(step.goal_id)
        return waiting

    def _next(self, goal_id: str) -> None:
        lane = self._lanes[goal_id]
        first = lane[0]
        key = first.step.shared
        together = [first] if key is None else [waiting for waiting in lane if waiting.step.shared == key]
        for waiting in together:
            waiting.is_begun = True

        def finished(tell: Callable[[Waiting], None]) -> None:
            over = set(together)
            left = [waiting for waiting in lane if waiting not in over]
            lane.clear()
            lane.extend(left)
            if lane:
                self._next(goal_id)
            else:
                del self._lanes[goal_id]
            for waiting in together:
                tell(waiting)
            self._note_empty()

        self._start(
            first.step.job,
            lambda result: finished(lambda waiting: waiting.done(result)),
            lambda error: finished(lambda waiting: waiting.failed(error)),
        )

    def _note_empty(self) -> None:
        while self._when_empty and not self._lanes:
            self._when_empty.pop()()
