"""Frames without I/O: bytes in, bodies out, and the other way round.

Two framings share the socket. The LSP base protocol puts `Content-Length` headers before each body; a connection whose
first byte is `{` is newline-delimited JSON instead, both ways, for shells and simple agents.
Source: protocol.md section 1.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from stateward_protocol.errors import WireError

# A header block is two or three short lines; without a bound, a client that never ends it grows the buffer for ever.
HEADER_BYTES_MAX: Final = 8 * 1024
# The default bound of one body: what is announced beyond it is refused before it is read.
MESSAGE_BYTES_MAX: Final = 64 * 1024 * 1024

_HEADER_END: Final = b"\r\n\r\n"


class Framing(Enum):
    """How the bodies of a connection are delimited."""

    HEADERS = "headers"
    LINES = "lines"


class Waiting(Enum):
    """What a reader has begun and not yet got; each has its own deadline."""

    NOTHING = "nothing"
    HEADER = "header"
    BODY = "body"


class FrameReader:
    """Cuts a stream of bytes into bodies.

    Feed it what arrives and take bodies until there is none. After a `WireError` the stream has no known frame
    boundary any more, so the connection must end.
    """

    def __init__(self, message_bytes_max: int = MESSAGE_BYTES_MAX) -> None:
        self.framing: Framing | None = None
        self._message_bytes_max = message_bytes_max
        self._buffer = bytearray()
        self._body_bytes: int | None = None
        # How far the delimiter has been looked for, so that a slow sender does not make us search again.
        self._searched = 0

    def feed(self, data: bytes) -> None:
        """Add what arrived."""
        self._buffer += data
        if self.framing is None and self._buffer:
            self.framing = Framing.LINES if self._buffer[0] == ord("{") else Framing.HEADERS

    def clear(self) -> None:
        """Forget what has arrived."""
        self._buffer = bytearray()
        self._body_bytes, self._searched = None, 0

    def next_body(self) -> bytes | None:
        """Return the next complete body, or `None` until more arrives.

        Raises:
            WireError: `parse_error` for headers that give no length, `too_large` for a body over the bound.
        """
        if not self._buffer:
            return None
        if self.framing is Framing.LINES:
            return self._next_line()
        if self._body_bytes is None and not self._read_header():
            return None
        assert self._body_bytes is not None  # noqa: S101 - for the type checker
        if len(self._buffer) < self._body_bytes:
            return None
        return self._take(self._body_bytes)

    @property
    def waiting(self) -> Waiting:
        """What has begun and is not complete."""
        if self._body_bytes is not None or (self.framing is Framing.LINES and self._buffer):
            return Waiting.BODY
        return Waiting.HEADER if self._buffer else Waiting.NOTHING

    def _next_line(self) -> bytes | None:
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if (end if end >= 0 else len(self._buffer)) > self._message_bytes_max:
                raise self._too_large(len(self._buffer))
            if end < 0:
                self._searched = len(self._buffer)
                return None
            line = self._take(end + 1).strip()
            if line:
                return line

    def _read_header(self) -> bool:
        end = self._buffer.find(_HEADER_END, max(0, self._searched - len(_HEADER_END)))
        if (end if end >= 0 else len(self._buffer)) > HEADER_BYTES_MAX:
            raise WireError("parse_error", f"the header block is over {HEADER_BYTES_MAX} bytes", limit=HEADER_BYTES_MAX)
        if end < 0:
            self._searched = len(self._buffer)
            return False
        length = content_length(self._take(end + len(_HEADER_END))[: -len(_HEADER_END)])
        if length > self._message_bytes_max:
            raise self._too_large(length)
        self._body_bytes = length
        return True

    def _take(self, count: int) -> bytes:
        taken = bytes(memoryview(self._buffer)[:count])
        del self._buffer[:count]
        self._body_bytes, self._searched = None, 0
        return taken

    def _too_large(self, length: int) -> WireError:
        limit = self._message_bytes_max
        return WireError("too_large", f"a message has at most {limit} bytes; split the call", got=length, limit=limit)


def content_length(header: bytes) -> int:
    """Return the length that a header block announces, in bytes.

    Raises:
        WireError: `parse_error`, when there is no `Content-Length`, more than one, or one that is not plain digits.

    >>> content_length(b"content-length:12")
    12
    """
    lengths = []
    for line in header.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if not colon:
            raise WireError("parse_error", "a header line has no colon", example="Content-Length: 42")
        if name.strip().lower() == b"content-length":
            lengths.append(value.strip())
    # Digits of ASCII only: `int` would also take signs, underscores and the digits of other scripts.
    if len(lengths) != 1 or not (lengths[0].isdigit() and len(lengths[0]) <= len(str(2**63))):
        raise WireError(
            "parse_error", "a frame needs exactly one Content-Length of plain digits", example="Content-Length: 42"
        )
    return int(lengths[0])


def frame(body: bytes, framing: Framing) -> bytes:
    """Return `body` as one frame."""
    if framing is Framing.LINES:
        return body + b"\n"
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
