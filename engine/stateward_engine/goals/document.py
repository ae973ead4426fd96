"""One goal document, read whole: from text to projection, problems, todos, regions and headings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from stateward_engine.errors import UnsafeDocument
from stateward_engine.goals.findings import find_problems
from stateward_engine.goals.frontmatter import read_frontmatter
from stateward_engine.goals.lines import decode_document, split_lines
from stateward_engine.goals.parts import Parts
from stateward_engine.goals.problems import problem
from stateward_engine.goals.projection import project
from stateward_engine.goals.regions import Fault, Region, find_regions
from stateward_engine.goals.sections import Heading, NextAction, find_headings, read_next_action, read_objective
from stateward_engine.goals.todo_codec import read_lines
from stateward_engine.goals.todos import Todo, read_todos
from stateward_engine.goals.visible import HiddenBlock, find_hidden

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.goals.lines import Lines
    from stateward_engine.goals.problems import Problem
    from stateward_engine.json_value import Json

UNTERMINATED_FRONTMATTER: Final = Fault(
    "unterminated_frontmatter",
    0,
    "the frontmatter that opens here never closes; put a line of three dashes below its last key",
)


@dataclass(frozen=True, slots=True)
class GoalDocument:
    """What one text says. All offsets are code points of its text; indices of lines count from 0.

    Attributes:
        lines: The text that was read, and its lines.
        frontmatter: Keys and values in front.
        objective: The text of the Objective section, or `None`.
        next_action: Heading and entries of the Next Action section.
        headings: All visible headings.
        hidden: The blocks that supply nothing.
        regions: The regions that readers and editors use.
        todos: The rows of all regions in document order, archived ones included. Of a refused document these are the
            rows that can still be recognized: good for looking at, never for acting on.
        refusal: Why the document is unsafe, or `None`.
        projection: The projection object; `None` for a refused document.
        problems: All findings, in document order.
    """

    lines: Lines
    frontmatter: Mapping[str, str]
    objective: str | None
    next_action: NextAction
    headings: tuple[Heading, ...]
    hidden: tuple[HiddenBlock, ...]
    regions: tuple[Region, ...]
    todos: tuple[Todo, ...]
    refusal: UnsafeDocument | None
    projection: dict[str, Json] | None
    problems: tuple[Problem, ...]

    @property
    def hidden_lines(self) -> tuple[int, ...]:
        """Numbers (from 1) of the lines that supply nothing."""
        return tuple(number for block in self.hidden for number in range(block.first + 1, block.end + 1))


def read_document(text: str) -> GoalDocument:
    """Read a goal document. It depends on the text alone, and no text makes it fail.

    A document that cannot be read without guessing has a `refusal` and no `projection`, and its problems all the same.

    Args:
        text: The document, as `decode_document` gives it or as an editor holds it.

    Source: goal-documents sections 1 and 2.
    """
    lines = split_lines(text)
    frontmatter = read_frontmatter(lines)
    hidden = find_hidden(lines, frontmatter)
    readings = read_lines(lines, hidden)
    headings = find_headings(lines, readings)
    next_action = read_next_action(lines, readings, headings)
    regions, region_faults = find_regions(lines, readings, headings)
    todos = read_todos(lines, readings, regions)
    faults = region_faults if frontmatter.closed else (UNTERMINATED_FRONTMATTER, *region_faults)
    parts = Parts(lines, readings, frontmatter, hidden, headings, next_action, regions, todos, faults)
    return GoalDocument(
        lines=lines,
        frontmatter=frontmatter.values,
        objective=read_objective(lines, readings, headings),
        next_action=next_action,
        headings=headings,
        hidden=hidden,
        regions=regions,
        todos=todos,
        refusal=refusal_at(lines, faults[0]) if faults else None,
        projection=None if faults else project(frontmatter.values, next_action, todos),
        problems=find_problems(parts),
    )


def read_bytes(data: bytes) -> GoalDocument:
    """Read a goal document as it is in a file.

    One that is no UTF-8 is refused with the problem `not_utf8` alone. Its text then has U+FFFD for what has no
    character: good for looking at, never for acting on.

    Source: goal-documents section 0.
    """
    try:
        return read_document(decode_document(data))
    except UnsafeDocument as refusal:
        at = len(data[: refusal.byte_offset].decode("utf-8"))
        found = problem(refusal.kind, str(refusal), (at, at + 1))
        looked_at = read_document(data.decode("utf-8", "replace"))
        return replace(looked_at, refusal=refusal, projection=None, problems=(found,))


def refusal_at(lines: Lines, fault: Fault) -> UnsafeDocument:
    """Return the refusal of a document for one fault, with the line and its first byte."""
    # A buffer can hold half a character; it counts as the three bytes that it would take.
    before = lines.text[: lines.starts[fault.at]].encode("utf-8", "surrogatepass")
    return UnsafeDocument(fault.message, kind=fault.kind, line=fault.at + 1, byte_offset=len(before))
