"""Placed rows: the rows of a passage in their place, which is all that reading again leaves as it is elsewhere."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import takewhile
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.goals.id_problems import implicit_id
from stateward_engine.goals.items import read_items
from stateward_engine.goals.problems import moved
from stateward_engine.goals.row_problems import row_problems
from stateward_engine.goals.todos import (
    Reference,
    Todo,
    Wait,
    generated_id,
    references_in,
    status_of,
    task_class_of,
    text_of,
    waiting,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from stateward_engine.goals.layout import Layout
    from stateward_engine.goals.lines import Span
    from stateward_engine.goals.passages import Passage
    from stateward_engine.goals.problems import Problem
    from stateward_engine.goals.regions import Region, RegionScan, Role
    from stateward_engine.goals.todo_codec import Row
    from stateward_engine.json_value import Json

_PASSAGE: Final[Callable[[PlacedRows], Passage]] = attrgetter("passage")


class Place(NamedTuple):
    """What the rows of a passage get from where they stand.

    Attributes:
        region_role: Whose rows their region has.
        section: Heading of the first region of that role.
        first: Position of the first row among all rows of that role, from 1.
    """

    region_role: Role
    section: str
    first: int


class PlacedRows:
    """The rows of one passage in one place. An edit elsewhere that moves none of them leaves all of this as it is.

    Attributes:
        passage: The passage.
        place: The place.
        ids: The id of each row.
        refers: Whether a row may name others.
        is_loud: Whether a row may have a problem by itself.
        implicit_count: How many ids are generated.
        own_problems: What its rows say by themselves that is wrong, by what ends new lines, as far as it was asked for.
    """

    def __init__(self, passage: Passage, place: Place, before: PlacedRows | None = None) -> None:
        """Put the rows of a passage in their place; `before` are the same rows in another one."""
        self.passage, self.place = passage, place
        self.ids = passage.ids
        self.refers, self.implicit_count = passage.refers, len(passage.implicit)
        self.is_loud = bool(passage.odd or passage.implicit)
        if passage.implicit:
            self.ids = list(passage.ids)
            for index, row in passage.implicit:
                self.ids[index] = generated_id(self._role(row), place.section, place.first + index, text_of(row))
        self.own_problems: dict[str, list[Problem]] = before.own_problems if before else {}
        self._problems: tuple[tuple[int, str], list[Problem]] | None = None

    @cached_property
    def items(self) -> list[dict[str, Json]]:
        """The rows as the projection shows them; of active rows alone."""
        return list(read_items(self.passage.rows, self.ids, *self.place))

    @cached_property
    def references(self) -> list[Reference]:
        """The rows that these rows name."""
        rows = enumerate(self.passage.rows)
        return [Reference(index, key, target) for index, row in rows for key, target in references_in(row.fields)]

    @cached_property
    def targets(self) -> frozenset[str]:
        """The ids that these rows name."""
        return frozenset(reference.target for reference in self.references)

    @cached_property
    def waits(self) -> list[Wait]:
        """Who waits for whom, as these rows say; what is done waits no longer."""
        pairs = (
            (waiting(self.ids[reference.place], reference.key, reference.target), reference)
            for reference in self.references
            if status_of(self.passage.rows[reference.place]) != "done"
        )
        return [Wait(*pair, reference) for pair, reference in pairs if pair]

    def problems(self, offset: int, newline: str) -> list[Problem]:
        """Return what is wrong with each row by itself.

        Args:
            offset: Where the passage begins in its document.
            newline: What ends a new line behind the last one of the document, which may not end.
        """
        if self._problems is None or self._problems[0] != (offset, newline):
            self._problems = ((offset, newline), [moved(found, offset) for found in self._find_problems(newline)])
        return self._problems[1]

    def _find_problems(self, newline: str) -> Iterator[Problem]:
        passage = self.passage
        if newline not in self.own_problems:
            self.own_problems[newline] = [
                found
                for row in passage.odd
                for found in row_problems(passage.row_text(row), passage.lines.starts[row.first], newline)
            ]
        yield from self.own_problems[newline]
        if self.place.region_role != "archive":
            for index, row in passage.implicit:
                lines = passage.lines
                start, (_, end) = lines.starts[row.first], lines.span(row.last)
                yield implicit_id(self.ids[index], lines.text[start:end], start, newline, has_fields=bool(row.fields))

    def todo(self, index: int, offset: int, region: Region) -> Todo:
        """Return one row with all that is known of it.

        Args:
            index: Which row.
            offset: Where the passage begins in its document.
            region: The region that it stands in.
        """
        row = self.passage.rows[index]
        lines, text = self.passage.lines, text_of(row)
        start = offset + lines.starts[row.first]
        return Todo(
            todo_id=self.ids[index],
            role=self._role(row),
            region=region,
            source_section=self.place.section,
            ordinal=self.place.first + index,
            status=status_of(row),
            full_text=row.text,
            text=text,
            task_class=task_class_of(row, text),
            fields=row.fields,
            odd=row.odd,
            span=(start, start + len(lines.texts[row.first])),
            extent=(start, offset + lines.span(row.last)[1]),
            id_line=None if row.id_line is None else (offset + lines.starts[row.id_line], lines.texts[row.id_line]),
        )

    def _role(self, row: Row) -> str | None:
        return row.fields.get("role") if self.place.region_role == "archive" else self.place.region_role


class Section(NamedTuple):
    """The rows of one region.

    Attributes:
        region: The region.
        first: Index of the passage that the first rows stand in.
        rows: The rows of that passage, and of each one that follows it.
    """

    region: Region
    first: int
    rows: list[PlacedRows]

    def todos(self, layout: Layout) -> Iterator[Todo]:
        """Yield the rows with all that is known of them."""
        for rows, offset in zip(self.rows, layout.offsets[self.first :], strict=False):
            for index in range(len(rows.ids)):
                yield rows.todo(index, offset, self.region)

    def todos_in(self, span: Span, layout: Layout) -> Iterator[Todo]:
        """Yield the rows that a span touches, its ends included; only the passages that it touches are looked at."""
        first, last = (layout.passage_at(offset) - self.first for offset in span)
        for number in range(max(first, 0), min(last + 1, len(self.rows))):
            rows, offset = self.rows[number], layout.offsets[self.first + number]
            lines = rows.passage.lines
            for index, row in enumerate(rows.passage.rows):
                start, end = offset + lines.starts[row.first], offset + lines.span(row.last)[1]
                if start <= span[1] and span[0] <= end:
                    yield rows.todo(index, offset, self.region)

    def todos_where(self, wanted: Callable[[str, str], object], layout: Layout) -> Iterator[Todo]:
        """Yield the rows whose id and text a test takes."""
        for rows, offset in zip(self.rows, layout.offsets[self.first :], strict=False):
            for index, (name, row) in enumerate(zip(rows.ids, rows.passage.rows, strict=True)):
                if wanted(name, row.text):
                    yield rows.todo(index, offset, self.region)

    def todos_named(self, todo_id: str, layout: Layout) -> Iterator[Todo]:
        """Yield the rows with an id, written or generated."""
        for rows, offset in zip(self.rows, layout.offsets[self.first :], strict=False):
            yield from (rows.todo(index, offset, self.region) for index, name in enumerate(rows.ids) if name == todo_id)

    def last_line(self, layout: Layout) -> int | None:
        """Return the index of the last line of the last row, `None` when there is no row."""
        last = (
            layout.starts[index] + rows.passage.rows[-1].last
            for index, rows in reversed(list(enumerate(self.rows, self.first)))
            if rows.ids
        )
        return next(last, None)


class Replaced(NamedTuple):
    """The rows of all regions in their places.

    Attributes:
        sections: These rows, region by region.
        gone: What stood in the places of a document before it, and does no longer.
        come: What stands in places now, and did not.
    """

    sections: list[Section]
    gone: list[PlacedRows]
    come: list[PlacedRows]


def place_rows(layout: Layout, scan: RegionScan, before: Iterable[Section] = ()) -> Replaced:
    """Return the rows of all regions in their places; those that keep theirs are taken from `before`."""
    known: dict[Role, list[Section]] = {}
    for section in before:
        known.setdefault(section.region.role, []).append(section)
    headings: dict[Role, str] = {}
    counts: Counter[Role] = Counter()
    replaced = Replaced([], [], [])
    for region, extent in zip(scan.regions, scan.extents, strict=True):
        role, heading = region.role, headings.setdefault(region.role, region.heading)
        passages = list(layout.passages[extent.body : extent.end])
        if extent.cut is not None:
            passages[-1] = passages[-1].head(extent.cut)
        # The first section of a role becomes the first one, and so on.
        old = known[role].pop(0).rows if known.get(role) else []
        placed, same, behind = _place(passages, Place(role, heading, counts[role] + 1), old)
        replaced.gone.extend(old[same : len(old) - behind])
        replaced.come.extend(placed[same : len(placed) - behind])
        replaced.sections.append(Section(region, extent.body, placed))
        if placed:
            counts[role] = placed[-1].place.first + len(placed[-1].ids) - 1
    replaced.gone.extend(rows for sections in known.values() for section in sections for rows in section.rows)
    return replaced


def _place(passages: list[Passage], place: Place, old: list[PlacedRows]) -> tuple[list[PlacedRows], int, int]:
    """Return the rows of consecutive passages, of which the first ones have a place.

    With them it says how many of the first ones and how many of the last ones are the old ones.
    """
    least = min(len(passages), len(old))
    same = _alike(old, passages) if old and old[0].place == place else 0
    behind = min(_alike(reversed(old), reversed(passages)), least - same)
    known = {rows.passage: rows for rows in old[same : len(old) - behind]}
    placed = old[:same]
    first = placed[-1].place.first + len(placed[-1].ids) if placed else place.first
    for passage in passages[same : len(passages) - behind]:
        placed.append(PlacedRows(passage, place._replace(first=first), known.get(passage)))
        first += len(passage.ids)
    last = old[len(old) - behind :]
    if last and last[0].place != place._replace(first=first):
        behind = 0
        for rows in last:
            placed.append(PlacedRows(rows.passage, place._replace(first=first), rows))
            first += len(rows.ids)
    else:
        placed += last
    return placed, same, behind


def _alike(rows: Iterable[PlacedRows], passages: Iterable[Passage]) -> int:
    """Return how many of the first rows are those of the first passages."""
    return sum(takewhile(bool, map(is_, map(_PASSAGE, rows), passages)))
