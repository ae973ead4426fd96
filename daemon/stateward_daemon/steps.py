"""Steps: a call whose answer takes several things to happen, told as a generator by its handler.

A handler yields what has to happen next: a command for the writer, and gets its receipt, or a job for a thread, and
gets its result. What fails there is raised where it was yielded. What the handler returns is the answer. It runs where
it is resumed, which in a daemon is the event loop, so that it neither waits nor blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from stateward_engine.store.decide import Command


@dataclass(frozen=True, slots=True)
class OnLane:
    """A job that may wait for the disk, in order with the other jobs of its goal.

    Attributes:
        goal_id: Whose lane it waits in.
        job: What to run, in a thread.
        shared: Jobs that are equal in it and wait together run once, and all get that result. `None` shares nothing.
    """

    goal_id: str
    job: Callable[[], Any]
    shared: Hashable = None


Step: TypeAlias = "Command | OnLane"
Steps: TypeAlias = Generator[Step, Any, Any]
