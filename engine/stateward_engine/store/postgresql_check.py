"""`check-store` on a database: walk its rows and tell every fault of them. Changes nothing."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from stateward_engine.errors import StoreError
from stateward_engine.store.check import Fault, Report, StreamReport
from stateward_engine.store.postgresql_load import catalogue_of, checkpoints, group_file, record_of
from stateward_engine.store.postgresql_schema import connect, refusing
from stateward_engine.store.postgresql_statements import BASE, EARLIER, HEAD
from stateward_engine.store.recover import replay, without_the_future
from stateward_engine.store.streams import assembled, proven_streams

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.state.view import View
    from stateward_engine.store.catalogue import Catalogue
    from stateward_engine.store.postgresql_link import Link
    from stateward_engine.store.postgresql_target import Target


def check_postgresql(target: Target) -> Report:
    """Return every fault of the ledger of a database as it is at one moment, whoever writes to it.

    Raises:
        StoreUnavailable: The database cannot be reached or refuses it, or has no ledger of this version.
    """
    walk = _Walk()
    link, _ = connect(target, sharing=False)
    with link, refusing(target):
        link.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        walk.ledger(link)
        link.run("COMMIT")
    return Report(tuple(walk.faults), tuple(walk.streams))


class _Walk:
    """Goes on after each fault."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.streams: list[StreamReport] = []

    def ledger(self, link: Link) -> None:
        """Check the base, the groups after it, and the head that they lead to."""
        bases, heads = link.call(BASE), link.call(HEAD)
        if len(bases) != 1 or len(heads) != 1:
            self.faults.append(Fault("base" if len(bases) != 1 else "head", "it does not have one row"))
            return
        ((base, base_chain, content),) = bases
        try:
            catalogue = catalogue_of(content, base)
        except StoreError as error:
            self.faults.append(Fault("base", str(error)))
            return
        bodies = checkpoints(link)
        streams = proven_streams(catalogue, lambda row: bodies.get(row.file))
        view = assembled(streams, catalogue, first_sequence=base + 1)
        view = self._groups(link, view, base_chain, heads[0])
        self._streams(catalogue, view, bodies)

    def _groups(self, link: Link, view: View, base_chain: bytes, head: tuple[int, bytes]) -> View:
        sequence, chain, base = 0, b"", view.sequence
        while rows := link.call(EARLIER, sequence):
            for first, last, content, kept in rows:
                file = group_file(first)
                # Of the groups before the base, the first that is kept follows nothing that is.
                if sequence and first != sequence + 1:
                    self.faults.append(Fault(file, f"it comes after entry {sequence}, so there is a gap"))
                if chain and hashlib.sha256(chain + content).digest() != kept:
                    self.faults.append(Fault(file, "its bytes do not fit its chain"))
                try:
                    record = record_of(first, last, content)
                    view = replay(view, (record,), file=file) if first > base else view
                except StoreError as error:
                    self.faults.append(Fault(file, str(error)))
                sequence, chain = last, kept
                if last == base and kept != base_chain:
                    self.faults.append(Fault("base", "its chain is not that of the groups"))
        if head != ((sequence, chain) if sequence else (base, base_chain)):
            self.faults.append(Fault("head", f"it is at entry {head[0]} where the groups end with {sequence or base}"))
        return view

    def _streams(self, catalogue: Catalogue, view: View, bodies: Mapping[str, bytes]) -> None:
        view = without_the_future(view, catalogue)
        files = {row.identity: row.file for row in catalogue.streams}
        for identity in {**files, **view.scopes}:
            damage = view.damaged.get(identity)
            self.streams.append(StreamReport(identity, files.get(identity), damage.reason if damage else None))
            if damage:
                self.faults.append(Fault(damage.file, damage.reason))
        for file in sorted(set(bodies) - set(files.values())):
            self.faults.append(Fault(f"{file}", "a checkpoint that the ledger does not know"))
