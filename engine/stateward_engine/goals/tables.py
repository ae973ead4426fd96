"""Tables over all rows of a document, which an edit changes where it changes rows, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.goals.id_counts import IdCounts
from stateward_engine.goals.placed_rows import PlacedRows, Section, place_rows
from stateward_engine.goals.reference_problems import Waits, find_waits

if TYPE_CHECKING:
    from stateward_engine.goals.layout import Layout
    from stateward_engine.goals.regions import RegionScan


class Tables:
    """What the rows of a document say together.

    Attributes:
        sections: The rows of each region in their places.
        placed: The rows of all regions.
        repeated: The ids that several rows have.
        waits: Who waits for whom.
    """

    def __init__(self, layout: Layout, scan: RegionScan, before: Tables | None = None) -> None:
        """Look at the rows of a document.

        Args:
            layout: The document.
            scan: Its regions.
            before: The tables of a document that has passages in common with it.
        """
        # One edit can take the counts, whatever threads do; a second edit of the same document counts again.
        ids = before.take_ids() if before else None
        known = before if ids else None
        ids = ids or IdCounts()
        self.sections: list[Section]
        self.sections, gone, come = place_rows(layout, scan, known.sections if known else ())
        self.placed: list[PlacedRows] = [rows for section in self.sections for rows in section.rows]
        ids.change([rows.ids for rows in gone], [rows.ids for rows in come])
        self.repeated = ids.repeated
        self.waits: Waits = find_waits(self.placed, ids, known.waits if known else None)
        self._ids = [ids]

    @property
    def ids(self) -> IdCounts:
        """How often each id stands in the document, until an edit takes the counts."""
        return self._ids[0]

    def take_ids(self) -> IdCounts | None:
        """Return the counts for the document of an edit, `None` when another one has them."""
        try:
            return self._ids.pop()
        except IndexError:
            return None
