"""The parts of a document that problems are found in, as the readers of each gave them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stateward_engine.goals.frontmatter import Frontmatter
    from stateward_engine.goals.lines import Lines
    from stateward_engine.goals.regions import Fault, Region
    from stateward_engine.goals.sections import Heading, NextAction
    from stateward_engine.goals.todo_codec import Reading
    from stateward_engine.goals.todos import Todo
    from stateward_engine.goals.visible import HiddenBlock


class Parts(NamedTuple):
    """What was read of one text; see `GoalDocument`.

    Attributes:
        lines: The text and its lines.
        readings: What each line is.
        frontmatter: Keys and values in front, and whether they end.
        hidden: The blocks that supply nothing.
        headings: All visible headings.
        next_action: Heading and entries of the Next Action section.
        regions: The regions that readers and editors use.
        todos: The rows of all regions, archived ones included.
        faults: The reasons to refuse the document.
    """

    lines: Lines
    readings: Sequence[Reading]
    frontmatter: Frontmatter
    hidden: Sequence[HiddenBlock]
    headings: Sequence[Heading]
    next_action: NextAction
    regions: Sequence[Region]
    todos: Sequence[Todo]
    faults: Sequence[Fault]

    @property
    def newline(self) -> str:
        """What ends the first line; what is added to the document ends alike."""
        return next(iter(self.lines.terminators), "") or "\n"

    def row_text(self, todo: Todo) -> str:
        """Return the lines of a row with what ends them."""
        start, end = todo.extent
        return self.lines.text[start : self.lines.start(self.lines.index_at(end) + 1)]

    def line_end(self, index: int) -> int:
        """Return the offset behind the text of a line, in front of its terminator."""
        return self.lines.span(index)[1]
