"""Id counts: on how many rows of a document each id stands, kept by difference from one reading to the next."""

from __future__ import annotations

from collections import Counter
from itertools import chain, compress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class IdCounts:
    """Counts of ids.

    Attributes:
        repeated: The ids that several rows have.
        stamp: Another number after each change.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self.repeated: frozenset[str] = frozenset()
        self.stamp = 0

    def __contains__(self, todo_id: object) -> bool:
        return todo_id in self._counts

    def has_all(self, ids: frozenset[str]) -> bool:
        """Whether each of some ids stands on a row."""
        return self._counts.keys() >= ids

    def is_single(self, todo_id: str) -> bool:
        """Whether one row alone has an id."""
        return self._counts.get(todo_id) == 1

    def change(self, removed: Iterable[Sequence[str]], added: Iterable[Sequence[str]]) -> None:
        """Take the ids of rows that went and of rows that came."""
        # Rows that only moved keep their ids, and share what has them.
        went, came = ({id(ids): ids for ids in several} for several in (removed, added))
        gone = list(chain.from_iterable(ids for name, ids in went.items() if name not in came))
        come = list(chain.from_iterable(ids for name, ids in came.items() if name not in went))
        if gone == come:
            return
        self.stamp += 1
        counts = self._counts
        counts.subtract(gone)
        counts.update(come)
        for todo_id in gone:
            if not counts[todo_id]:
                del counts[todo_id]
        candidates = [*self.repeated, *come]
        self.repeated = frozenset(compress(candidates, map((1).__lt__, map(counts.__getitem__, candidates))))
