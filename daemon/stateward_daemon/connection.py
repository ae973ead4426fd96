"""One connection as bytes: admission, frames, bounds and fairness. What the frames say is `exchange.py`'s."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from stateward.peer import peer
from stateward_daemon.exchange import Exchange
from stateward_protocol.envelope import encode_error
from stateward_protocol.errors import WireError
from stateward_protocol.framing import FrameReader, Framing, Waiting, frame
from stateward_protocol.strict_json import Unsendable, decode

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stateward_daemon.host import Host

# Frames of one connection that are handled before others get their turn: a client that pipelines thousands of requests
# would hold the loop until they are done.
FRAMES_PER_TURN_MAX: Final = 64
# Answers that a client has not read yet, in bytes; beyond it no further request of that client is looked at.
UNREAD_BYTES_MAX: Final = 1024 * 1024
# Frames behind one that a thread works on, and the bytes of each, among which an editor may take the work back.
FRAMES_BEHIND_MAX: Final = 64
OVERHEARD_BYTES_MAX: Final = 4096
# What cancels has the one in its method, and what answers has not the other.
CANCELLING: Final = b"ancel"
METHOD: Final = b'"method"'
# Decoding takes about a second per 100 MiB. Beyond this size it is done in a thread, so that others are served.
DECODE_INLINE_BYTES_MAX: Final = 256 * 1024


class Connection(asyncio.Protocol):
    """The daemon's end of one client's connection.

    Attributes:
        paused: Whether the client does not read what it was sent.
        working: Whether a thread works on a frame. The frames behind it wait, so that their order is kept.
    """

    def __init__(self, host: Host, *, uid: int, closed: Callable[[Connection], None]) -> None:
        """Make it ready for a transport.

        Args:
            host: Who serves it.
            uid: The only user who may connect.
            closed: Called once, when the connection is gone.
        """
        self.paused = False
        self.working = False
        self._host = host
        self._uid = uid
        self._closed = closed
        self._loop = asyncio.get_running_loop()
        self._reader = FrameReader(host.settings.max_message_bytes)
        self._exchange: Exchange | None = None
        self._turn_is_due = False
        # Frames that came while a thread works on an earlier one.
        self._behind: deque[bytes] = deque()
        self._has_small_frames = True
        self._ended = False
        self._deadline: asyncio.TimerHandle | None = None
        self._deadline_is_for = Waiting.NOTHING
        self._stalled: asyncio.TimerHandle | None = None

    @property
    def clogged(self) -> bool:
        """Whether something that was sent has not left yet."""
        return self._transport.is_closing() or self._transport.get_write_buffer_size() > 0

    @property
    def is_answering(self) -> bool:
        """Whether something that was asked is not answered yet."""
        return self.working or (self._exchange is not None and not self._exchange.settled)

    @property
    def _held(self) -> bool:
        """Whether the frames that have come have to wait."""
        return self.working or self.paused or self._turn_is_due

    # -- called by the transport -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Admit the client, when it is ours and there is room."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a stream server makes these
        self._transport = transport
        transport.set_write_buffer_limits(high=UNREAD_BYTES_MAX)
        pid, uid = peer(transport.get_extra_info("socket"))
        if uid != self._uid:
            self._host.log.warning("refused a connection of user %d", uid)
            transport.abort()
        elif len(self._host.callers) >= self._host.settings.connections_max:
            self._host.log.warning("refused a connection: there are %d already", len(self._host.callers))
            transport.abort()
        else:
            self._exchange = Exchange(self._host.admit(pid, self), self)

    def data_received(self, data: bytes) -> None:
        """Take bytes, and handle the frames that they complete."""
        if not self._ended:
            self._reader.feed(data)
            self._take_turn()

    def eof_received(self) -> bool:
        """Answer what is still open, then end: a client may close its half first and wait for late answers."""
        self.close()
        return True

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - why it is gone does not matter
        """Clean up."""
        self._ended = True
        # What is left of a long message must not wait for the garbage collector.
        self._reader.clear()
        for timer in (self._deadline, self._stalled):
            if timer is not None:
                timer.cancel()
        if self._exchange is not None:
            self._exchange.closed()
        self._closed(self)

    def pause_writing(self) -> None:
        """Stop reading a client that does not read its answers, and drop it when that lasts."""
        self.paused = True
        self._transport.pause_reading()
        stall_s = self._host.settings.client_stall_s
        self._stalled = self._loop.call_later(stall_s, self._drop, "it does not read its answers")

    def resume_writing(self) -> None:
        """Go on with a client that reads again."""
        self.paused = False
        if self._stalled is not None:
            self._stalled.cancel()
        if self._exchange is not None:
            self._exchange.resumed()
        self._go_on()

    def file_changed(self, path: Path, digest: str | None) -> None:
        """Tell the client's session that the file at `path` has content of another digest now, or came or went."""
        if self._exchange is not None:
            self._exchange.file_changed(path, digest)

    # -- frames in ---------------------------------------------------------------------------------------------------

    def _take_turn(self) -> None:
        self._turn_is_due = False
        frames = 0
        while frames < FRAMES_PER_TURN_MAX:
            if self.paused or self._transport.is_closing() or (self.working and self._is_full()):
                break
            try:
                body = self._next_body()
            except WireError as error:
                # No frame boundary is known any more: answer, then end.
                self.send(encode_error(None, error))
                self.close()
                return
            if body is None:
                break
            if self.working:
                self._wait_behind(body)
            else:
                self._receive(body)
            frames += 1
        else:
            self._turn_is_due = True
            self._loop.call_soon(self._take_turn)
        self._watch_deadline(anew=frames > 0)
        self._end_when_settled()

    def _next_body(self) -> bytes | None:
        return self._behind.popleft() if self._behind and not self.working else self._reader.next_body()

    def _is_full(self) -> bool:
        """Tell whether no further frame is looked at until the thread is done."""
        is_full = len(self._behind) >= FRAMES_BEHIND_MAX or not self._has_small_frames
        if is_full:
            self._transport.pause_reading()
        return is_full

    def _wait_behind(self, body: bytes) -> None:
        """Keep a frame for later, unless it is about the work itself or answers us."""
        assert self._exchange is not None  # noqa: S101 - only admitted clients are read
        if len(body) > OVERHEARD_BYTES_MAX:
            self._has_small_frames = False
        # All others need not even be decoded yet.
        elif CANCELLING in body or METHOD not in body:
            with suppress(WireError, Unsendable):
                if self._exchange.overhear(decode(body)):
                    return
        self._behind.append(body)

    def _receive(self, body: bytes) -> None:
        assert self._exchange is not None  # noqa: S101 - only admitted clients are read
        if len(body) > DECODE_INLINE_BYTES_MAX:
            self.work(partial(decode, body), self._exchange.receive, self._exchange.refuse_unreadable)
            return
        try:
            message = decode(body)
        except (WireError, Unsendable) as error:
            self._exchange.refuse_unreadable(error)
        else:
            self._exchange.receive(message)

    def work(self, job: Callable[[], Any], done: Callable[[Any], None], failed: Callable[[Exception], None]) -> None:
        """Run `job` in a thread, then `done` with its result or `failed`; no further frame is handled meanwhile."""
        self.working = True
        self._has_small_frames = True
        # What waited behind an earlier thread may be about this one.
        behind, self._behind = self._behind, deque()
        for body in behind:
            self._wait_behind(body)

        def finish(future: asyncio.Future[Any]) -> None:
            self.working = False
            try:
                done(future.result())
            except Exception as error:  # noqa: BLE001 - whoever waits for the answer is told, whatever broke
                failed(error)
            self._go_on()

        try:
            future = self._loop.run_in_executor(None, job)
        except Exception as error:  # noqa: BLE001 - no thread can be had, for want of descriptors or memory
            self.working = False
            failed(error)
            self._go_on()
        else:
            future.add_done_callback(finish)

    def _go_on(self) -> None:
        """Take up reading where it was left, when nothing holds it any more."""
        if not (self.paused or self.working or self._transport.is_closing()):
            self._transport.resume_reading()
            self._take_turn()

    def _watch_deadline(self, *, anew: bool) -> None:
        """Give what has begun to arrive a time to be complete; `anew` when something was completed."""
        waiting = Waiting.NOTHING if self._held else self._reader.waiting
        if waiting is self._deadline_is_for and not anew:
            return
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._deadline_is_for = waiting
        if waiting is not Waiting.NOTHING:
            settings = self._host.settings
            limit_s = settings.header_timeout_s if waiting is Waiting.HEADER else settings.body_timeout_s
            self._deadline = self._loop.call_later(limit_s, self._drop, f"its {waiting.value} did not arrive in time")

    # -- answers out -------------------------------------------------------------------------------------------------

    def send(self, body: bytes) -> None:
        """Send one body in the framing of this connection."""
        if not self._transport.is_closing():
            self._transport.write(frame(body, self._reader.framing or Framing.HEADERS))
            if self._ended:
                self._loop.call_soon(self._end_when_settled)

    def close(self) -> None:
        """Take no further message, and end the connection once every request is answered."""
        self._ended = True
        self._end_when_settled()

    def _end_when_settled(self) -> None:
        if self._ended and not self._held and (self._exchange is None or self._exchange.settled):
            self._transport.close()

    def _drop(self, reason: str) -> None:
        self._host.log.warning("dropped a connection: %s", reason)
        self._transport.abort()
