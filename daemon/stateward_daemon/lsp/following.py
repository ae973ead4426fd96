"""Following: what the diagnostics of one editor rest on beside its texts, so that they are shown anew when it changes.

A goal moves on by the calls of others, and a lease runs out by itself. Runs on the event loop, but for `note`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from stateward_engine.authority.goal import display_of, goals_by_path
from stateward_engine.authority.leases import is_live
from stateward_engine.state.decide import revision_of
from stateward_engine.store.clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stateward_daemon.host import Caller
    from stateward_engine.authority.goal import Goal
    from stateward_engine.state.view import View


class Grounds(NamedTuple):
    """What the problems of a document rest on beside its text: as long as these are the same, so are the problems.

    Attributes:
        goal: Names what its goal and the display of that have come to; empty where there is no goal.
        state: Names what the caller's state has come to; empty where it is not looked at.
    """

    goal: str
    state: str


def grounds_of(caller: Caller, view: View, goal: Goal | None) -> Grounds:
    """Return what the problems of a document rest on, which is that of `goal`."""
    state = "" if caller.bound().mode == "off" else revision_of(view, caller.bound().selection)
    if goal is None:
        return Grounds("", state)
    now = goal.now(utc_now())
    live = sum(is_live(lease, now) for lease in goal.leases.values())
    return Grounds(f"{goal.provider_revision}/{view.scope(display_of(goal.goal_id)).revision}/{live}", state)


class Following:
    """The documents of one editor whose diagnostics were made, with what these rest on."""

    def __init__(self, caller: Caller, changed: Callable[[], None], show: Callable[[str], bool]) -> None:
        """Follow the views of a host until `close`.

        Args:
            caller: Who the editor is to the host.
            changed: Called when something may rest on what has changed; it has `look` called soon.
            show: Shows a document anew, by its URI; tells whether the editor still works with it.
        """
        self._caller = caller
        self._changed = changed
        self._show = show
        self._noted: dict[str, tuple[Path | None, Grounds]] = {}
        self._loop = asyncio.get_running_loop()
        self._expiry: asyncio.TimerHandle | None = None
        caller.host.subscriptions.follow(self._changed)

    def note(self, uri: str, path: Path | None, grounds: Grounds) -> None:
        """Take note of what the diagnostics of a document rest on. From any thread."""
        is_new, self._noted[uri] = uri not in self._noted, (path, grounds)
        if is_new:
            # A lease in it may run out while nothing else happens. At the end of a daemon there is no loop.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._changed)

    def look(self) -> None:
        """Show anew what rests on something that has changed. A view that changed many times is looked at once."""
        view = self._caller.host.store.view
        goals = goals_by_path(view)
        followed: list[Goal] = []
        for uri, (path, grounds) in list(self._noted.items()):
            goal = goals.get(str(path))
            now = grounds_of(self._caller, view, goal)
            now = now if grounds.state else now._replace(state="")
            if goal is not None:
                followed.append(goal)
            if grounds != now:
                self._noted[uri] = path, now
                if not self._show(uri):
                    del self._noted[uri]
        self._wait_for_expiry(followed)

    def close(self) -> None:
        """Follow nothing any more."""
        self._caller.host.subscriptions.unfollow(self._changed)
        if self._expiry is not None:
            self._expiry.cancel()

    def _wait_for_expiry(self, goals: list[Goal]) -> None:
        """Look again when the first lease of these goals runs out."""
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        now = f"{utc_now()[:19]}Z"
        ends = [
            lease["expires_at"]
            for goal in goals
            for lease in goal.leases.values()
            if lease["status"] == "active" and lease["expires_at"] > now
        ]
        if ends:
            seconds = (datetime.fromisoformat(min(ends)) - datetime.fromisoformat(now)).total_seconds()
            self._expiry = self._loop.call_later(seconds, self._changed)
