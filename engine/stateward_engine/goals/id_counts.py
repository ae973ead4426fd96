"""Id counts: on how many rows of a document each id stands, kept by difference from one reading to the next."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class IdCounts:
    """Counts of ids.

    Attributes:
        repeated: The ids that several rows have.
        total: How many rows there are.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self.repeated: frozenset[str] = frozenset()
        self.total = 0

    def __contains__(self, todo_id: str) -> bool:
        return todo_id in self._counts

    def change(self, removed: Iterable[Iterable[str]], added: Iterable[Iterable[str]]) -> None:
        """Take the ids of rows that went and of rows that came."""
        gone, come = Counter(chain.from_iterable(removed)), Counter(chain.from_iterable(added))
        self.total += come.total() - gone.total()
        self._counts.update(come)
        self._counts.subtract(gone)
        repeated = set(self.repeated)
        for todo_id in gone.keys() | come.keys():
            count = self._counts[todo_id]
            if not count:
                del self._counts[todo_id]
            (repeated.add if count > 1 else repeated.discard)(todo_id)
        self.repeated = frozenset(repeated)
