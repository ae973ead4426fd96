"""The catalogue: what the first record of a journal says about the streams that it goes on from. A pure codec.

A stream that the catalogue names and the disk does not have is known to be missing, which no first start is.
"""

from __future__ import annotations

from typing import Final

import msgspec

from stateward_engine.state.view import HISTORY_LIMIT_DEFAULT, Identity, StreamKind
from stateward_engine.store.record import Kind, encode

CATALOGUE_FORMAT: Final = 1
# A start reads the checkpoints and replays the groups. Compaction keeps the second within a small multiple of the
# first, and never runs for less than these.
_LENGTH_MIN: Final = 2**20
_GROUPS_MIN: Final = 1_000
# Replaying a group takes about as long as loading this many bytes of checkpoints.
_BYTES_PER_GROUP: Final = 4_096


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One stream.

    Attributes:
        kind: What it holds.
        cwd: Real path of its directory, or `None`.
        session: Its session id, or `None`.
        file: Its checkpoint, relative to the store.
        sequence: The ledger sequence that the checkpoint covers.
        bytes: Its length.
        digest: The SHA-256 that stands in it.
        goal: Id of its goal; left out for scopes.
    """

    kind: StreamKind
    cwd: str | None
    session: str | None
    file: str
    sequence: int
    bytes: int
    digest: str
    goal: str | None = None

    @property
    def identity(self) -> Identity:
        """Whose stream it is."""
        return Identity(self.kind, self.cwd, self.session, self.goal)


class Catalogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a journal goes on from.

    Attributes:
        format: Of the journal and its entries.
        journal: The number of the journal that it begins.
        history_limit: The store's setting then.
        streams: A row for each stream.
    """

    format: int = CATALOGUE_FORMAT
    journal: int = 1
    history_limit: int = HISTORY_LIMIT_DEFAULT
    streams: tuple[Row, ...] = ()

    @property
    def stream_bytes(self) -> int:
        """How long all checkpoints are together."""
        return sum(row.bytes for row in self.streams)

    def is_outgrown(self, length: int, groups: int) -> bool:
        """Tell whether what a start would replay after the checkpoints is long beside them: compaction is due.

        Args:
            length: Of the records of the groups, in bytes.
            groups: How many there are.
        """
        loaded = self.stream_bytes
        return length > max(_LENGTH_MIN, 2 * loaded) or groups > max(_GROUPS_MIN, loaded // _BYTES_PER_GROUP)


def encode_catalogue(catalogue: Catalogue, sequence: int) -> bytes:
    """Return the record that begins a journal whose first entry will be `sequence`.

    Source: store.md section 2.
    """
    return encode(Kind.CATALOGUE, sequence, 0, msgspec.json.encode(catalogue))


def decode_catalogue(payload: bytes | memoryview) -> Catalogue | None:
    """Return the catalogue of a payload, or `None` when this version does not know it."""
    try:
        found = msgspec.json.decode(payload, type=Catalogue)
    except msgspec.MsgspecError:
        return None
    return found if found.format == CATALOGUE_FORMAT else None


# A journal in which nothing happened yet. It has one spelling, so that an unfinished creation can be told from data.
FRESH_JOURNAL: Final = encode_catalogue(Catalogue(), 1)
