"""`check-store`: walk a store that nobody writes to, and tell every fault of it. Changes nothing."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

from stateward_engine.errors import StoreError
from stateward_engine.store.catalogue import decode_catalogue
from stateward_engine.store.checkpoint import file_name
from stateward_engine.store.directory import Directory
from stateward_engine.store.disk_file import describe
from stateward_engine.store.lock import LOCK_NAME, STARTER_LOCK_NAME, Lock
from stateward_engine.store.record import Kind
from stateward_engine.store.recover import (
    JOURNAL_DIRECTORY,
    RESERVE_NAME,
    current_journal,
    is_unused,
    number_of,
    open_journals,
    replay,
    without_the_future,
)
from stateward_engine.store.scan import next_valid
from stateward_engine.store.streams import STREAMS_DIRECTORY, checkpoint_names, load_view

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from stateward_engine.state.view import Identity, View
    from stateward_engine.store.catalogue import Catalogue
    from stateward_engine.store.record import Record


class Fault(NamedTuple):
    """One thing that is wrong.

    Attributes:
        file: Where, relative to the store; the empty string is the store itself.
        reason: What.
        offset: At which byte, where that means something.
    """

    file: str
    reason: str
    offset: int | None = None


class StreamReport(NamedTuple):
    """One stream.

    Attributes:
        identity: Whose it is.
        file: Its checkpoint, relative to the store; `None` when only the journal has it yet.
        reason: Why it cannot be trusted, or `None`.
    """

    identity: Identity
    file: str | None
    reason: str | None = None


class Report(NamedTuple):
    """What a check found. A store without faults starts, and serves every stream."""

    faults: tuple[Fault, ...]
    streams: tuple[StreamReport, ...]


def check_store(path: Path) -> Report:
    """Return every fault of the store at `path`; a directory that is yet to become one has none.

    Raises:
        StoreUnavailable: Somebody writes to it, or the directory is refused.
        FileNotFoundError: There is nothing at `path`.

    Source: store.md section 4.
    """
    walk = _Walk()
    with Directory.open(path, create=False) as directory, Lock.shared(directory):
        for name in (LOCK_NAME, STARTER_LOCK_NAME, RESERVE_NAME):
            with walk.noting(name):
                directory.read(name)
        with walk.noting(""):
            if not is_unused(directory):
                walk.journal(directory)
    return Report(tuple(walk.faults), tuple(walk.streams))


class _Walk:
    """Goes on after each fault."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.streams: list[StreamReport] = []

    @contextlib.contextmanager
    def noting(self, file: str) -> Iterator[None]:
        """Take what goes wrong inside for a fault of `file`, unless it names another one."""
        try:
            yield
        except StoreError as error:
            offset = error.facts.get("offset")
            named = str(error.facts.get("file", file))
            self.faults.append(Fault(named, str(error), offset if isinstance(offset, int) else None))
        except OSError as error:
            self.faults.append(Fault(file, describe(error)))

    def journal(self, directory: Directory) -> None:
        """Check the newest journal, then the streams that it goes on from and leads to."""
        with open_journals(directory) as journals:
            name = current_journal(journals)
            file = f"{JOURNAL_DIRECTORY}/{name}"
            content = journals.read(name) or b""
        records = list(self._records(content, file))
        first = records[0] if records else None
        catalogue = decode_catalogue(first.payload) if first and first.kind is Kind.CATALOGUE else None
        if first is None or catalogue is None or first.start > 0:
            self.faults.append(Fault(file, "no catalogue that this version knows; no stream can be checked", 0))
            return
        if catalogue.journal != number_of(name):
            self.faults.append(Fault(file, f"the content is that of journal {catalogue.journal}: an older copy", 0))
        view = self._replayed(load_view(directory, catalogue, first_sequence=first.sequence), records, file)
        self._streams(catalogue, view)
        self._strangers(directory, {*view.scopes, *view.damaged})

    def _strangers(self, directory: Directory, known: Collection[Identity]) -> None:
        """Note every checkpoint that belongs to no stream."""
        ours = {(identity.kind, file_name(identity)) for identity in known}
        for kind, name in checkpoint_names(directory):
            if (kind, name) not in ours:
                self.faults.append(
                    Fault(f"{STREAMS_DIRECTORY}/{kind}/{name}", "a checkpoint that the ledger does not know")
                )

    def _records(self, content: bytes, file: str) -> Iterator[Record]:
        """Yield every valid record, and note what stands between them and in their order."""
        at, due = 0, None
        while record := next_valid(content, at):
            if record.start > at:
                self.faults.append(Fault(file, f"damage before a valid record at byte {record.start}", at))
            elif due is not None and record.sequence != due:
                self.faults.append(Fault(file, f"entry {record.sequence} where {due} was due", record.start))
            if record.kind is Kind.CATALOGUE and at > 0:
                self.faults.append(Fault(file, "a second catalogue", record.start))
            yield record
            at, due = record.end, record.next_sequence

    def _replayed(self, base: View, records: Iterable[Record], file: str) -> View:
        view = base
        for group in records:
            if group.kind is Kind.GROUP:
                with self.noting(file):
                    view = replay(view, (group,), file=file)
        return view

    def _streams(self, catalogue: Catalogue, view: View) -> None:
        view = without_the_future(view, catalogue)
        files = {row.identity: row.file for row in catalogue.streams}
        for identity in {**files, **view.scopes}:
            damage = view.damaged.get(identity)
            reason = damage.reason if damage else None
            self.streams.append(StreamReport(identity, files.get(identity), reason))
            if damage:
                self.faults.append(Fault(damage.file, damage.reason))
