"""The record of the journal: a pure codec on bytes. `FORMAT.md` shows every one of them."""

from __future__ import annotations

import enum
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

# One write and one read back hold a whole entry in memory, more than once.
ENTRY_BYTES_MAX: Final = 64 * 2**20
# Brackets around a group of one entry. A longer payload was never written, so its length is not worth allocating for.
PAYLOAD_BYTES_MAX: Final = ENTRY_BYTES_MAX + len(b"[]")

# Magic, payload length, sequence, count of entries, CRC-32.
_HEADER: Final = struct.Struct("<4sIQII")
_HEADER_WITHOUT_CRC: Final = _HEADER.size - struct.calcsize("<I")
HEADER_BYTES: Final = _HEADER.size


class Kind(enum.Enum):
    """What a record is for; the value is its magic.

    The first byte never occurs in UTF-8, so no stored text, however chosen, can look like the start of a record.
    """

    CATALOGUE = b"\xffSWC"
    GROUP = b"\xffSWG"
    CLOSING = b"\xffSWE"


MAGIC_PREFIX: Final = b"\xffSW"
_KINDS: Final = {kind.value: kind for kind in Kind}


@dataclass(frozen=True, slots=True)
class Record:
    """One valid record.

    Attributes:
        kind: What it is for.
        sequence: Ledger sequence of its first entry or, when it has none, of the first that can follow.
        count: How many entries it has; they take consecutive sequences.
        payload: JSON text in UTF-8; a window on the bytes that were decoded.
        start: Offset of its first byte.
        end: Offset of the byte after its last.
    """

    kind: Kind
    sequence: int
    count: int
    payload: memoryview
    start: int
    end: int

    @property
    def next_sequence(self) -> int:
        """The sequence that the record after this one must have."""
        return self.sequence + self.count


def encode_group(sequence: int, entries: Sequence[bytes]) -> bytes:
    """Return the record of one group: `entries`, each a JSON text, as one JSON array under one checksum."""
    return encode(Kind.GROUP, sequence, len(entries), b"[" + b",".join(entries) + b"]")


def encode(kind: Kind, sequence: int, count: int, payload: bytes) -> bytes:
    """Return the bytes of one record.

    Raises:
        ValueError: The payload is longer than `PAYLOAD_BYTES_MAX`: `decode` would not take it back.

    Source: store.md section 2.
    """
    if len(payload) > PAYLOAD_BYTES_MAX:
        raise ValueError("the payload is longer than a record can be")
    header = _HEADER.pack(kind.value, len(payload), sequence, count, 0)[:_HEADER_WITHOUT_CRC]
    return b"".join((header, _checksum(header, payload).to_bytes(4, "little"), payload))


def decode(data: memoryview, start: int) -> Record | None:
    """Return the record that starts at offset `start`, or `None` when no valid one does.

    Nothing is copied or allocated by a length that the data does not have.
    """
    body = start + HEADER_BYTES
    if body > len(data):
        return None
    magic, length, sequence, count, checksum = _HEADER.unpack_from(data, start)
    kind, end = _KINDS.get(magic), body + length
    if kind is None or length > PAYLOAD_BYTES_MAX or end > len(data):
        return None
    payload = data[body:end]
    if _checksum(data[start : start + _HEADER_WITHOUT_CRC], payload) != checksum:
        return None
    return Record(kind, sequence, count, payload, start, end)


def _checksum(header: bytes | memoryview, payload: bytes | memoryview) -> int:
    return zlib.crc32(payload, zlib.crc32(header))
