"""A thread that hears of what others append to the ledger of a database, and has the writer take it in.

What it is told is only that something came; a message that is lost costs time and never a change, because the writer
looks at the head every few seconds all the same.
"""

from __future__ import annotations

import os
import select
import threading
from typing import TYPE_CHECKING, Final

from stateward_engine.errors import EngineError
from stateward_engine.store.postgresql_failures import Answered, Lost
from stateward_engine.store.postgresql_schema import connect

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_engine.store.postgresql_link import Link
    from stateward_engine.store.postgresql_target import Target

# How long to wait before the next connection, at first and at most; twice as long each time.
_RETRY_FIRST_S: Final = 0.1
_RETRY_MAX_S: Final = 5.0


class Follower:
    """Listens on a connection of its own until it is closed, and connects again whenever it must."""

    def __init__(self, target: Target, *, own: str, follow: Callable[[], None]) -> None:
        """Start the thread.

        Args:
            target: The database.
            own: What the notices of this process's own appends say.
            follow: Has the view brought to the head; called on the thread, and also while the database is away, so that
                somebody notices.
        """
        self._target = target
        self._own = own
        self._follow = follow
        self._closed = False
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._thread = threading.Thread(target=self._run, name="stateward-follower", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread. A second call does nothing."""
        if not self._closed:
            self._closed = True
            os.eventfd_write(self._wake, 1)
            self._thread.join()
            os.close(self._wake)

    def _run(self) -> None:
        retry_s = _RETRY_FIRST_S
        while not self._closed:
            try:
                link, _ = connect(self._target, sharing=False)
                with link:
                    link.listen()
                    retry_s = _RETRY_FIRST_S
                    self._hear(link)
            except (EngineError, Answered, Lost):
                self._follow()
                select.select([self._wake], [], [], retry_s)
                retry_s = min(2 * retry_s, _RETRY_MAX_S)

    def _hear(self, link: Link) -> None:
        # What was told before anybody listened.
        self._follow()
        while not self._closed:
            told = link.notices(self._target.limits.poll_s, wake=self._wake)
            if not told or any(writer != self._own for writer in told):
                self._follow()
