"""Following: what the diagnostics of one editor rest on beside its texts, so that they are shown anew when it changes.

Runs on the event loop, but for `note`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from stateward_daemon.grounds import Expiry, grounds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from stateward_daemon.grounds import Grounds
    from stateward_daemon.host import Caller
    from stateward_engine.authority.goal import Goal
    from stateward_engine.state.view import View


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
        self._expiry = Expiry(self._loop.call_later, self._changed)
        caller.host.subscriptions.follow(self._changed)

    def note(self, uri: str, path: Path | None, grounds: Grounds) -> None:
        """Take note of what the diagnostics of a document rest on. From any thread."""
        is_new, self._noted[uri] = uri not in self._noted, (path, grounds)
        if is_new:
            # A lease in it may run out while nothing else happens. At the end of a daemon there is no loop.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._changed)

    def look(self, view: View, goals: Mapping[str, Goal]) -> None:
        """Show anew what rests on something that has changed. A view that changed many times is looked at once.

        Args:
            view: What readers see.
            goals: Its registered goals by the real paths of their documents.
        """
        followed: list[Goal] = []
        for uri, (path, grounds) in list(self._noted.items()):
            goal = goals.get(str(path))
            now = grounds_of(self._caller.readable(), view, goal)
            now = now if grounds.state else now.without_state()
            if goal is not None:
                followed.append(goal)
            if grounds != now:
                self._noted[uri] = path, now
                if not self._show(uri):
                    del self._noted[uri]
        self._expiry.wait(followed)

    def close(self) -> None:
        """Follow nothing any more."""
        self._caller.host.subscriptions.unfollow(self._changed)
        self._expiry.close()
