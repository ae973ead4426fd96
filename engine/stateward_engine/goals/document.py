"""One goal document: from text to projection, problems, todos, regions and headings, whole or edit by edit."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.errors import UnsafeDocument
from stateward_engine.goals.findings import find_problems
from stateward_engine.goals.id_counts import IdCounts
from stateward_engine.goals.lines import decode_document, split_lines
from stateward_engine.goals.parts import Parts
from stateward_engine.goals.placed_rows import Place, PlacedRows
from stateward_engine.goals.problems import problem
from stateward_engine.goals.projection import project
from stateward_engine.goals.reference_problems import rings
from stateward_engine.goals.regions import Fault, Region, find_regions
from stateward_engine.goals.rereading import Read, read_again, read_text
from stateward_engine.goals.sections import find_headings, read_next_action, read_objective
from stateward_engine.goals.todo_codec import LineKind, Reading, read_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from stateward_engine.goals.layout import Layout
    from stateward_engine.goals.lines import Lines
    from stateward_engine.goals.problems import Problem
    from stateward_engine.goals.regions import RegionScan, Role
    from stateward_engine.goals.todos import Todo
    from stateward_engine.goals.visible import HiddenBlock
    from stateward_engine.json_value import Json

UNTERMINATED_FRONTMATTER: Final = Fault(
    "unterminated_frontmatter",
    0,
    "the frontmatter that opens here never closes; put a line of three dashes below its last key",
)


class GoalDocument:
    """What one text says. All offsets are code points of its text; indices of lines count from 0.

    Nothing of it changes. What only some readers ask for is found when one asks.

    Attributes:
        layout: Where its passages and lines stand.
        frontmatter: Keys and values in front.
        headings: All visible headings.
        next_action: Heading and entries of the Next Action section.
        regions: The regions that readers and editors use.
        problems: All findings, in document order.
    """

    def __init__(self, read: Read, known: Sequence[StandingRows] = (), counts: IdCounts | None = None) -> None:
        """Find what a text says.

        Args:
            read: The text.
            known: The rows of a document that has passages in common with this one.
            counts: How often the ids of that document stand in it; from now on they are of this one.
        """
        self._read = read
        self.layout = layout = read.layout
        self.frontmatter: Mapping[str, str] = read.frontmatter.values
        self.headings = find_headings(layout)
        self.next_action = read_next_action(layout, self.headings)
        scan = find_regions(layout.passages, layout.starts)
        self.regions = scan.regions
        self._faults = scan.faults if read.frontmatter.closed else (UNTERMINATED_FRONTMATTER, *scan.faults)
        self._standing = place_rows(layout, scan, known)
        # In a list, from which one edit can take it, whatever threads do.
        self._counts = [counts or IdCounts()]
        was, now = ({standing.rows for standing in rows} for rows in (known if counts else (), self._standing))
        self._counts[0].change([rows.ids for rows in was - now], [rows.ids for rows in now - was])
        self._repeated = self._counts[0].repeated
        self.problems = self._find_problems()

    # -- what it says ------------------------------------------------------------------------------------------------

    @cached_property
    def text(self) -> str:
        """All of its characters."""
        return self.layout.text(0, len(self.layout.passages))

    @cached_property
    def lines(self) -> Lines:
        """All of its lines."""
        return split_lines(self.text)

    @cached_property
    def objective(self) -> str | None:
        """The text of the Objective section, or `None`."""
        return read_objective(self.layout, self.headings)

    @cached_property
    def hidden(self) -> tuple[HiddenBlock, ...]:
        """The blocks that supply nothing."""
        return hidden_blocks(self.layout)

    @property
    def hidden_lines(self) -> tuple[int, ...]:
        """Numbers (from 1) of the lines that supply nothing."""
        return tuple(number for block in self.hidden for number in range(block.first + 1, block.end + 1))

    @cached_property
    def todos(self) -> tuple[Todo, ...]:
        """The rows of all regions in document order, archived ones included.

        Of a refused document these are the rows that can still be recognized: good for looking at, never for acting on.
        """
        return tuple(todo for standing in self._standing for todo in standing.todos())

    @cached_property
    def refusal(self) -> UnsafeDocument | None:
        """Why the document is unsafe, or `None`."""
        return refusal_at(self.lines, self._faults[0]) if self._faults else None

    @cached_property
    def projection(self) -> dict[str, Json] | None:
        """The projection object; `None` for a refused document."""
        if self._faults:
            return None
        return project(
            self.frontmatter, self.next_action, [standing.rows for standing in self._standing], self._repeated
        )

    # -- what becomes of it ------------------------------------------------------------------------------------------

    def edit(self, start: int, end: int, text: str) -> GoalDocument:
        """Return what becomes of it when `text` replaces its characters from `start` up to `end`.

        It equals what `read_document` gives for the whole text, and takes about as long as the edit is large.
        Source: goal-documents section 6.
        """
        read = read_again(self._read, start, end, text)
        # The second edit of the same document has to count again.
        try:
            counts = self._counts.pop()
        except IndexError:
            counts = None
        return GoalDocument(read, self._standing, counts)

    def become(self, text: str) -> GoalDocument:
        """Return the document of another text, which has most of its passages in common with this one."""
        return self.edit(*self.layout.difference(text))

    # -- inside ------------------------------------------------------------------------------------------------------

    def _is_quiet(self) -> bool:
        """Whether there can be no problem, which is known from what each passage keeps of itself."""
        active = [rows for rows, _, region in self._standing if region.role != "archive"]
        roles = [region.role for region in self.regions]
        return (
            not self._faults
            and bool(self.frontmatter and self.next_action.entries and active)
            and all(passage.quiet for passage in self.layout.passages)
            and len(roles) == len(set(roles))
            and not any(rows.implicit for rows in active)
            and not self._repeated
            # No row stands outside of every region.
            and self._counts[0].total == sum(len(passage.rows) for passage in self.layout.passages)
            and self._references_are_sound()
        )

    def _references_are_sound(self) -> bool:
        waits: dict[str, list[str]] = {}
        for rows, _, _ in self._standing:
            if not all(target in self._counts[0] for target in rows.targets):
                return False
            for name, target in rows.waits:
                waits.setdefault(name, []).append(target)
        return not any(rings(waits))

    def _find_problems(self) -> tuple[Problem, ...]:
        if self._is_quiet():
            return ()
        parts = Parts(
            self.lines,
            read_lines(self.lines, self.hidden),
            self._read.frontmatter,
            self.hidden,
            self.headings,
            self.next_action,
            self.regions,
            self.todos,
            self._faults,
        )
        return find_problems(parts)


class StandingRows(NamedTuple):
    """Rows that stand in a document, with the offset of their passage and their region."""

    rows: PlacedRows
    offset: int
    region: Region

    def todos(self) -> Iterator[Todo]:
        """Yield the rows with all that is known of them."""
        for index in range(len(self.rows.ids)):
            yield self.rows.todo(index, self.offset, self.region)


def read_document(text: str) -> GoalDocument:
    """Read a goal document. It depends on the text alone, and no text makes it fail.

    A document that cannot be read without guessing has a `refusal` and no `projection`, and its problems all the same.

    Args:
        text: The document, as `decode_document` gives it or as an editor holds it.

    Source: goal-documents sections 1 and 2.
    """
    return GoalDocument(read_text(text))


def read_bytes(data: bytes, before: GoalDocument | None = None) -> GoalDocument:
    """Read a goal document as it is in a file.

    One that is no UTF-8 is refused with the problem `not_utf8` alone. Its text then has U+FFFD for what has no
    character: good for looking at, never for acting on.

    Args:
        data: The file.
        before: What the file was before, if that is known; then only what is new is read.

    Source: goal-documents section 0.
    """
    try:
        text = decode_document(data)
    except UnsafeDocument as refusal:
        at = len(data[: refusal.byte_offset].decode("utf-8"))
        found = problem(refusal.kind, str(refusal), (at, at + 1))
        document = read_document(data.decode("utf-8", "replace"))
        document.refusal, document.projection, document.problems = refusal, None, (found,)
        return document
    return before.become(text) if before else read_document(text)


def refusal_at(lines: Lines, fault: Fault) -> UnsafeDocument:
    """Return the refusal of a document for one fault, with the line and its first byte."""
    # A buffer can hold half a character; it counts as the three bytes that it would take. A text can have no line.
    before = lines.text[: lines.start(fault.at)].encode("utf-8", "surrogatepass")
    return UnsafeDocument(fault.message, kind=fault.kind, line=fault.at + 1, byte_offset=len(before))


def hidden_blocks(layout: Layout) -> tuple[HiddenBlock, ...]:
    """Return the blocks that supply nothing, by their lines."""
    return tuple(
        block._replace(first=start + block.first, end=start + block.end)
        for passage, start in zip(layout.passages, layout.starts, strict=False)
        for block in passage.hidden
    )


def read_lines(lines: Lines, hidden: Sequence[HiddenBlock]) -> list[Reading]:
    """Return what each line is."""
    readings: list[Reading] = [LineKind.HIDDEN] * len(lines)
    for line in set(range(len(lines))).difference(*(range(block.first, block.end) for block in hidden)):
        readings[line] = read_line(lines.texts[line])
    return readings


def place_rows(layout: Layout, scan: RegionScan, before: Iterable[StandingRows] = ()) -> list[StandingRows]:
    """Return the rows of all regions in their places; those of passages that kept theirs are taken from `before`."""
    known = {standing.rows.passage: standing.rows for standing in before}
    sections: dict[Role, str] = {}
    counts: Counter[Role] = Counter()
    placed = []
    for region, extent in zip(scan.regions, scan.extents, strict=True):
        section = sections.setdefault(region.role, region.heading)
        for index in range(extent.body, extent.end):
            passage = layout.passages[index]
            if extent.cut is not None and index == extent.end - 1:
                passage = passage.head(extent.cut)
            if passage.rows:
                place = Place(region.role, section, counts[region.role] + 1)
                rows = known.get(passage)
                if rows is None or rows.place != place:
                    rows = PlacedRows(passage, place)
                placed.append(StandingRows(rows, layout.offsets[index], region))
                counts[region.role] += len(passage.rows)
    return placed
