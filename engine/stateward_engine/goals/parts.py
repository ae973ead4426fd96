"""The parts of a document that problems are found in, as the readers of each gave them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stateward_engine.goals.frontmatter import Frontmatter
    from stateward_engine.goals.layout import Layout
    from stateward_engine.goals.placed_rows import PlacedRows
    from stateward_engine.goals.regions import Fault, Region
    from stateward_engine.goals.sections import NextAction
    from stateward_engine.goals.tables import Tables


@dataclass(frozen=True)
class Parts:
    """What was read of one text; see `GoalDocument`.

    Attributes:
        layout: Where its passages and lines stand.
        frontmatter: Keys and values in front, and whether they end.
        next_action: Heading and entries of the Next Action section.
        faults: The reasons to refuse the document.
        tables: What the rows of all regions say together, archived ones included.
    """

    layout: Layout
    frontmatter: Frontmatter
    next_action: NextAction
    faults: Sequence[Fault]
    tables: Tables

    @property
    def regions(self) -> list[Region]:
        """The regions that readers and editors use."""
        return [section.region for section in self.tables.sections]

    @cached_property
    def closed(self) -> bool:
        """Whether what opens in it also ends, so that text at its end is seen."""
        hidden = self.layout.passages[-1].hidden if self.layout.passages else ()
        return self.frontmatter.closed and all(block.closed for block in hidden)

    def placed(self, wanted: str) -> Iterator[tuple[PlacedRows, int, Region]]:
        """Yield rows, the offset of their passage and their region, as far as they have what a flag of them says."""
        flag = attrgetter(wanted)
        for section in self.tables.sections:
            for index, rows in compress(enumerate(section.rows, section.first), map(flag, section.rows)):
                yield rows, self.layout.offsets[index], section.region
