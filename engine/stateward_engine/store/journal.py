"""The open journal: it makes one group durable at a time, or nothing ever again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stateward_engine.errors import StoreUnavailable
from stateward_engine.store.disk_file import WriteLost, describe, write_durably
from stateward_engine.store.ledger import refusal
from stateward_engine.store.record import Kind, encode, encode_group

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stateward_engine.store.disk_file import File
    from stateward_engine.store.scan import Scan


# Syncing a file that did not grow is one write to the device; growing it costs the file system a commit of its own. So
# zeros are written this far ahead, in the same write as the group that reaches the end of the last ones.
AHEAD_BYTES: Final = 256 * 2**10


_LOST: Final = "the lock file was removed or the store was moved, so another process may have the store by now"


class Journal:
    """Appends groups to a recovered journal file, which it owns.

    Invariant: everything before `end` is durable and was read back. The first failure poisons the journal for good: a
    failed sync marks its pages clean, so that the next sync would succeed without having written them.

    Attributes:
        file: The open file; tests put one that fails in its place.
        end: Offset of the byte after the last group.
        length: How many bytes the file has; all after the last record are zeros.
        groups: How many groups it has.
        next_sequence: The ledger sequence of the next entry.
        poison: Why nothing can be appended any more, or `None`.
        is_ours: Tells whether the store is still locked by its name. If not, another process may write to it by now.
    """

    def __init__(self, file: File, proven: Scan) -> None:
        """Go on from a file that has exactly what was proven, and no torn tail."""
        self.file = file
        self.end = proven.end
        self.length = proven.length
        self.groups = len(proven.groups)
        self.next_sequence = proven.next_sequence
        self.poison: str | None = None
        self.is_ours: Callable[[], bool] = _always
        self._sealed = proven.sealed

    def append(self, entries: Sequence[bytes]) -> None:
        """Return once `entries`, each a JSON text, are durable together as one group.

        Raises:
            StoreUnavailable: With outcome `unknown`, a call failed after the write began, and the journal is poisoned;
                with `refused`, it already was, and nothing was written.

        Source: store.md sections 3 and 4.
        """
        record = encode_group(self.next_sequence, entries)
        self._write(record)
        self.end += len(record)
        self.groups += 1
        self.next_sequence += len(entries)
        self._sealed = False

    def seal(self) -> None:
        """Mark the end of a clean run, so that a damaged last group cannot pass for a torn tail.

        The next group takes the place of the mark. If it came after it, a mark that reached only the kernel's cache
        could become a hole before a durable group. Does nothing when no group came after the last seal.

        Raises:
            StoreUnavailable: As for `append`. No group is lost by it: the next start copies the journal instead.
        """
        if not self._sealed:
            self._write(encode(Kind.CLOSING, self.next_sequence, 0, b"{}"))
            self._sealed = True

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def demand_writable(self) -> None:
        """Raise `StoreUnavailable` if nothing may be written any more."""
        if self.poison is None:
            self.poison = self._loss_of_lock()
        if self.poison is not None:
            raise refusal(self.poison)

    def _write(self, record: bytes) -> None:
        self.demand_writable()
        try:
            if self.end + len(record) > self.length:
                record += bytes(AHEAD_BYTES)
            write_durably(self.file, record, self.end)
            self._demand_ours()
            self.length = max(self.length, self.end + len(record))
        except BaseException as error:
            # Even an interrupt: it may have come between the write and the sync.
            self.poison = describe(error)
            if not isinstance(error, Exception):
                raise
            raise StoreUnavailable(
                f"the store cannot tell whether the mutation is on disk ({self.poison}); "
                "restart it, then repeat the call with the same idempotency key",
                outcome="unknown",
                reason=self.poison,
            ) from error

    def _demand_ours(self) -> None:
        """Raise `WriteLost` if what was written went into a directory that is no longer the store."""
        if loss := self._loss_of_lock():
            raise WriteLost(loss)

    def _loss_of_lock(self) -> str | None:
        try:
            return None if self.is_ours() else _LOST
        except OSError as error:
            return describe(error)


def _always() -> bool:
    return True
