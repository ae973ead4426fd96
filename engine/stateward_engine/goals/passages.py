"""Passages: stretches of lines that are read without looking at what stands above them.

A document is read passage by passage, and an edit reads again only the passages that it can influence. So a passage
begins where the lines above leave nothing open: in front of a visible line that opens a row, a section or a region
marker, or where no row is open. What a passage says is a function of its text alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.goals.lines import LINE, Lines, lines_in, split_lines
from stateward_engine.goals.noted import BOX_ABOVE, PASSAGE_ABOVE, TASK_ABOVE, Noted, NotedKind
from stateward_engine.goals.plain_rows import Run, SimpleRow, find_row, find_run
from stateward_engine.goals.suppression import Ignored, read_ignored
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
    read_line,
)
from stateward_engine.goals.todos import DONE_STATUSES, REFERRING_KEYS, status_of
from stateward_engine.goals.tokens import OWN_KEYS
from stateward_engine.goals.visible import COMMENT_END, HiddenBlock, HiddenKind, find_hidden_end

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SECTION_START: Final = "## "
ROW_START: Final = "\n- ["
REGION_MARKER: Final = "<!-- loopx:todo-region-v0 "
PROJECTION_MARKER: Final = "<!-- loopx:todo-section-projection-v0 "

# What every reference into the state begins with.
REFERENCE_SIGN: Final = "$"

# What could be a rule around a second frontmatter, and what the markers of a merge begin with.
RULE_START: Final = "---"
MERGE_STARTS: Final = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")

METADATA_BODY: Final = re.compile(rf"{METADATA_WORD}(.*?){COMMENT_END}")

# How many characters a passage has at most, unless a single row or hidden block has more. An edit reads about one
# passage, and walks over all passages: longer ones make the first dearer, shorter ones the second.
PASSAGE_SIZE_MAX: Final = 32 * 1024
# A shorter rest is left to the passage before it, so that typing row after row makes no passage per row.
PASSAGE_SIZE_MIN: Final = 16 * 1024
# The pattern that finds runs of rows takes long to compile, so short texts do without it.
LONG_TEXT_SIZE: Final = 8 * 1024


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
        ids: The id of each of the rows that would stand in it if a region held it; nothing for a row without one.
        implicit: The rows without an id, with their indices among all rows.
        tasks_end: Index behind the last line that begins a row.
        odd: The rows about which something may have to be told.
        open_count: How many rows are open.
        done_count: How many rows are done or deferred.
        refers: Whether a row may name others.
        headings: Its visible headings with the indices of their lines.
        loose: The visible and hidden lines that no renderer generates.
        hidden: Its blocks that supply nothing.
        noted: What else may have to be told of.
        above: What stands above the line behind it.
        ignored: The codes that a comment sets aside for the line below it, with the index of that line.
        section: What its first line says if that is a heading which starts a section.
        marker: Its first line if that holds the text of a region marker.
        is_bare: Whether it holds rows and nothing else.
    """

    def __init__(self, draft: _Draft, end: int) -> None:
        """Take what was read of a text up to the offset `end`."""
        # All passages that are read together share one text, instead of holding a copy each.
        self._source, self._start = draft.source, draft.start
        self.size = end - draft.start
        self.line_count = draft.line
        self._pieces: Sequence[Run | Row] = draft.pieces
        self.ids: Sequence[str] = draft.ids
        self.implicit: Sequence[tuple[int, Row]] = draft.implicit
        self.odd: Sequence[Row] = draft.odd
        self.tasks_end = draft.tasks_end
        self.open_count, self.done_count, self.refers = draft.open_count, draft.done_count, draft.refers
        self.headings: Sequence[tuple[int, HeadingLine]] = draft.headings
        self.loose: Sequence[LooseLine] = draft.loose
        self.hidden: Sequence[HiddenBlock] = draft.hidden
        self.noted: Sequence[Noted] = draft.noted
        self.above = draft.above
        self.ignored: Sequence[Ignored] = read_ignored(draft.source, draft.start, end) if self.loose else ()
        self.section = draft.section
        self.marker = draft.marker
        self.is_bare = not (self.loose or self.headings or self.noted or self.ignored or self.marker is not None)
        self._heads: dict[int, Passage] = {}

    @property
    def text(self) -> str:
        """Its characters, terminators included."""
        return self._source[self._start : self._start + self.size]

    @cached_property
    def has_reference_sign(self) -> bool:
        """Whether a reference into the state can stand in it."""
        return REFERENCE_SIGN in self.text

    @cached_property
    def lines(self) -> Lines:
        """Its lines, for those who look at places in it."""
        return split_lines(self.text, mark="")

    @cached_property
    def rows(self) -> Sequence[Row]:
        """Its rows, with what each says."""
        return [row for piece in self._pieces for row in (piece.rows() if isinstance(piece, Run) else (piece,))]

    @cached_property
    def used_values(self) -> Mapping[str, Mapping[str, int]]:
        """How often each value is given to each key that rows share, as it is written."""
        words = Counter(chain.from_iterable(map(str.split, METADATA_BODY.findall(self.text))))
        used: dict[str, dict[str, int]] = {}
        for word, count in words.items():
            key, sign, value = word.partition("=")
            if sign and key not in OWN_KEYS:
                used.setdefault(key, {})[value] = count
        return used

    def row_text(self, row: Row) -> str:
        """Return the lines of one of its rows with what ends them."""
        return self.lines.text[self.lines.start(row.first) : self.lines.start(row.last + 1)]

    def is_hidden(self, line: int) -> bool:
        """Whether a block hides a line."""
        index = bisect_right(self.hidden, line, key=attrgetter("first")) - 1
        return index >= 0 and line < self.hidden[index].end

    def head(self, line_count: int) -> Passage:
        """Return the passage that its first lines alone would be."""
        if line_count not in self._heads:
            text = self.lines.text[: self.lines.start(line_count)]
            # However long it is: a passage can be longer than most.
            self._heads[line_count] = next(read_passages(text, size_max=len(text)))
        return self._heads[line_count]


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
    is_long = len(text) - start >= LONG_TEXT_SIZE
    stops, size_max = [*stops, len(text)], size_max or PASSAGE_SIZE_MAX
    draft, at = _Draft(text, start, _due(text, start, stops, size_max)), start
    while at < len(text):
        if is_long and (run := find_run(text, at, draft.due, draft.line)):
            draft.take_run(run)
            at = run.end
            continue
        if at < draft.due and (simple := find_row(text, at, draft.line)):
            draft.take_row(simple)
            at = simple.end
            continue
        match = LINE.match(text, at)
        assert match  # noqa: S101 - it matches everywhere
        line, reading = match[1], read_line(match[1])
        is_text = reading is LineKind.PLAIN or reading is LineKind.INDENTED
        hidden_end = find_hidden_end(text, line, match.end()) if is_text else None
        is_marker = REGION_MARKER in line and not hidden_end
        starts = is_marker or (isinstance(reading, HeadingLine) and line.startswith(SECTION_START))
        if at > draft.start and (starts or (at >= draft.due and (draft.row is None or isinstance(reading, TaskLine)))):
            yield draft.passage(at)
            draft = _Draft(text, at, _due(text, at, stops, size_max))
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
        self.pieces: list[Run | Row] = []
        self.ids: list[str] = []
        self.implicit: list[tuple[int, Row]] = []
        self.odd: list[Row] = []
        self.open_count = self.done_count = self.tasks_end = 0
        self.refers = False
        self.headings: list[tuple[int, HeadingLine]] = []
        self.loose: list[LooseLine] = []
        self.hidden: list[HiddenBlock] = []
        self.noted: list[Noted] = []
        self.section: str | None = None
        self.marker: str | None = None
        self.row: OpenRow | None = None
        self.above = PASSAGE_ABOVE
        # Indented text continues a task in an unmarked region as long as no blank line comes between.
        self.in_task = False

    def take_run(self, run: Run) -> None:
        """Add rows; another row follows them."""
        self.close_row()
        if run.sound:
            self.pieces.append(run)
            self.ids += run.ids
            self.open_count += run.open_count
            self.done_count += run.done_count
            self.refers = self.refers or run.refers
        else:
            for row in run.rows():
                self._add(row)
        self._go_behind(run)

    def take_row(self, simple: SimpleRow) -> None:
        """Add a row; another one follows it."""
        self.close_row()
        self._add(simple.row)
        self._go_behind(simple)

    def _go_behind(self, rows: Run | SimpleRow) -> None:
        self.above = TASK_ABOVE._replace(is_near=rows.is_near, has_id=True)
        self.line += rows.line_count
        self.tasks_end = self.line

    def take(self, text: str, reading: Reading) -> None:
        """Add one visible line."""
        if isinstance(reading, TaskLine):
            self.close_row()
            self.row, self.in_task = OpenRow(self.line, reading, odd=text.startswith(INDENT)), True
            self.tasks_end = self.line + 1
        elif isinstance(reading, MetadataLine):
            if self.row and reading.indented:
                self.row.take_fields(self.line, reading.fields, odd=reading.odd)
            elif PROJECTION_MARKER not in text:
                self._note("metadata")
        elif reading is LineKind.BLANK:
            self.in_task = False
        else:
            self._take_loose(text, reading)
        self._go_below(reading)
        self.line += 1

    def take_marker(self, text: str, reading: Reading) -> None:
        """Add a first line that holds the text of a region marker; whatever else it looks like, it supplies nothing."""
        self.marker = text
        if isinstance(reading, HeadingLine):
            self._take_heading(text, reading)
        elif reading is LineKind.CHECKBOX_LIKE:
            self._note("box")
        self._go_below(reading)
        self.line += 1

    def take_hidden(self, kind: HiddenKind, start: int, end: int, *, closed: bool) -> None:
        """Add the hidden block that stands from one offset up to another."""
        self.close_row()
        first, behind = self.line, self.line + lines_in(self.source, start, end)
        if kind == "comment" and re.search(rf"=|{METADATA_WORD}", self.source[start:end]):
            self._note("wrapped", behind)
        self.hidden.append(HiddenBlock(kind, first, behind, closed))
        self.loose += [LooseLine(line, hidden=True, continues=False) for line in range(first, behind)]
        self._go_below(LineKind.HIDDEN)
        self.line = behind

    def close_row(self) -> None:
        """End the open row, if there is one."""
        if self.row:
            self._add(self.row.close())
            self.row = None
        self.in_task = False

    def passage(self, end: int) -> Passage:
        """Return the passage that ends at an offset."""
        self.close_row()
        return Passage(self, end)

    def _add(self, row: Row) -> None:
        status = status_of(row)
        if row.id_line is None:
            self.implicit.append((len(self.ids), row))
        if row.odd:
            self.odd.append(row)
        self.pieces.append(row)
        self.ids.append("" if row.id_line is None else row.fields["todo_id"])
        self.open_count += status == "open"
        self.done_count += status in DONE_STATUSES
        self.refers = self.refers or not row.fields.keys().isdisjoint(REFERRING_KEYS)

    def _note(self, kind: NotedKind, end: int | None = None) -> None:
        self.noted.append(Noted(kind, self.line, end or self.line + 1, self.above))

    def _go_below(self, reading: Reading) -> None:
        """Take note of what stands above the next line."""
        if isinstance(reading, TaskLine):
            self.above = TASK_ABOVE
        elif isinstance(reading, MetadataLine):
            if "todo_id" in reading.fields:
                self.above = self.above._replace(has_id=True)
        elif reading is LineKind.CHECKBOX_LIKE:
            self.above = BOX_ABOVE
        elif reading is LineKind.HIDDEN:
            self.above = self.above._replace(is_open=False, is_near=False)
        elif reading is not LineKind.INDENTED:
            self.above = self.above._replace(is_near=False)

    def _take_loose(self, text: str, reading: Reading) -> None:
        if isinstance(reading, HeadingLine):
            self._take_heading(text, reading)
            if text.startswith(SECTION_START):
                return
        elif text.startswith(PROJECTION_MARKER):
            return
        elif reading is LineKind.CHECKBOX_LIKE:
            self.close_row()
            self._note("box")
        elif reading is LineKind.INDENTED and self.row:
            self.row.take_text(self.line, text)
        elif text.startswith(RULE_START):
            self._note("rule")
        elif text.startswith(MERGE_STARTS):
            self._note("merge")
        continues = self.in_task and reading is LineKind.INDENTED
        self.loose.append(LooseLine(self.line, hidden=False, continues=continues))

    def _take_heading(self, text: str, reading: HeadingLine) -> None:
        self.headings.append((self.line, reading))
        # Such a line is always the first one of its passage.
        if text.startswith(SECTION_START):
            self.section = text[len(SECTION_START) :].strip()


def _due(text: str, start: int, stops: Sequence[int], size_max: int) -> int:
    """Return the offset from which on the passage that begins at `start` ends as soon as it can."""
    stop = stops[min(bisect_right(stops, start), len(stops) - 1)]
    if stop - start < size_max + PASSAGE_SIZE_MIN:
        return stop
    # In front of a row, where it can.
    end = start + size_max
    return text.rfind(ROW_START, start, end) + 1 or end
