"""What the renderer owns of a document: its regions by the strict scan. All else is narrative, and stays as it is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from stateward_engine.goals.conflicts import find_conflicts
from stateward_engine.goals.document import UNTERMINATED_FRONTMATTER, refusal_at
from stateward_engine.goals.lines import split_lines
from stateward_engine.goals.placed_rows import place_rows
from stateward_engine.goals.regions import FOREIGN_CONTENT, Fault, Region, RegionScan, scan_by_headings, scan_strictly
from stateward_engine.goals.rereading import read_text
from stateward_engine.goals.todo_codec import INDENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stateward_engine.goals.layout import Layout
    from stateward_engine.goals.lines import Lines
    from stateward_engine.goals.todos import Todo


@dataclass(frozen=True)
class Owned:
    """A document that can be rendered onto.

    Attributes:
        lines: Its text, in lines.
        layout: Its passages.
        scan: Which of these are in its regions.
    """

    lines: Lines
    layout: Layout
    scan: RegionScan

    @property
    def regions(self) -> tuple[Region, ...]:
        """In document order; at most one of a role, where it can be rendered onto."""
        return self.scan.regions

    @cached_property
    def todos(self) -> tuple[Todo, ...]:
        """The rows in the regions."""
        return _rows(self.layout, self.scan)

    def narrative(self) -> list[str]:
        """Return the text before, between and after the regions."""
        text, edges = self.lines.text, [0]
        for region in self.regions:
            edges += (self.lines.start(region.first), self.lines.start(region.end))
        edges.append(len(text))
        return [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]


@dataclass(frozen=True)
class Survey:
    """What the strict scan finds in a text, whether it can be rendered onto or not.

    What only some look at is found when one does.

    Attributes:
        owned: Its regions and their rows.
        damage: What is wrong with the frontmatter or the regions themselves.
    """

    owned: Owned
    damage: tuple[Fault, ...]

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """Why nothing can be rendered onto it, what counts most first."""
        owned, damage = self.owned, self.damage
        lines = owned.lines
        faults = chain(
            damage,
            _conflicts(owned.layout),
            _nested(lines, owned.todos),
            _unplaceable(owned.regions),
            _duplicates(lines, owned.todos),
        )
        return tuple(faults)

    @cached_property
    def by_headings(self) -> tuple[Todo, ...]:
        """The rows that the scan by headings alone finds."""
        layout = self.owned.layout
        return _rows(layout, scan_by_headings(layout))

    def demand_renderable(self) -> Owned:
        """Return what the renderer owns of the text.

        Raises:
            UnsafeDocument: A replacement would be guessing: the document is damaged, an unresolved merge, without a
                region, or holds rows that records cannot show.

        Source: goal-documents 4.3.
        """
        for fault in self.faults:
            raise refusal_at(self.owned.lines, fault)
        return self.owned

    def demand_regions(self) -> Owned:
        """Return what the renderer would own, also where the marked regions hold what does not belong there.

        Raises:
            UnsafeDocument: The document is damaged in any other way, so that nobody knows which lines are in a region.
        """
        for fault in self.damage:
            if fault.kind != FOREIGN_CONTENT:
                raise refusal_at(self.owned.lines, fault)
        return self.owned


def survey(text: str) -> Survey:
    """Return what the strict scan finds in a text, with every reason why a replacement would be guessing.

    Source: goal-documents 4.3.
    """
    read = read_text(text)
    scan = scan_strictly(read.layout)
    damage = scan.faults if read.frontmatter.closed else (UNTERMINATED_FRONTMATTER, *scan.faults)
    return Survey(Owned(split_lines(text), read.layout, scan), damage)


def read_owned(text: str) -> Owned:
    """Return what the renderer owns of a text.

    Raises:
        UnsafeDocument: As for `Survey.demand_renderable`.
    """
    return survey(text).demand_renderable()


def _rows(layout: Layout, scan: RegionScan) -> tuple[Todo, ...]:
    return tuple(todo for section in place_rows(layout, scan).sections for todo in section.todos(layout))


def _conflicts(layout: Layout) -> Iterator[Fault]:
    for conflict in find_conflicts(layout):
        message = "an unresolved merge stands here; choose one side, and remove the markers of Git"
        yield Fault("conflict_marker", conflict.markers[0], message)


def _nested(lines: Lines, todos: Sequence[Todo]) -> Iterator[Fault]:
    for todo in todos:
        if lines.text.startswith(INDENT, todo.span[0]) and not todo.region.marked:
            message = "this row stands below another one, which a record cannot say; move it to the margin"
            yield Fault("nested_todo", lines.index_at(todo.span[0]), message)


def _unplaceable(regions: Sequence[Region]) -> Iterator[Fault]:
    if not regions:
        message = "no todo section is visible, so nobody knows where to render; add `## User Todo` or `## Agent Todo`"
        yield Fault("no_todo_region", 0, message)
    counts: Counter[str] = Counter()
    for region in regions:
        counts[region.role] += 1
        if counts[region.role] > 1:
            message = f"this is another section of role {region.role}; move its rows into the first one"
            yield Fault("several_regions_of_one_role", region.first, message)


def _duplicates(lines: Lines, todos: Sequence[Todo]) -> Iterator[Fault]:
    counts: Counter[str] = Counter()
    for todo in todos:
        counts[todo.todo_id] += 1
        if counts[todo.todo_id] > 1:
            message = f"{todo.todo_id} stands on another row, too; give each row an id of its own"
            yield Fault("duplicate_todo_ids", lines.index_at(todo.span[0]), message)
