"""Passages: stretches of lines that are read without looking at what stands above them.

A document is read passage by passage, and an edit reads again only the passages that it can influence. So a passage
begins where the lines above leave nothing open: in front of a visible line that opens a row, a section or a region
marker, or where no row is open. What a passage says is a function of its text alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.goals.compact import compact
from stateward_engine.goals.lines import LINE, Lines, lines_in, split_lines
from stateward_engine.goals.todo_codec import (
    INDENT,
    METADATA_WORD,
    HeadingLine,
    LineKind,
    MetadataLine,
    OpenRow,
    Reading,
    Row,
    TaskLine,
    is_odd_row,
    read_body,
    read_line,
)
from stateward_engine.goals.visible import HiddenBlock, HiddenKind, find_hidden_end

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SECTION_START: Final = "## "
REGION_MARKER: Final = "<!-- loopx:todo-region-v0 "
PROJECTION_MARKER: Final = "<!-- loopx:todo-section-projection-v0 "

# What the markers of a merge and the rules around a second frontmatter begin with.
LOUD_STARTS: Final = ("<<<<<<<", "|||||||", ">>>>>>>", "---")

# A row as programs write it: a task line and a metadata line. Nearly all lines of a long document are such, and one
# pattern that takes both at once costs a third of reading each line on its own.
PLAIN_ROW: Final = re.compile(r"- \[([ xX-])\] ([^\n]+)\n  <!-- loopx:(todo [^\n]*)-->(?:\n|\Z)")

_new_row: Final = tuple.__new__

# How many characters a passage has at most, unless a single row or hidden block has more. An edit reads about one
# passage, and walks over all passages: longer ones make the first dearer, shorter ones the second.
PASSAGE_SIZE_MAX: Final = 16 * 1024
# A shorter rest is left to the passage before it, so that typing row after row makes no passage per row.
PASSAGE_SIZE_MIN: Final = 8 * 1024


class LooseLine(NamedTuple):
    """A line that no renderer generates.

    Attributes:
        line: Its index in its passage.
        hidden: Whether a hidden block holds it.
        continues: Whether it is indented text that continues a task without a blank line in between.
    """

    line: int
    hidden: bool
    continues: bool


class Passage:
    """What a stretch of lines says. Indices of lines count from its own first line.

    Attributes:
        size: How many characters it has, terminators included.
        line_count: How many lines it has.
        rows: The rows that would stand in it if a region held it.
        headings: Its visible headings with the indices of their lines.
        loose: The visible and hidden lines that no renderer generates.
        hidden: Its blocks that supply nothing.
        section: What its first line says if that is a heading which starts a section.
        marker: Its first line if that holds the text of a region marker.
        quiet: Whether nothing in it can be a problem, wherever it stands.
    """

    def __init__(self, draft: _Draft, end: int) -> None:
        """Take what was read of a text up to the offset `end`."""
        # All passages that are read together share one text, instead of holding a copy each.
        self._source, self._start = draft.source, draft.start
        self.size = end - draft.start
        self.line_count = draft.line
        self.rows: Sequence[Row] = draft.rows
        self.headings: Sequence[tuple[int, HeadingLine]] = draft.headings
        self.loose: Sequence[LooseLine] = draft.loose
        self.hidden: Sequence[HiddenBlock] = draft.hidden
        self.section = draft.section
        self.marker = draft.marker
        self.quiet = not draft.loud and not any(row.odd for row in draft.rows)

    @property
    def text(self) -> str:
        """Its characters, terminators included."""
        return self._source[self._start : self._start + self.size]

    @cached_property
    def lines(self) -> Lines:
        """Its lines, for those who look at places in it."""
        return split_lines(self.text, mark="")

    def head(self, line_count: int) -> Passage:
        """Return the passage that its first lines alone would be."""
        text = self.text[: self.lines.start(line_count)]
        # However long it is: a passage can be longer than most.
        return next(read_passages(text, size_max=len(text)))


def read_passages(
    text: str, start: int = 0, stops: Sequence[int] = (), size_max: int | None = None
) -> Iterator[Passage]:
    """Yield the passages of a text from the offset `start` on.

    Args:
        text: A text of which what stands in front of `start` leaves nothing open.
        start: Where to begin, at the start of a line.
        stops: Offsets, ascending, at which a passage ends if it can.
        size_max: How many characters a passage has at most; by default `PASSAGE_SIZE_MAX`.

    Source: goal-documents section 6.
    """
    marked, is_plain = _marked_lines(text, start), "\r" not in text
    stops, size_max = [*stops, len(text)], size_max or PASSAGE_SIZE_MAX
    draft, at = _Draft(text, start, _due(start, stops, size_max)), start
    while at < len(text):
        if is_plain and (behind := draft.take_plain_rows(at)) > at:
            at = behind
            continue
        match = LINE.match(text, at)
        assert match  # noqa: S101 - it matches everywhere
        line, reading = match[1], read_line(match[1])
        is_text = reading is LineKind.PLAIN or reading is LineKind.INDENTED
        hidden_end = find_hidden_end(text, line, match.end()) if is_text else None
        is_marker = at in marked and not hidden_end
        starts = is_marker or (isinstance(reading, HeadingLine) and line.startswith(SECTION_START))
        if at > draft.start and (starts or (at >= draft.due and (draft.row is None or isinstance(reading, TaskLine)))):
            yield draft.passage(at)
            draft = _Draft(text, at, _due(at, stops, size_max))
            if isinstance(reading, TaskLine):
                continue
        if hidden_end:
            draft.take_hidden(hidden_end.kind, at, hidden_end.at, closed=hidden_end.closed)
            at = hidden_end.at
            continue
        if is_marker:
            draft.take_marker(line, reading)
        else:
            draft.take(line, reading)
        at = match.end()
    if at > draft.start:
        yield draft.passage(at)


def frontmatter_passage(text: str, start: int, end: int) -> Passage:
    """Return the passage of the frontmatter that stands in a text from `start` up to `end`."""
    draft = _Draft(text, start, end)
    draft.take_hidden("frontmatter", start, end, closed=True)
    return draft.passage(end)


class _Draft:
    """The passage that is being read."""

    def __init__(self, source: str, start: int, due: int) -> None:
        # From the offset `due` on it ends as soon as it can.
        self.source, self.start, self.due, self.line = source, start, due, 0
        self.rows: list[Row] = []
        self.headings: list[tuple[int, HeadingLine]] = []
        self.loose: list[LooseLine] = []
        self.hidden: list[HiddenBlock] = []
        self.section: str | None = None
        self.marker: str | None = None
        self.row: OpenRow | None = None
        self.loud = False
        # Indented text continues a task in an unmarked region as long as no blank line comes between.
        self.in_task = False

    def take_plain_rows(self, at: int) -> int:
        """Add all plain rows that stand at an offset; return the offset behind them."""
        line, rows, found = self.line, self.rows, len(self.rows)
        while at < self.due and (match := PLAIN_ROW.match(self.source, at)):
            marker, text, body = match.groups()
            # Whatever could be a region marker, a comment or no metadata is read with more care.
            if "<" in text or "<" in body or ">" in body:
                break
            fields, odd = read_body(body)
            if not fields:
                break
            if self.row:
                self.close_row()
                found = len(rows)
            id_line = line + 1 if "todo_id" in fields else None
            text = compact(text)
            odd = odd or is_odd_row(marker, text, fields)
            rows.append(_new_row(Row, (line, line + 1, marker, text, fields, id_line, odd)))
            line += 2
            at = match.end()
        self.line = line
        if len(rows) > found:
            # The last one may go on below.
            self.row, self.in_task = OpenRow.again(rows.pop()), True
        return at

    def take(self, text: str, reading: Reading) -> None:
        """Add one visible line."""
        if isinstance(reading, TaskLine):
            self.close_row()
            self.row, self.in_task = OpenRow(self.line, reading, odd=text.startswith(INDENT)), True
        elif isinstance(reading, MetadataLine):
            if self.row and reading.indented:
                self.row.take_fields(self.line, reading.fields, odd=reading.odd)
            elif PROJECTION_MARKER not in text:
                self.loud = True
        elif reading is LineKind.BLANK:
            self.in_task = False
        else:
            self._take_loose(text, reading)
        self.line += 1

    def take_marker(self, text: str, reading: Reading) -> None:
        """Add a first line that holds the text of a region marker; whatever else it looks like, it supplies nothing."""
        self.marker = text
        if isinstance(reading, HeadingLine):
            self._take_heading(text, reading)
        self.line += 1

    def take_hidden(self, kind: HiddenKind, start: int, end: int, *, closed: bool) -> None:
        """Add the hidden block that stands from one offset up to another."""
        self.close_row()
        hides_metadata = kind == "comment" and re.search(rf"=|{METADATA_WORD}", self.source[start:end])
        self.loud = self.loud or not closed or bool(hides_metadata)
        first, self.line = self.line, self.line + lines_in(self.source, start, end)
        self.hidden.append(HiddenBlock(kind, first, self.line, closed))
        self.loose += [LooseLine(line, hidden=True, continues=False) for line in range(first, self.line)]

    def close_row(self) -> None:
        """End the open row, if there is one."""
        if self.row:
            self.rows.append(self.row.close())
            self.row = None
        self.in_task = False

    def passage(self, end: int) -> Passage:
        """Return the passage that ends at an offset."""
        self.close_row()
        return Passage(self, end)

    def _take_loose(self, text: str, reading: Reading) -> None:
        if isinstance(reading, HeadingLine):
            self._take_heading(text, reading)
            if text.startswith(SECTION_START):
                return
        elif text.startswith(PROJECTION_MARKER):
            return
        elif reading is LineKind.CHECKBOX_LIKE:
            self.close_row()
            self.loud = True
        elif reading is LineKind.INDENTED and self.row:
            self.row.take_text(self.line, text)
        elif text.startswith(LOUD_STARTS):
            self.loud = True
        continues = self.in_task and reading is LineKind.INDENTED
        self.loose.append(LooseLine(self.line, hidden=False, continues=continues))

    def _take_heading(self, text: str, reading: HeadingLine) -> None:
        self.headings.append((self.line, reading))
        # Such a line is always the first one of its passage.
        if text.startswith(SECTION_START):
            self.section = text[len(SECTION_START) :].strip()


def _due(start: int, stops: Sequence[int], size_max: int) -> int:
    """Return the offset from which on the passage that begins at `start` ends as soon as it can."""
    stop = stops[min(bisect_right(stops, start), len(stops) - 1)]
    return start + size_max if stop - start >= size_max + PASSAGE_SIZE_MIN else stop


def _marked_lines(text: str, start: int) -> frozenset[int]:
    """Return where the lines begin that hold the text of a region marker."""
    found = []
    line, at = start, text.find(REGION_MARKER, start)
    while at >= 0:
        # Never behind the line before, or a text of many markers would take quadratic time.
        line = max(text.rfind("\n", line, at) + 1, text.rfind("\r", line, at) + 1, line)
        found.append(line)
        at = text.find(REGION_MARKER, at + 1)
    return frozenset(found)
