"""Progress: what takes long is told to the person who waits for it, and can be taken back. Runs on the event loop.

Nothing waits for the client here: it is told when it has said that it takes that, and the work goes on meanwhile.
"""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp

from stateward_protocol.envelope import encode_call
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

# What is done by then nobody has begun to wait for; a bar that flashes up tells nothing.
BEGIN_AFTER_S: Final = 0.3
# Counting is shown so often at most.
REPORT_EVERY_S: Final = 0.1


class Progress:
    """One request while it is worked on.

    Attributes:
        is_cancelled: Whether the client has taken it back.
    """

    def __init__(
        self,
        title: str,
        token: lsp.ProgressToken | None,
        send: Callable[[bytes], None],
        ask: Callable[[str, object], Future[Any]] | None,
    ) -> None:
        """Begin to count the time.

        Args:
            title: What is done, for a person.
            token: What the client calls it; `None` where it gave no name.
            send: Takes bodies to the client.
            ask: Asks it to show progress of ours; `None` for a client that shows none.
        """
        self.is_cancelled = False
        self._title = title
        self._token = token
        self._send = send
        self._ask = ask
        self._loop = asyncio.get_running_loop()
        self._begun = self._ended = False
        self._reported_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        if token is not None or ask is not None:
            self._timer = self._loop.call_later(BEGIN_AFTER_S, self._offer)

    def is_named(self, token: object) -> bool:
        """Tell whether this is the progress of a token."""
        return token is not None and self._token == token

    def count(self, number: int, total: int) -> None:
        """Tell that so many of a total are done. From the thread that does them.

        Raises:
            WireError: `cancelled`; nobody wants the rest.
        """
        if self.is_cancelled:
            raise cancelled()
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._report, number, total)

    def end(self) -> None:
        """Take it off the client's list."""
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()
        if self._begun:
            self._tell({"kind": "end"})

    def _offer(self) -> None:
        """Begin, once the client has a name for it."""
        if self._token is not None:
            self._begin()
        elif self._ask is not None:
            self._token = token = str(uuid.uuid4())
            created = self._ask(lsp.WINDOW_WORK_DONE_PROGRESS_CREATE, lsp.WorkDoneProgressCreateParams(token))
            created.add_done_callback(self._created)

    def _created(self, future: Future[Any]) -> None:
        if not self._ended and not future.cancelled() and future.exception() is None:
            self._begin()

    def _begin(self) -> None:
        self._begun = True
        self._tell({"kind": "begin", "title": self._title, "cancellable": True})

    def _report(self, number: int, total: int) -> None:
        if self._begun and not self._ended and self._loop.time() - self._reported_at >= REPORT_EVERY_S:
            self._reported_at = self._loop.time()
            percentage = 100 * number // max(total, 1)
            self._tell({"kind": "report", "message": f"{number}/{total}", "percentage": percentage})

    def _tell(self, value: dict[str, Any]) -> None:
        self._send(encode_call(lsp.PROGRESS, {"token": self._token, "value": value}))


def cancelled() -> WireError:
    """Return the answer to a request that its client has taken back."""
    return WireError("cancelled", "the request was cancelled before it was done")
