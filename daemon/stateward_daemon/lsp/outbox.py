"""The outbox: what is sent without being asked for. It goes out at once, then rests, and is never stale."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_daemon.channel import Channel

# After each send the outbox rests for as long as the send took, and not longer than this. So a character that is typed
# after a pause is answered at once, and while somebody types without pause at most half of the time goes into it,
# whatever a document costs; and diagnostics keep coming during a long sentence.
REST_MAX_S: Final = 0.05


class Outbox:
    """Sends of one connection by key: a key that is put again before it was sent is sent once.

    What is sent is made when it is sent, so it is never older than the text it is about, and a client that does not
    read keeps one entry per key in memory and no message.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._due: dict[str, Callable[[], asyncio.Future[None] | None]] = {}
        self._timer: asyncio.Handle | None = None
        # When the rest after the last send ends; `None` while a thread makes what is to be sent.
        self._rested_at: float | None = 0.0
        self._closed = False

    def put(self, key: str, send: Callable[[], asyncio.Future[None] | None]) -> None:
        """Call `send` soon, unless another send of that key is put before.

        What it returns, if it does, is done when it has sent; until then nothing else is.
        """
        if not self._closed:
            self._due[key] = send
            self.resumed()

    def resumed(self) -> None:
        """Go on where something is due: when it was put, when the rest is over, or when the client reads again."""
        if self._due and self._timer is None and self._rested_at is not None:
            # Not now: what else has arrived may be about the same.
            self._timer = self._loop.call_at(self._rested_at, self._send_one)

    def close(self) -> None:
        """Forget what is due; nothing is sent any more."""
        self._closed = True
        self._due.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _send_one(self) -> None:
        """Send what was put first. One per turn of the loop, because each reads and parses a document."""
        self._timer = None
        if not self._due or self._channel.paused:
            return
        began, sending = self._loop.time(), None
        try:
            sending = self._due.pop(next(iter(self._due)))()
        finally:
            if sending is None:
                self._rest(began)
            else:
                self._rested_at = None
                sending.add_done_callback(lambda _: self._rest(began))

    def _rest(self, began: float) -> None:
        ended = self._loop.time()
        self._rested_at = ended + min(ended - began, REST_MAX_S)
        self.resumed()
