"""From the rows of a ledger in a database to its view: each group in its place, each digest right, or a refusal."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from stateward_engine.errors import CorruptStore
from stateward_engine.store.catalogue import decode_catalogue
from stateward_engine.store.postgresql_statements import AFTER, BASE, ROWS_PER_ANSWER, STREAMS
from stateward_engine.store.record import Kind, decode
from stateward_engine.store.recover import replay, without_the_future
from stateward_engine.store.streams import assembled, proven_streams

if TYPE_CHECKING:
    from stateward_engine.state.view import View
    from stateward_engine.store.catalogue import Catalogue
    from stateward_engine.store.postgresql_link import Link
    from stateward_engine.store.record import Record


class Position(NamedTuple):
    """How far a reader has come, and what a start would have to replay to come there.

    Attributes:
        sequence: Of the last entry before it.
        chain: The digest that the ledger had there: of the chain before and the record, from group to group.
        base: The sequence that the checkpoints cover.
        catalogue: What they are.
        length: Of the records after them, in bytes.
        groups: How many those are.
    """

    sequence: int
    chain: bytes
    base: int
    catalogue: Catalogue
    length: int = 0
    groups: int = 0

    def after(self, last: int, content: bytes) -> Position:
        """Return the position after the record of a group that ends with entry `last`."""
        return self._replace(
            sequence=last,
            chain=hashlib.sha256(self.chain + content).digest(),
            length=self.length + len(content),
            groups=self.groups + 1,
        )


def load(link: Link) -> tuple[View, Position]:
    """Return the view and the head of a ledger, from its checkpoints on.

    Raises:
        CorruptStore: Its rows contradict each other. A damaged checkpoint fails its stream alone.
        Answered, Lost: As for `Link.call`.
    """
    found = None
    while found is None:
        found = advance(link, *load_base(link))
    view, position = found
    return without_the_future(view, position.catalogue), position


def load_base(link: Link) -> tuple[View, Position]:
    """Return what the checkpoints cover. Raises as `load`."""
    # Catalogue and checkpoints are replaced together.
    link.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    bases = link.call(BASE)
    bodies = checkpoints(link)
    link.run("COMMIT")
    if len(bases) != 1:
        raise corrupt("base", "it does not have one row")
    ((sequence, chain, content),) = bases
    catalogue = catalogue_of(content, sequence)
    streams = proven_streams(catalogue, lambda row: bodies.get(row.file))
    view = assembled(streams, catalogue, first_sequence=sequence + 1)
    return view, Position(sequence, chain, sequence, catalogue)


def checkpoints(link: Link) -> dict[str, bytes]:
    """Return every checkpoint that is kept, by its file. Raises as `Link.call`."""
    found: dict[str, bytes] = {}
    after = ""
    while rows := link.call(STREAMS, after):
        found.update(rows)
        after = rows[-1][0]
    return found


def catalogue_of(content: bytes, sequence: int) -> Catalogue:
    """Return the catalogue of a base that covers `sequence`.

    Raises:
        CorruptStore: It is another.
    """
    record = decode(memoryview(content), 0)
    whole = record is not None and record.kind is Kind.CATALOGUE and record.end == len(content)
    if record is None or not whole or record.sequence != sequence + 1:
        raise corrupt("base", "its catalogue is damaged")
    catalogue = decode_catalogue(record.payload)
    if catalogue is None:
        raise corrupt("base", "its catalogue has a format that this version does not know")
    return catalogue


def advance(link: Link, view: View, position: Position) -> tuple[View, Position] | None:
    """Return view and position at the head, come to from others.

    Returns:
        What was given where nothing came after it. `None` where the groups after the position are no longer kept: the
        checkpoints have them.

    Raises:
        CorruptStore: There is a gap, a wrong digest, or another past than that of the position.
        Answered, Lost: As for `Link.call`.
    """
    while True:
        rows = link.call(AFTER, position.sequence)
        if not rows:
            raise corrupt("head", "head or base does not have one row")
        base, head, chain = rows[0][:3]
        found = [row[3:] for row in rows if row[3] is not None]
        if base > position.sequence and (not found or found[0][0] != position.sequence + 1):
            return None
        for first, last, content, kept in found:
            view, position = _after(view, position, first, last, content)
            if position.chain != kept:
                raise corrupt(group_file(first), "its bytes do not fit its chain")
        if len(found) == ROWS_PER_ANSWER:
            continue
        if (head, chain) != (position.sequence, position.chain):
            raise corrupt(
                "head",
                f"it is at entry {head} where the groups lead to {position.sequence}, "
                "or has another past than was read before, as after a restore from a copy",
            )
        return view, position


def _after(view: View, position: Position, first: int, last: int, content: bytes) -> tuple[View, Position]:
    """Return view and position after a group."""
    if first != position.sequence + 1:
        raise corrupt(group_file(first), f"it comes after entry {position.sequence}, so there is a gap")
    view = replay(view, (record_of(first, last, content),), file=group_file(first))
    return view, position.after(last, content)


def record_of(first: int, last: int, content: bytes) -> Record:
    """Return the record of a row.

    Raises:
        CorruptStore: It is no whole record of these entries.
    """
    record = decode(memoryview(content), 0)
    whole = record is not None and record.kind is Kind.GROUP and record.end == len(content)
    if record is None or not whole or (record.sequence, record.next_sequence) != (first, last + 1):
        raise corrupt(group_file(first), "it is no record of these entries")
    return record


def group_file(first: int) -> str:
    """Return what stands for the file of a group in messages.

    >>> group_file(17)
    'groups/17'
    """
    return f"groups/{first}"


def corrupt(file: str, what: str) -> CorruptStore:
    """Return the refusal of a row that contradicts others."""
    return CorruptStore(f"{file} of the database: {what}; nothing was changed", file=file)
