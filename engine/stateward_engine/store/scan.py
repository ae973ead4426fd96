"""What the bytes of a journal prove: its groups, a torn tail, or damage. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from stateward_engine.errors import CorruptStore
from stateward_engine.store.catalogue import decode_catalogue
from stateward_engine.store.record import MAGIC_PREFIX, Kind, Record, decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_engine.store.catalogue import Catalogue


class Scan(NamedTuple):
    """A journal that may be trusted up to `end`.

    Attributes:
        catalogue: What it goes on from.
        first_sequence: The sequence of its first entry.
        groups: Its groups, in order.
        end: Offset of the byte after the last group. What follows is a closing record, a torn tail or nothing, and then
            the zeros that were written ahead.
        next_sequence: The sequence of the next entry.
        sealed: Whether a closing record follows, and nothing but zeros after it.
        length: How many bytes the file has.
    """

    catalogue: Catalogue
    first_sequence: int
    groups: tuple[Record, ...]
    end: int
    next_sequence: int
    sealed: bool
    length: int


def scan(data: bytes, *, file: str) -> Scan:
    """Return what `data`, the whole content of the journal named `file`, proves.

    A group is written only after the one before it is durable. So an invalid *last* record is a write that a crash cut
    short, and a valid record *after* an invalid one is damage.

    Raises:
        CorruptStore: No catalogue of this version, a gap in the sequence, a record out of place, or a valid record
            after an invalid one. The facts are `file` and `offset`, in bytes from 0.

    Source: store.md sections 2 and 4.
    """
    records = tuple(_records(data, file))
    last = records[-1]
    if later := next_valid(data, last.end):
        raise corrupt(f"a damaged record before a valid one at byte {later.start}", file, last.end)
    closed = last.kind is Kind.CLOSING
    return Scan(
        catalogue=_demand_catalogue(records[0], file),
        first_sequence=records[0].sequence,
        groups=tuple(record for record in records if record.kind is Kind.GROUP),
        end=last.start if closed else last.end,
        next_sequence=last.next_sequence,
        sealed=closed and not data[last.end :].strip(b"\0"),
        length=len(data),
    )


def _records(data: bytes, file: str) -> Iterator[Record]:
    """Yield the catalogue and the valid records that follow it without a break."""
    window = memoryview(data)
    previous = decode(window, 0)
    if previous is None:
        # The file got its name only after its first record was synced and read back: no crash explains this.
        raise corrupt("the first record is damaged", file, 0)
    yield previous
    while record := decode(window, previous.end):
        if record.kind is Kind.CATALOGUE:
            raise corrupt("a second catalogue", file, record.start)
        if previous.kind is Kind.CLOSING:
            raise corrupt("a record after the closing one", file, record.start)
        if record.sequence != previous.next_sequence:
            raise corrupt(f"sequence {record.sequence} where {previous.next_sequence} was due", file, record.start)
        yield record
        previous = record


def _demand_catalogue(record: Record, file: str) -> Catalogue:
    catalogue = decode_catalogue(record.payload) if record.kind is Kind.CATALOGUE else None
    if catalogue is None:
        raise corrupt("a journal format that this version does not know; use the version that wrote it", file, 0)
    return catalogue


def next_valid(data: bytes, start: int) -> Record | None:
    """Return the first valid record that starts at offset `start` or later, or `None`."""
    window = memoryview(data)
    candidate = data.find(MAGIC_PREFIX, start)
    while candidate != -1:
        if record := decode(window, candidate):
            return record
        candidate = data.find(MAGIC_PREFIX, candidate + 1)
    return None


def entries(record: Record, *, file: str) -> list[dict[str, Any]]:
    """Return the entries of a group.

    Raises:
        CorruptStore: The checksum is right and the content is not: no JSON array of `record.count` objects.
    """
    try:
        found = msgspec.json.decode(record.payload, type=list[dict[str, Any]])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise corrupt("a group that is no array of entries", file, record.start) from error
    if len(found) != record.count:
        raise corrupt(f"{len(found)} entries where {record.count} were due", file, record.start)
    return found


def corrupt(what: str, file: str, offset: int) -> CorruptStore:
    """Return the refusal of a file for what stands at a byte offset."""
    return CorruptStore(f"{file} at byte {offset}: {what}; nothing was changed", file=file, offset=offset)
