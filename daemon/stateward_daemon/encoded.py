"""Encoded values: a large value that is served again is sent again, not encoded again.

Stored values are never changed, so the bytes of one stay right for as long as it is that very object. A value is known
by its identity, and held, so that no other can take its place in memory.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from stateward_engine.json_value import Json

# Smaller ones are encoded as fast as they are looked up.
VALUE_BYTES_MIN: Final = 64 * 1024
KEPT_BYTES_MAX: Final = 16 * 1024 * 1024


def answer_too_large(size: int, limit: int) -> WireError:
    """Return the refusal of an answer that no message can hold.

    Args:
        size: Bytes of the answer, or of as much of it as was put together.
        limit: Bytes of a message.
    """
    return WireError(
        "too_large",
        f"the answer has {size} bytes or more, and a message at most {limit}; read a smaller part",
        got=size,
        limit=limit,
    )


class EncodedValues:
    """The bytes of the large values that were served last, at most `KEPT_BYTES_MAX` of them."""

    def __init__(self) -> None:
        self._encoder = msgspec.json.Encoder()
        # Under the identity of each value, the value and its bytes; the one that was served last stands last.
        self._kept: OrderedDict[int, tuple[Json, bytes]] = OrderedDict()
        self._kept_bytes = 0

    def encode(self, value: Json) -> bytes:
        """Return the JSON of a stored value, which nobody changes."""
        kept = self._kept.get(id(value))
        if kept is not None:
            self._kept.move_to_end(id(value))
            return kept[1]
        body = self._encoder.encode(value)
        if VALUE_BYTES_MIN <= len(body) <= KEPT_BYTES_MAX:
            self._keep(value, body)
        return body

    def answer(self, answer: dict[str, Any], *, batch: bool, limit: int) -> dict[str, Any]:
        """Return the answer of a read with its values encoded, ready to become part of a message.

        Args:
            answer: From the engine.
            batch: Whether its value is a list of values.
            limit: Bytes of a message. A batch may name one large value thousands of times.

        Raises:
            WireError: `too_large`, before more than that is put together.
        """
        if "value" not in answer:
            return answer
        if not batch:
            return {**answer, "value": msgspec.Raw(self.encode(answer["value"]))}
        values, size = [], 0
        for value in answer["value"]:
            body = self.encode(value)
            size += len(body)
            if size > limit:
                raise answer_too_large(size, limit)
            values.append(msgspec.Raw(body))
        return {**answer, "value": values}

    def _keep(self, value: Json, body: bytes) -> None:
        self._kept[id(value)] = value, body
        self._kept_bytes += len(body)
        while self._kept_bytes > KEPT_BYTES_MAX:
            _, (_, oldest) = self._kept.popitem(last=False)
            self._kept_bytes -= len(oldest)
