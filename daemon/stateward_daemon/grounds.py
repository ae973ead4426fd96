"""Grounds: what the problems of a document rest on beside its text, so that they are told anew when it changes.

A goal moves on by the calls of others, and a lease runs out by itself.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from stateward_engine.authority.goal import display_of
from stateward_engine.authority.leases import is_live
from stateward_engine.state.decide import revision_of
from stateward_engine.store.clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stateward_engine.authority.goal import Goal
    from stateward_engine.state.view import Selection, View


class Grounds(NamedTuple):
    """What the problems of a document rest on beside its text: as long as these are the same, so are the problems.

    Attributes:
        goal: Names what its goal and the display of that have come to; empty where there is no goal.
        state: Names what the state has come to that its references lead into; empty where it is not looked at.
    """

    goal: str
    state: str

    def without_state(self) -> Grounds:
        """Return what is left where nothing leads into the state."""
        return self._replace(state="")


def grounds_of(selection: Selection | None, view: View, goal: Goal | None) -> Grounds:
    """Return what the problems of a document rest on, which is that of `goal`, for one who works with `selection`."""
    return Grounds("" if goal is None else goal_ground(view, goal), state_ground(view, selection))


def goal_ground(view: View, goal: Goal) -> str:
    """Return a name of what a goal, its display and its leases have come to."""
    now = goal.now(utc_now())
    live = sum(is_live(lease, now) for lease in goal.leases.values())
    return f"{goal.provider_revision}/{view.scope(display_of(goal.goal_id)).revision}/{live}"


def state_ground(view: View, selection: Selection | None) -> str:
    """Return a name of what the state of a selection has come to, empty for none."""
    return "" if selection is None else revision_of(view, selection)


class Expiry:
    """The end of the first lease to run out. Not for several threads."""

    def __init__(self, later: Callable[[float, Callable[[], None]], Any], expired: Callable[[], None]) -> None:
        """Wait for nothing yet.

        Args:
            later: As for `Subscriptions`.
            expired: Called at the end that was waited for.
        """
        self._later = later
        self._expired = expired
        self._timer: Any = None

    def wait(self, goals: Iterable[Goal]) -> None:
        """Wait for the end of the first lease of these goals, and of no others any more."""
        self.close()
        now = f"{utc_now()[:19]}Z"
        ends = [
            lease["expires_at"]
            for goal in goals
            for lease in goal.leases.values()
            if lease["status"] == "active" and lease["expires_at"] > now
        ]
        if ends:
            seconds = (datetime.fromisoformat(min(ends)) - datetime.fromisoformat(now)).total_seconds()
            self._timer = self._later(seconds, self._expired)

    def close(self) -> None:
        """Wait no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
