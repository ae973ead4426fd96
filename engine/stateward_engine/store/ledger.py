"""The ledger: the one totally ordered sequence of groups that everything lasting is made of, whatever keeps it.

An engine needs this interface and nothing else. `tests/store/ledger_kit.py` is what it has to pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from stateward_engine.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stateward_engine.state.view import View


class Stale(Exception):
    """Somebody else appended first: follow the ledger, then decide again."""


class Outage(NamedTuple):
    """A ledger that cannot be reached.

    Attributes:
        reason: Why, for people.
        since: When it was last known to be at its head, as RFC 3339 text in UTC.
    """

    reason: str
    since: str


class Ledger(Protocol):
    """An open ledger. Opening it is the engine's own affair, and ends with the view that its streams lead to.

    Invariant: an entry that `append` returned for is there whenever the ledger is opened again, in its place, with all
    entries of its group. One that it refused is not. Of one whose outcome is unknown, all or nothing is there.

    """

    @property
    def provider(self) -> str:
        """What `status` calls the engine."""

    @property
    def poison(self) -> str | None:
        """Why nothing can be appended any more until it is opened again, or `None`."""

    @property
    def outage(self) -> Outage | None:
        """Why it could not be reached when that was last tried, or `None`; it ends by itself."""

    @property
    def head(self) -> int:
        """The ledger sequence of the last durable entry that this process knows of; 0 for none."""

    @property
    def length(self) -> int:
        """Size of what a start would have to replay, in bytes."""

    @property
    def is_long(self) -> bool:
        """Tell whether compaction is due."""

    def append(self, entries: Sequence[bytes], *, expected_head: int) -> None:
        """Return once `entries`, each a JSON text, are durable together as the group after `expected_head`.

        Raises:
            Stale: The ledger is past `expected_head`; nothing was written.
            StoreUnavailable: With outcome `unknown`, it cannot be told whether they are durable; with `refused`,
                nothing was written. The ledger is poisoned, or has an outage: then it finds out by itself, and until it
                has, it appends nothing else.
            Busy: Somebody else keeps the ledger from taking it just now; nothing was written.

        Source: store.md sections 1 and 3.
        """

    def follow(self, view: View, *, hold: bool = False) -> View:
        """Return the view after what was appended since `view`; the same one when nothing was.

        Args:
            view: At the head that this process knows of.
            hold: Try to keep others from appending until the next call, so that a race which was lost once is not lost
                for ever.

        Raises:
            StoreUnavailable: It cannot be reached.
            Busy: As for `append`.
            CorruptStore: What was appended contradicts itself.
        """

    def compact(self, view: View) -> int:
        """Make `view`, which is at the head, what the next start begins with, and return how many streams changed.

        Raises:
            StoreUnavailable: It could not; everything is as durable as before. The ledger may be poisoned.

        Source: store.md section 4.
        """

    def close(self) -> None:
        """End the run in good order and give everything back."""


@runtime_checkable
class SharedLedger(Ledger, Protocol):
    """A ledger that others append to, and that can tell of it."""

    def heed(self, follow: Callable[[], None]) -> Callable[[], None]:
        """Have `follow` called, on a thread of the ledger, whenever others may have appended; return what ends that."""


def refusal(poison: str) -> StoreUnavailable:
    """Return the answer to every mutation that comes after the ledger was poisoned."""
    return StoreUnavailable(
        f"the store stopped writing after a failure ({poison}); free the disk or repair it, then restart the store",
        reason=poison,
    )
