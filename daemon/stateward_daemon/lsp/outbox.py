"""The outbox: what is sent without being asked for. It waits a moment, waits for the client, and is never stale."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_daemon.channel import Channel

# Somebody who types sends an edit per key. The first one starts this delay and the others do not prolong it, so that
# diagnostics keep coming during a long sentence.
DELAY_S: Final = 0.05


class Outbox:
    """Sends of one connection by key: a key that is put again before it was sent is sent once.

    What is sent is made when it is sent, so it is never older than the text it is about, and a client that does not
    read keeps one entry per key in memory and no message.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._due: dict[str, Callable[[], None]] = {}
        self._timer: asyncio.Handle | None = None
        self._closed = False

    def put(self, key: str, send: Callable[[], None]) -> None:
        """Call `send` soon, unless another send of that key is put before."""
        if not self._closed:
            self._due[key] = send
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(DELAY_S, self._send_one)

    def resumed(self) -> None:
        """Go on after the client began to read again."""
        if self._due and self._timer is None:
            self._timer = asyncio.get_running_loop().call_soon(self._send_one)

    def close(self) -> None:
        """Forget what is due; nothing is sent any more."""
        self._closed = True
        self._due.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _send_one(self) -> None:
        """Send what was put first. One per turn of the loop, because each reads and parses a document."""
        self._timer = None
        if self._due and not self._channel.paused:
            key = next(iter(self._due))
            try:
                self._due.pop(key)()
            finally:
                self.resumed()
