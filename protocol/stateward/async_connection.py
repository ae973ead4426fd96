"""One asynchronous connection to a daemon: many calls in flight, and what is told in between.

Source: protocol.md section 1.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

import msgspec

from stateward.transport import ANSWER_BYTES_MAX, connection_lost, request_body, timed_out
from stateward_protocol.envelope import Call, encode_call, read_message
from stateward_protocol.errors import WireError
from stateward_protocol.framing import FrameReader, Framing, frame

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Mapping


class Connection(asyncio.Protocol):
    """One connection: matches answers to calls by id.

    Attributes:
        lost: Whether it is of no further use.
    """

    def __init__(self, notifications: deque[Call]) -> None:
        self.lost = False
        self._notifications = notifications
        self._reader = FrameReader(ANSWER_BYTES_MAX)
        self._identifiers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._ended = asyncio.get_running_loop().create_future()
        # Set when something came, or nothing more will.
        self._news = asyncio.Event()

    async def call(self, method: str, params: Mapping[str, Any], timeout_s: float) -> Any:  # noqa: ANN401 - any JSON value
        """Return the result of one request, or raise `WireError`."""
        identifier = next(self._identifiers)
        body = request_body(method, params, identifier)
        if self.lost:
            raise connection_lost()
        self._transport.write(frame(body, Framing.HEADERS))
        answer = self._waiting[identifier] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(timeout_s):
                return await answer
        except (TimeoutError, asyncio.CancelledError) as stopped:
            self._take_back(identifier)
            if isinstance(stopped, TimeoutError):
                raise timed_out(method, timeout_s) from None
            raise
        finally:
            del self._waiting[identifier]

    async def told(self) -> None:
        """Return once there is a notification to take.

        Raises:
            WireError: The connection was lost.
        """
        while not (self._notifications or self.lost):
            self._news.clear()
            await self._news.wait()
        if not self._notifications:
            raise connection_lost()

    async def close(self) -> None:
        """End the connection and wait until it has."""
        self._transport.close()
        await self._ended

    def _take_back(self, identifier: int) -> None:
        if not self.lost:
            self._transport.write(frame(encode_call("$/cancelRequest", {"id": identifier}), Framing.HEADERS))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.WriteTransport)  # noqa: S101 - for the type checker
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Deliver the answers that are complete."""
        self._reader.feed(data)
        while (body := self._reader.next_body()) is not None:
            message = read_message(msgspec.json.decode(body))
            if isinstance(message, Call):
                self._notifications.append(message)
                self._news.set()
            elif message.id is None:
                # A frame of ours was refused whole, and no id says which.
                self._fail_all(WireError.from_error(message.error or {}))
            elif isinstance(message.id, int) and message.id in self._waiting:
                _settle(self._waiting[message.id], message.result, message.error)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002 - all ends are one to a caller
        """Fail what waits."""
        self.lost = True
        self._fail_all(connection_lost())
        self._news.set()
        self._ended.set_result(None)

    def _fail_all(self, error: WireError) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                # One exception each: raising changes the traceback of the object.
                answer.set_exception(WireError(error.category, error.message, **error.data))


def _settle(answer: asyncio.Future[Any], result: Any, error: dict[str, Any] | None) -> None:  # noqa: ANN401 - JSON
    if answer.done():
        return
    if error is not None:
        answer.set_exception(WireError.from_error(error))
    else:
        answer.set_result(result)
