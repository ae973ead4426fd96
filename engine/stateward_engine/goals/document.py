"""One goal document: from text to projection, problems, todos, regions and headings, whole or edit by edit."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Final

from stateward_engine.errors import UnsafeDocument
from stateward_engine.goals.findings import find_problems
from stateward_engine.goals.lines import decode_document, split_lines
from stateward_engine.goals.parts import Parts
from stateward_engine.goals.problems import problem
from stateward_engine.goals.projection import diagnose, project
from stateward_engine.goals.regions import Fault, find_regions
from stateward_engine.goals.rereading import Read, read_again, read_text
from stateward_engine.goals.sections import find_headings, read_next_action, read_objective
from stateward_engine.goals.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from stateward_engine.goals.lines import Lines, Span
    from stateward_engine.goals.passages import Passage
    from stateward_engine.goals.placed_rows import PlacedRows
    from stateward_engine.goals.regions import Region
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

    def __init__(self, read: Read, before: Tables | None = None) -> None:
        """Find what a text says.

        Args:
            read: The text.
            before: The tables of a document that has passages in common with it.
        """
        self._read = read
        self.layout = layout = read.layout
        self.frontmatter: Mapping[str, str] = read.frontmatter.values
        self.headings = find_headings(layout)
        self.next_action = read_next_action(layout, self.headings)
        scan = find_regions(layout)
        self.regions = scan.regions
        self._faults = scan.faults if read.frontmatter.closed else (UNTERMINATED_FRONTMATTER, *scan.faults)
        self._tables = Tables(layout, scan, before)
        self.problems = find_problems(Parts(layout, read.frontmatter, self.next_action, self._faults, self._tables))

    # -- what it says ------------------------------------------------------------------------------------------------

    @cached_property
    def text(self) -> str:
        """All of its characters."""
        return self.layout.text(0, len(self.layout.passages))

    @cached_property
    def lines(self) -> Lines:
        """All of its lines."""
        return split_lines(self.text)

    @property
    def has_reference_sign(self) -> bool:
        """Whether a reference into the state can stand in it, be it in hidden text."""
        return any(passage.has_reference_sign for passage in self.layout.passages)

    @cached_property
    def objective(self) -> str | None:
        """The text of the Objective section, or `None`."""
        return read_objective(self.layout, self.headings)

    @cached_property
    def hidden(self) -> tuple[HiddenBlock, ...]:
        """The blocks that supply nothing."""
        return tuple(
            block._replace(first=start + block.first, end=start + block.end)
            for start, passage in self.layout.mixed_passages()
            for block in passage.hidden
        )

    @property
    def hidden_lines(self) -> tuple[int, ...]:
        """Numbers (from 1) of the lines that supply nothing."""
        return tuple(number for block in self.hidden for number in range(block.first + 1, block.end + 1))

    @cached_property
    def todos(self) -> tuple[Todo, ...]:
        """The rows of all regions in document order, archived ones included.

        Of a refused document these are the rows that can still be recognized: good for looking at, never for acting on.
        """
        return tuple(todo for section in self._tables.sections for todo in section.todos(self.layout))

    def todos_in(self, span: Span) -> list[Todo]:
        """Return the rows that a span touches, its ends included, without a look at all others."""
        return [todo for section in self._tables.sections for todo in section.todos_in(span, self.layout)]

    def todos_named(self, todo_id: str) -> list[Todo]:
        """Return the rows with an id, written or generated; more than one is a problem of the document."""
        return [todo for section in self._tables.sections for todo in section.todos_named(todo_id, self.layout)]

    @property
    def todo_ids(self) -> Iterator[str]:
        """The ids of the rows of all regions, written or generated."""
        return (todo_id for section in self._tables.sections for rows in section.rows for todo_id in rows.ids)

    def used_values(self, *keys: str) -> Counter[str]:
        """Return the values that metadata gives to some keys, as they are written, with how often it does.

        Examples in code count too; what is no value of its key is for the caller to leave out.
        """
        used: Counter[str] = Counter()
        for passage in self.layout.passages:
            for key in keys:
                used.update(passage.used_values.get(key, {}))
        return used

    def todos_where(self, wanted: Callable[[str, str], object]) -> Iterator[Todo]:
        """Yield the rows whose id and text a test takes, without what else there is to know of all others."""
        return (todo for section in self._tables.sections for todo in section.todos_where(wanted, self.layout))

    def placed(self) -> Iterator[tuple[Region, int, PlacedRows]]:
        """Yield the rows of all regions by passage, with the region and the index of the first line of the passage."""
        for section in self._tables.sections:
            for rows, start in zip(section.rows, self.layout.starts[section.first :], strict=False):
                yield section.region, start, rows

    def stretches(self) -> list[tuple[Passage, int]]:
        """Return its passages, each with how many of its first lines a todo section holds: only there a row is one."""
        held = {
            index: rows.passage.line_count
            for section in self._tables.sections
            for index, rows in enumerate(section.rows, section.first)
        }
        return [(passage, held.get(index, 0)) for index, passage in enumerate(self.layout.passages)]

    @cached_property
    def refusal(self) -> UnsafeDocument | None:
        """Why the document is unsafe, or `None`."""
        return refusal_at(self.lines, self._faults[0]) if self._faults else None

    @cached_property
    def diagnostics(self) -> dict[str, Json] | None:
        """The diagnostics of the projection, which take less than all of it; `None` for a refused document."""
        if self._faults:
            return None
        return diagnose(self.frontmatter, self.next_action, self._tables.sections, self._tables.repeated)

    @cached_property
    def projection(self) -> dict[str, Json] | None:
        """The projection object; `None` for a refused document."""
        if self.diagnostics is None:
            return None
        return project(self.frontmatter, self.next_action, self._tables.sections, self.diagnostics)

    # -- what becomes of it ------------------------------------------------------------------------------------------

    def edit(self, start: int, end: int, text: str) -> GoalDocument:
        """Return what becomes of it when `text` replaces its characters from `start` up to `end`.

        It equals what `read_document` gives for the whole text, and takes about as long as the edit is large.
        Source: goal-documents section 6.
        """
        return GoalDocument(read_again(self._read, start, end, text), self._tables)

    def become(self, text: str) -> GoalDocument:
        """Return the document of another text, which has most of its passages in common with this one."""
        return self.edit(*self.layout.difference(text))


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
        document.refusal, document.problems = refusal, (found,)
        document.projection = document.diagnostics = None
        return document
    return before.become(text) if before else read_document(text)


def refusal_at(lines: Lines, fault: Fault) -> UnsafeDocument:
    """Return the refusal of a document for one fault, with the line and its first byte."""
    # A buffer can hold half a character; it counts as the three bytes that it would take. A text can have no line.
    before = lines.text[: lines.start(fault.at)].encode("utf-8", "surrogatepass")
    return UnsafeDocument(fault.message, kind=fault.kind, line=fault.at + 1, byte_offset=len(before))
