"""The todo codec: task lines, metadata lines and continuations, for readers, editors and the renderer's parity check.

Each line is read on its own first, which needs no context; rows are then put together from what the lines are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from stateward_engine.goals.compact import compact
from stateward_engine.goals.fields import REMOVED_POLICIES, Fields, read_field
from stateward_engine.goals.tokens import is_odd
from stateward_engine.goals.visible import COMMENT_END, COMMENT_START

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from stateward_engine.goals.lines import Lines
    from stateward_engine.goals.visible import HiddenBlock
    from stateward_engine.json_value import Json

INDENT: Final = (" ", "\t")
# After the box one whitespace character and anything more, whitespace included: a row may have an empty text.
TASK: Final = re.compile(r"[-*]\s+\[(?P<marker>[ xX-])\]\s(?=.)\s*(?P<text>.*)", re.DOTALL)
# What its author surely meant as a task: any list marker with a short box, or a task without the gap before its box.
# A link, a footnote or a definition is none.
CHECKBOX_LIKE: Final = re.compile(r"(?:(?:[-*+]|[0-9]+[.)])\s+\[(?!\^)[^\]]{0,2}\]|[-*]\[[ xX-]\])(?![(\[:])")
HEADING: Final = re.compile(r"(?P<marks>#+)\s+(?P<text>.*)", re.DOTALL)
TOKEN: Final = re.compile(r"(?<!\S)(?P<key>[a-z_][a-z0-9_]*)=(?P<value>[^\s<>]+)")
FROM_ANGLE_BRACKET: Final = re.compile(r"[<>]\S*")
METADATA_WORD: Final = "loopx:"
# May stand first; it is no token, and says what the tokens are about.
TODO_WORD: Final = "todo"


class LineKind(Enum):
    """What a line is to a row when it carries nothing of its own."""

    HIDDEN = auto()
    BLANK = auto()
    # A box that is no task: it closes the open row, so that what stands under it never lands on the row above.
    CHECKBOX_LIKE = auto()
    INDENTED = auto()
    PLAIN = auto()


class TaskLine(NamedTuple):
    """The first line of a row: its box and the text behind it."""

    marker: str
    text: str


class MetadataLine(NamedTuple):
    """A comment that holds at least one accepted field; it belongs to a row only if it is indented.

    Attributes:
        fields: What it says.
        indented: Whether it can belong to a row.
        odd: Whether a word of it is no token, is not read, is read differently from how it is written, or is repeated.
    """

    fields: Fields
    indented: bool
    odd: bool


class HeadingLine(NamedTuple):
    """An ATX heading at column 0; trailing `#` belong to its text, which may be empty."""

    level: int
    text: str


Reading: TypeAlias = LineKind | TaskLine | MetadataLine | HeadingLine


class Token(NamedTuple):
    """One `key=value` of a metadata comment, with the offset of its key in the line."""

    key: str
    value: str
    at: int

    @property
    def value_at(self) -> int:
        """Offset of its value in the line."""
        return self.at + len(self.key) + 1

    @property
    def end(self) -> int:
        """Offset behind its value."""
        return self.value_at + len(self.value)


@dataclass(slots=True)
class Row:
    """One todo as it is written, without limits: what the source says, not what is shown.

    Attributes:
        first: Index of its task line, from 0.
        last: Index of the last line that added to it.
        marker: What stands in its box.
        parts: Text of the task line and of each continuation.
        fields: Accepted metadata; of repeated keys the last.
        odd: Whether something in its metadata is odd; see `MetadataLine`.
        id_line: Index of the metadata line that gave the id, or `None`.
    """

    first: int
    last: int
    marker: str
    parts: list[str]
    fields: Fields = field(default_factory=dict)
    odd: bool = False
    id_line: int | None = None

    def text(self) -> str:
        """Return the whole text, compacted."""
        return compact(" ".join(self.parts))

    def take(self, index: int, reading: Reading, text: str) -> None:
        """Add one indented line: fields of a metadata line, or else its text."""
        self.last = index
        if not isinstance(reading, MetadataLine):
            self.parts.append(text)
            return
        self.odd = self.odd or reading.odd or not self.fields.keys().isdisjoint(reading.fields)
        self.fields = {**self.fields, **reading.fields} if self.fields else reading.fields
        if "todo_id" in reading.fields:
            self.id_line = index


def read_lines(lines: Lines, hidden: Iterable[HiddenBlock]) -> list[Reading]:
    """Return what each line of a document is, hidden ones included."""
    readings: list[Reading] = []
    for block in hidden:
        readings += map(read_line, lines.texts[len(readings) : block.first])
        readings += [LineKind.HIDDEN] * (block.end - block.first)
    readings += map(read_line, lines.texts[len(readings) :])
    return readings


def read_line(text: str) -> Reading:
    """Return what one visible line is.

    Source: goal-documents 1.2, 1.4 and 1.5.
    """
    head = text.lstrip()
    if not head:
        return LineKind.BLANK
    # The first character tells most lines; without it every line would pay for every pattern.
    first = head[0]
    if first in "-*+0123456789":
        if task := TASK.fullmatch(head):
            return TaskLine(task["marker"], task["text"].rstrip())
        if CHECKBOX_LIKE.match(head):
            return LineKind.CHECKBOX_LIKE
    elif first == "<":
        fields, odd = read_words(head)
        if fields:
            return MetadataLine(fields, text.startswith(INDENT), odd)
    elif text[0] == "#" and (heading := HEADING.fullmatch(text)):
        return HeadingLine(len(heading["marks"]), heading["text"].rstrip())
    return LineKind.INDENTED if text.startswith(INDENT) else LineKind.PLAIN


def _metadata_body(text: str) -> str | None:
    """Return what a metadata comment says behind `loopx:`, or `None` when the line is anything else."""
    comment = text.strip()
    if not (comment.startswith(COMMENT_START) and comment.endswith(COMMENT_END)):
        return None
    body = comment[len(COMMENT_START) : -len(COMMENT_END)].lstrip()
    return body[len(METADATA_WORD) :] if body.startswith(METADATA_WORD) and COMMENT_END not in body else None


def read_metadata(text: str) -> dict[str, Json]:
    """Return the accepted fields of a metadata line in the order of their keys; none if the line is something else.

    Source: goal-documents 1.5.

    >>> read_metadata("  <!-- loopx:todo todo_id=todo_abc color=red status=maybe -->")
    {'todo_id': 'todo_abc'}
    """
    return read_words(text)[0]


def read_words(text: str) -> tuple[dict[str, Json], bool]:
    """Return the accepted fields of a metadata line, and whether anything in it is odd; see `MetadataLine`."""
    fields: dict[str, Json] = {}
    body = _metadata_body(text)
    if body is None:
        return fields, False
    # `TOKEN` would say the same in twice the time, and most of a document is metadata.
    odd = "<" in body or ">" in body
    words = (FROM_ANGLE_BRACKET.sub("", body) if odd else body).split()
    for word in words[1:] if words[:1] == [TODO_WORD] else words:
        key, _, raw = word.partition("=")
        value = read_field(key, raw)
        if value != raw and is_odd(key, raw, value):
            odd = True
        if value is not None:
            odd = odd or key in fields
            fields[key] = value
    if fields.get("continuation_policy") in REMOVED_POLICIES:
        fields.setdefault("removed_continuation_policy", fields.pop("continuation_policy"))
    return fields, odd


def tokens(text: str) -> Iterator[Token]:
    """Yield every token of a metadata line with its place; none if the line is something else."""
    body = _metadata_body(text)
    if body is not None:
        # Cut off in front of the pattern, which counts the start of the body as a gap.
        offset = text.index(METADATA_WORD) + len(METADATA_WORD)
        for match in TOKEN.finditer(body):
            yield Token(match["key"], match["value"], offset + match.start())


def read_rows(lines: Lines, readings: Sequence[Reading], first: int, end: int) -> Iterator[Row]:
    """Yield the rows of the lines from index `first` up to `end`, in document order.

    A task line opens a row, also when it is indented. Indented lines add to the open row, whatever unindented prose and
    blank lines stand in between.
    Source: goal-documents 1.4.
    """
    row: Row | None = None
    for index in range(first, end):
        reading = readings[index]
        if isinstance(reading, TaskLine):
            if row:
                yield row
            row = Row(index, index, reading.marker, [reading.text])
        elif row and (reading is LineKind.HIDDEN or reading is LineKind.CHECKBOX_LIKE):
            yield row
            row = None
        elif row and (reading is LineKind.INDENTED or (isinstance(reading, MetadataLine) and reading.indented)):
            row.take(index, reading, lines.texts[index])
    if row:
        yield row
