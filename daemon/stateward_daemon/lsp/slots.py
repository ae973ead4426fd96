"""Slots: what somebody is about to write at a place of a document, and which characters that replaces.

A slot is found in the line of the cursor and the row above it, whatever the document is long. Hidden lines have none,
with two exceptions: a metadata comment that is not closed yet hides itself, and a structured reference is written in
examples of code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from stateward_engine.goals.compact import clip
from stateward_engine.goals.lines import Line
from stateward_engine.goals.problems import shifted
from stateward_engine.goals.regions import is_marker
from stateward_engine.goals.row_problems import placed_tokens
from stateward_engine.goals.todo_codec import TOKEN, LineKind
from stateward_engine.goals.todos import TEXT_CHARACTERS_MAX, generated_id
from stateward_engine.goals.tokens import LISTS
from stateward_engine.goals.visible import COMMENT_END
from stateward_engine.state.references import REF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.lines import Span
    from stateward_engine.goals.regions import Region
    from stateward_engine.goals.todos import Todo

# What can follow a place in a line, which has to be short to be looked at with each key.
LOOKED_AT: Final = 4096
OPENING: Final = re.compile(r"\s*<!--\s*loopx:")
# A metadata comment as it is begun, and what an editor may have closed already.
BEGUN: Final = re.compile(r"[ \t]*(?P<typed><(?:!(?:-(?:-\s*(?:l(?:o(?:o(?:p(?:x)?)?)?)?)?)?)?)?)")
BEGINS_COMMENT: Final = re.compile(r" <(?:!-{0,2}[^<]*|>)?\Z")
CLOSED: Final = re.compile(r"\s*(?:-{0,2}>)?\s*")
WORD_REST: Final = re.compile(r"[^\s<>]*")
KEY_REST: Final = re.compile(r"[a-z0-9_]*")
ENCODED_COMMA: Final = re.compile("%2c", re.IGNORECASE)
BOX: Final = re.compile(r"\s*[-*]\s+(?P<typed>\[[ xX-]?)")
BOX_REST: Final = re.compile(r"\][ \t]?|[ xX-]\](?:[ \t]|$)")
ROW_START: Final = re.compile(r"[-*]?[ \t]*")
HEADING: Final = re.compile(r"#{1,6}(?:[ \t][^#]*)?")
ID_START: Final = re.compile(r"(?<![A-Za-z0-9_-])todo_[A-Za-z0-9_-]*\Z")
ID_REST: Final = re.compile(r"[A-Za-z0-9_-]*")
PATH_STARTS: Final = (
    re.compile(r"(?<![A-Za-z0-9_$.\[\]:-])\$(?P<path>[A-Za-z0-9_$.\[\]:-]*)\Z"),
    re.compile(rf'"{re.escape(REF)}"\s*:\s*"(?P<path>[A-Za-z0-9_$.\[\]:-]*)\Z'),
)
STEP: Final = re.compile(r"(?P<parent>.*)(?:\.(?P<name>[A-Za-z0-9_$-]*)|\[(?P<digits>[0-9]*))\Z")
NAME_REST: Final = re.compile(r"[A-Za-z0-9_$-]*")
DIGITS_REST: Final = re.compile(r"[0-9]*\]?")


class KeySlot(NamedTuple):
    """A key of metadata.

    Attributes:
        span: What is replaced.
        taken: The keys that the row has.
        row: The row, `None` where there is none.
        before: What has to stand in front of the key: the word behind the colon.
        after: What has to stand behind it: the equals sign, unless it is there.
    """

    span: Span
    taken: frozenset[str]
    row: Todo | None
    before: str
    after: str


class ValueSlot(NamedTuple):
    """A value of metadata, or one member of a list.

    Attributes:
        span: What is replaced.
        key: Its key.
        row: The row, `None` where there is none.
        typed: What is written of it in front of the cursor.
        written: All of the value as it stands there.
        others: The other members of the list.
    """

    span: Span
    key: str
    row: Todo | None
    typed: str
    written: str
    others: tuple[str, ...]


class CommentSlot(NamedTuple):
    """The metadata comment of a row without an id, which has `todo_id` as long as nobody gives it one."""

    span: Span
    todo_id: str


class BoxSlot(NamedTuple):
    """The box of a row."""

    span: Span


class RowSlot(NamedTuple):
    """A whole row, in its section."""

    span: Span
    region: Region


class HeadingSlot(NamedTuple):
    """The heading of a section."""

    span: Span


class IdSlot(NamedTuple):
    """The id of a todo in a text."""

    span: Span
    typed: str


class PathSlot(NamedTuple):
    """The next step of a path into the state.

    Attributes:
        span: What is replaced.
        parent: The path in front of it; `None` for the first word.
        is_index: Whether the step is an index, behind an opening bracket.
    """

    span: Span
    parent: str | None
    is_index: bool


Slot: TypeAlias = KeySlot | ValueSlot | CommentSlot | BoxSlot | RowSlot | HeadingSlot | IdSlot | PathSlot


class _Cursor(NamedTuple):
    """A line with a cursor in it, and what is known of it."""

    document: GoalDocument
    number: int
    line: Line
    column: int

    @property
    def before(self) -> str:
        return self.line.text[max(self.column - LOOKED_AT, 0) : self.column]

    def span(self, start: int, rest: re.Pattern[str], end: int | None = None) -> Span:
        """Return the span from a column up to the end of what follows the cursor and belongs there."""
        text = self.line.text
        behind = rest.match(text, self.column, len(text) if end is None else end)
        return shifted((start, behind.end() if behind else self.column), self.line.start)

    def typed_from(self, typed: str) -> int:
        """Return the column at which a text begins that ends at the cursor."""
        return self.column - len(typed)


def slots_at(document: GoalDocument, offset: int) -> Iterator[Slot]:
    """Yield what can be written at an offset; at a place without any there is nothing to offer."""
    layout = document.layout
    number = layout.line_at(offset)
    if not layout.passages:
        yield HeadingSlot((offset, offset))
        return
    line = layout.line(number)
    if offset > line.span[1] and offset == layout.offsets[-1]:
        # Behind the last line that ends, somebody writes the next one.
        number, line = number + 1, Line(number + 2, offset, "", "")
    cursor = _Cursor(document, number, line, min(offset - line.start, len(line.text)))
    if is_marker(line.text):
        return
    hidden = _hidden_by(document, number)
    comment = _in_comment(cursor) if hidden in (None, "opening") else None
    if comment:
        yield comment
    if not OPENING.match(line.text) and hidden in (None, "fence"):
        yield from _path_slots(cursor, PATH_STARTS if hidden is None else PATH_STARTS[1:])
    if hidden is None and not OPENING.match(line.text):
        yield from _text_slots(cursor)


def row_at(document: GoalDocument, offset: int) -> Todo | None:
    """Return the row of an offset: the one of its line, or the one above a comment that is not read as metadata yet."""
    layout = document.layout
    if not layout.passages:
        return None
    number = layout.line_at(offset)
    start, end = layout.span(number)
    found = document.todos_in((start, max(end, offset)))
    if not found and number and layout.line(number).text.lstrip().startswith("<"):
        above = layout.span(number - 1)[1]
        found = document.todos_in((above, above))
    return found[0] if found else None


def own_text(row: Todo) -> str:
    """Return what a row says without a comment at its end, which is text of the row until it is read as metadata."""
    return row.full_text.rpartition(" <")[0] if BEGINS_COMMENT.search(row.full_text) else row.full_text


def own_id(row: Todo) -> str:
    """Return the id of a row; a generated one as it is without a comment at its end."""
    if row.id_line is not None:
        return row.todo_id
    return generated_id(row.role, row.source_section, row.ordinal, clip(own_text(row), TEXT_CHARACTERS_MAX))


def region_at(document: GoalDocument, number: int) -> Region | None:
    """Return the region that a line can hold a row of, by its index; it may be the one behind the last line."""
    end = document.layout.starts[-1]

    def holds(region: Region) -> bool:
        is_next = number == region.body_end == end and not region.marked
        return region.body <= number < region.body_end or is_next

    return next(filter(holds, document.regions), None)


# -- metadata ----------------------------------------------------------------------------------------------------------


def _in_comment(cursor: _Cursor) -> KeySlot | ValueSlot | CommentSlot | None:
    text, column = cursor.line.text, cursor.column
    row = row_at(cursor.document, cursor.line.start + column)
    opening = OPENING.match(text)
    if opening is None or column < opening.end():
        return _begun(cursor, row)
    close = text.find(COMMENT_END, opening.end())
    limit = close if close >= 0 else len(text)
    if column > limit:
        return None
    head = text[opening.end() : column]
    word = "" if not head or head[-1].isspace() else head.split()[-1]
    start = cursor.typed_from(word)
    key, sign, raw = word.partition("=")
    if sign:
        return _value(cursor, key, raw, limit, row)
    end = cursor.span(start, KEY_REST, limit)[1] - cursor.line.start
    has_sign = text.startswith("=", end) and end < limit
    lead = "" if start > opening.end() else "todo "
    body = TOKEN.finditer(text[opening.end() : limit])
    taken = {token["key"] for token in body if opening.end() + token.start() != start}
    if row is not None:
        tokens = placed_tokens(cursor.document.layout.between(*row.extent), row.extent[0])
        taken |= {token.key for token in tokens if token.span[0] != cursor.line.start + start}
    span = shifted((start, end), cursor.line.start)
    return KeySlot(span, frozenset(taken), row, lead, "" if has_sign else "=")


def _value(cursor: _Cursor, key: str, raw: str, limit: int, row: Todo | None) -> ValueSlot:
    text, column = cursor.line.text, cursor.column
    behind = WORD_REST.match(text, column, limit)
    rest = behind[0] if behind else ""
    written = raw + rest
    others: tuple[str, ...] = ()
    if key in LISTS:
        separator = re.compile(f"{LISTS[key].pattern}|{ENCODED_COMMA.pattern}", re.IGNORECASE)
        *before, raw = separator.split(raw)
        rest, *after = separator.split(rest)
        others = tuple(filter(None, (*before, *after)))
    span = shifted((column - len(raw), column + len(rest)), cursor.line.start)
    return ValueSlot(span, key, row, raw, written, others)


def _begun(cursor: _Cursor, row: Todo | None) -> CommentSlot | None:
    """Return the slot of a comment of which at most the first characters stand there."""
    begun = BEGUN.fullmatch(cursor.before)
    if begun is None or row is None or row.id_line is not None or row.span[0] == cursor.line.start:
        return None
    start = cursor.typed_from(begun["typed"])
    if not CLOSED.fullmatch(cursor.line.text, cursor.column) or not start:
        return None
    return CommentSlot(shifted((start, len(cursor.line.text)), cursor.line.start), own_id(row))


# -- text --------------------------------------------------------------------------------------------------------------


def _text_slots(cursor: _Cursor) -> Iterator[Slot]:
    text, before = cursor.line.text, cursor.before
    if box := BOX.fullmatch(before):
        yield BoxSlot(cursor.span(cursor.typed_from(box["typed"]), BOX_REST))
    if todo_id := ID_START.search(before):
        yield IdSlot(cursor.span(cursor.typed_from(todo_id[0]), ID_REST), todo_id[0].lower())
    region = region_at(cursor.document, cursor.number)
    whole = cursor.line.span
    is_start = ROW_START.fullmatch(text) is not None
    if is_start and region is not None and region.role != "archive":
        yield RowSlot(whole, region)
    in_marked = region is not None and region.marked
    if not in_marked and (not text.strip() or (before and HEADING.fullmatch(text))):
        yield HeadingSlot(whole)


def _path_slots(cursor: _Cursor, starts: tuple[re.Pattern[str], ...]) -> Iterator[PathSlot]:
    for start in starts:
        if found := start.search(cursor.before):
            path = found["path"]
            step = STEP.fullmatch(path)
            if step is None:
                if NAME_REST.fullmatch(path):
                    yield PathSlot(cursor.span(cursor.typed_from(path), NAME_REST), None, is_index=False)
                return
            is_index = step["name"] is None
            typed = step["digits"] if is_index else step["name"]
            rest = DIGITS_REST if is_index else NAME_REST
            yield PathSlot(cursor.span(cursor.typed_from(typed), rest), step["parent"], is_index)
            return


def _hidden_by(document: GoalDocument, number: int) -> str | None:
    """Return what hides a line: `opening` for a comment that it begins, else the kind of its block; or `None`."""
    layout = document.layout
    if number == layout.starts[-1]:
        # Behind the last line all is open but a block that nothing ended.
        last = document.layout.passages[-1].hidden[-1:]
        return last[0].kind if last and not last[0].closed else None
    if layout.reading(number) is not LineKind.HIDDEN:
        return None
    index = layout.passage_of_line(number)
    within = number - layout.starts[index]
    block = next(block for block in layout.passages[index].hidden if block.first <= within < block.end)
    return "opening" if block.kind == "comment" and block.first == within else block.kind
