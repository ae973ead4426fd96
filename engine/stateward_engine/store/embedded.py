"""The embedded ledger: a journal and the checkpoints that it goes on from, in one directory under one lock."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from stateward_engine.errors import StoreUnavailable
from stateward_engine.store.catalogue import encode_catalogue
from stateward_engine.store.disk_file import DiskFile, describe
from stateward_engine.store.journal import Journal
from stateward_engine.store.ledger import Stale, refusal
from stateward_engine.store.recover import (
    JOURNAL_SUFFIX,
    PREVIOUS_JOURNAL,
    RESERVE_NAME,
    number_of,
    recover,
    reseal,
    successor_of,
)
from stateward_engine.store.scan import scan
from stateward_engine.store.streams import write_changed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stateward_engine.state.view import View
    from stateward_engine.store.directory import Directory
    from stateward_engine.store.lock import Lock
    from stateward_engine.store.recover import Evidence
    from stateward_engine.store.scan import Scan

# Given back on a full disk, so that a start finds room for what it cannot do without.
RESERVE_BYTES: Final = 2**20
_DISK_IS_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


class EmbeddedLedger:
    """A `Ledger` in a directory of its own.

    Attributes:
        journal: The open journal; tests reach it here.
    """

    provider: Final = "embedded"

    def __init__(self, directory: Directory, journals: Directory, evidence: Evidence, lock: Lock) -> None:
        """Seal what was recovered, or open it to read where the disk has no room for that.

        Args:
            directory: The store; the ledger's from here on, as is `journals`.
            journals: Its directory of journals.
            evidence: What `recover` found there.
            lock: The held lock of the store.

        Raises:
            OSError: A call failed; the store is as good as before, and still the caller's.
        """
        self._directory = directory
        self._journals = journals
        self._lock = lock
        self._name = evidence.name
        self._catalogue = evidence.proven.catalogue
        self.journal = self._sealed(evidence)
        self._lay_in_reserve()

    @property
    def poison(self) -> str | None:
        """See `Ledger`."""
        return self.journal.poison

    @property
    def outage(self) -> None:
        """See `Ledger`: a disk that fails poisons."""
        return

    @property
    def head(self) -> int:
        """See `Ledger`."""
        return self.journal.next_sequence - 1

    @property
    def length(self) -> int:
        """See `Ledger`."""
        return self.journal.end

    @property
    def is_long(self) -> bool:
        """See `Ledger`."""
        return self.journal.poison is None and self._catalogue.is_outgrown(self.journal.end, self.journal.groups)

    def append(self, entries: Sequence[bytes], *, expected_head: int) -> None:
        """See `Ledger`."""
        if expected_head != self.head:
            raise Stale
        self.journal.append(entries)

    def follow(self, view: View, *, hold: bool = False) -> View:  # noqa: ARG002 - nobody else is there to be held off
        """See `Ledger`. The lock keeps all others out."""
        return view

    def compact(self, view: View) -> int:
        """See `Ledger`.

        The order is the promise: every checkpoint is durable before the journal that goes on from them has a name, and
        the old journal is moved away after that.
        """
        journal = self.journal
        journal.demand_writable()
        known = set(self._catalogue.streams)
        try:
            catalogue = write_changed(self._directory, view, self._catalogue)
            name = successor_of(self._name)
            content = encode_catalogue(replace(catalogue, journal=number_of(name)), journal.next_sequence)
            self._journals.write_file(name, content)
            successor = self._open(name, scan(content, file=name))
        except BaseException as error:
            # It may be the rename of the new journal that failed: what is appended to this one could be overlooked.
            journal.poison = describe(error)
            if not isinstance(error, Exception):
                raise
            raise refusal(journal.poison) from error
        self.journal, self._name, previous, self._catalogue = successor, name, self._name, catalogue
        journal.close()
        _move_away(self._journals, previous)
        return len(set(catalogue.streams) - known)

    def close(self) -> None:
        """See `Ledger`; the lock stays the caller's."""
        # A seal that fails loses nothing: the next start copies the journal instead of trusting it.
        with contextlib.suppress(StoreUnavailable):
            self.journal.seal()
        self.journal.close()
        self._journals.close()

    def _sealed(self, evidence: Evidence) -> Journal:
        """Return the journal to append to: sealed by the run before, or copied now."""
        try:
            proven = self._resealed(evidence)
        except OSError as error:
            if error.errno not in _DISK_IS_FULL:
                raise
            journal = self._open(evidence.name, evidence.proven)
            # What was proven can be read. Nothing may be appended to a journal that was not copied.
            journal.poison = describe(error)
            return journal
        for name in self._journals.names():
            if name.endswith(JOURNAL_SUFFIX) and name != evidence.name:
                _move_away(self._journals, name)
        return self._open(evidence.name, proven)

    def _resealed(self, evidence: Evidence) -> Scan:
        try:
            return reseal(self._journals, evidence)
        except OSError as error:
            if error.errno not in _DISK_IS_FULL:
                raise
            self._directory.remove(RESERVE_NAME)
            return reseal(self._journals, evidence)

    def _open(self, name: str, proven: Scan) -> Journal:
        journal = Journal(DiskFile(self._journals.open_file(name, os.O_RDWR)), proven)
        journal.is_ours = self._lock.is_in_place
        return journal

    def _lay_in_reserve(self) -> None:
        """Take the reserve from the disk, unless it is there or there is no room for it."""
        if self.journal.poison is None:
            with contextlib.suppress(OSError, StoreUnavailable):
                self._directory.reserve(RESERVE_NAME, RESERVE_BYTES)


def _move_away(journals: Directory, name: str) -> None:
    """Keep a journal for people, in the place of the one before it."""
    # Whether it succeeds does not matter: the newest journal is the one that counts.
    with contextlib.suppress(OSError):
        journals.rename(name, PREVIOUS_JOURNAL)


def open_embedded(directory: Directory, lock: Lock) -> tuple[EmbeddedLedger, View]:
    """Open the ledger of a store whose lock is held, and return it with the view that it leads to.

    Raises:
        CorruptStore, StoreUnavailable, OSError: As for `recover`.
    """
    evidence, journals = recover(directory)
    try:
        return EmbeddedLedger(directory, journals, evidence, lock), evidence.view
    except BaseException:
        journals.close()
        raise
