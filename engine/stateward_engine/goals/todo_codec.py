"""The todo codec: task lines, metadata lines and continuations, for readers, editors and the renderer.

Each line is read on its own first, which needs no context; a row takes the lines that belong to it.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from stateward_engine.goals.compact import compact
from stateward_engine.goals.encode import encode_value
from stateward_engine.goals.fields import FIELDS, REMOVED_POLICIES, Fields
from stateward_engine.goals.tokens import read_words
from stateward_engine.goals.visible import COMMENT_END, COMMENT_START

if TYPE_CHECKING:
    from collections.abc import Iterator

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
STATUS_OF_MARKER: Final = {" ": "open", "x": "done", "X": "done", "-": "deferred"}
BOX_OF_STATUS: Final = {status: box.lower() for box, status in STATUS_OF_MARKER.items()} | {"blocked": " "}
METADATA_WORD: Final = "loopx:"
# May stand first; it is no token, and says what the tokens are about.
TODO_WORD: Final = "todo"
METADATA: Final = re.compile(rf"\s*{COMMENT_START}\s*{METADATA_WORD}(?P<body>.*){COMMENT_END}\s*\Z", re.DOTALL)


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


class Row(NamedTuple):
    """One todo as it is written, without limits: what the source says, not what is shown.

    Attributes:
        first: Index of its task line, from the first line of its passage.
        last: Index of the last line that added to it.
        marker: What stands in its box.
        text: Everything it says, compacted.
        fields: Accepted metadata; of repeated keys the last.
        id_line: Index of the metadata line that gave the id, or `None`.
        odd: Whether something about the row may have to be told: its problems are worth looking for.
    """

    first: int
    last: int
    marker: str
    text: str
    fields: Fields
    id_line: int | None
    odd: bool


def written_status(marker: str, status: str | None) -> str:
    """Return the status of a row: that of its metadata, or else of its box."""
    return status or STATUS_OF_MARKER[marker]


def box_agrees(marker: str, status: str) -> bool:
    """Whether a box says the same as a status; an empty one also stands for a blocked row."""
    return STATUS_OF_MARKER[marker] == status or (status == "blocked" and marker == " ")


def is_odd_row(marker: str, text: str, fields: Fields) -> bool:
    """Whether what a row says together may have to be told of: no text, a comment in it, or a box that disagrees."""
    status = fields.get("status")
    return not text or COMMENT_START in text or not (status is None or box_agrees(marker, status))


class OpenRow:
    """A row that more lines may add to."""

    def __init__(self, index: int, reading: TaskLine, *, odd: bool) -> None:
        self._first = self._last = index
        self._marker = reading.marker
        self._parts = [reading.text]
        self._fields: Fields = {}
        self._id_line: int | None = None
        self._odd = odd

    def take_fields(self, index: int, fields: Fields, *, odd: bool) -> None:
        """Add an indented metadata line."""
        self._last = index
        self._odd = self._odd or odd or not self._fields.keys().isdisjoint(fields)
        self._fields = {**self._fields, **fields} if self._fields else fields
        if "todo_id" in fields:
            self._id_line = index

    def take_text(self, index: int, text: str) -> None:
        """Add an indented line of text."""
        self._last = index
        self._parts.append(text)

    def close(self) -> Row:
        """Return what it has become."""
        text = compact(" ".join(self._parts))
        odd = self._odd or is_odd_row(self._marker, text, self._fields)
        return Row(self._first, self._last, self._marker, text, self._fields, self._id_line, odd)


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
        fields, odd = read_comment(head)
        if fields:
            return MetadataLine(fields, text.startswith(INDENT), odd)
    elif text[0] == "#" and (heading := HEADING.fullmatch(text)):
        return HeadingLine(len(heading["marks"]), heading["text"].rstrip())
    return LineKind.INDENTED if text.startswith(INDENT) else LineKind.PLAIN


def _metadata_body(text: str) -> str | None:
    """Return what a metadata comment says behind `loopx:`, or `None` when the line is anything else."""
    comment = METADATA.match(text)
    return comment["body"] if comment and COMMENT_END not in comment["body"] else None


def read_metadata(text: str) -> dict[str, Json]:
    """Return the accepted fields of a metadata line in the order of their keys; none if the line is something else.

    Source: goal-documents 1.5.

    >>> read_metadata("  <!-- loopx:todo todo_id=todo_abc color=red status=maybe -->")
    {'todo_id': 'todo_abc'}
    """
    return read_comment(text)[0]


def read_comment(text: str) -> tuple[dict[str, Json], bool]:
    """Return the accepted fields of a metadata line, and whether anything in it is odd; see `MetadataLine`."""
    body = _metadata_body(text)
    return ({}, False) if body is None else read_body(body)


def read_body(body: str) -> tuple[dict[str, Json], bool]:
    """Return the accepted fields of what stands behind `loopx:`, and whether anything in it is odd."""
    is_cut = "<" in body or ">" in body
    words = (FROM_ANGLE_BRACKET.sub("", body) if is_cut else body).split()
    fields, odd = read_words(words[1:] if words[:1] == [TODO_WORD] else words)
    if "continuation_policy" in fields and fields["continuation_policy"] in REMOVED_POLICIES:
        fields.setdefault("removed_continuation_policy", fields.pop("continuation_policy"))
    return fields, odd or is_cut


def tokens(text: str) -> Iterator[Token]:
    """Yield every token of a metadata line with its place; none if the line is something else."""
    body = _metadata_body(text)
    if body is not None:
        # Cut off in front of the pattern, which counts the start of the body as a gap.
        offset = text.index(METADATA_WORD) + len(METADATA_WORD)
        for match in TOKEN.finditer(body):
            yield Token(match["key"], match["value"], offset + match.start())


def metadata_line(fields: Fields) -> str:
    """Return the metadata line of a row: the fields that have a key, in the order of the table.

    Source: goal-documents 2.2 and 4.2.

    >>> metadata_line({"note": "a b", "todo_id": "todo_one", "title": "not a key", "reason": ""})
    '  <!-- loopx:todo todo_id=todo_one note=a%20b -->'
    """
    written = ((key, encode_value(fields[key])) for key in FIELDS if key in fields)
    body = " ".join(f"{key}={value}" for key, value in written if value)
    return f"  {COMMENT_START} {METADATA_WORD}{TODO_WORD} {body} {COMMENT_END}"


def row_lines(status: str, text: str, fields: Fields) -> tuple[str, str]:
    """Return the two lines of a new row.

    Source: goal-documents 4.2.
    """
    return f"- [{BOX_OF_STATUS[status]}] {compact(text)}", metadata_line(fields)
