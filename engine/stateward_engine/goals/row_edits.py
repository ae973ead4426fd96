"""Edits of rows in a document that people write: text to text, and every byte that is not meant stays as it is.

An edit touches the box, the words that differ and the tokens that change; what it does not know it keeps in its order.
A new line ends as the line beside it does. What an edit made is read again by whoever asked for it.

Source: authority.md section 3.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stateward_engine.goals.document import refusal_at
from stateward_engine.goals.encode import encode_value
from stateward_engine.goals.fields import FIELDS, REMOVED_POLICIES, read_field
from stateward_engine.goals.lines import indent_of
from stateward_engine.goals.passages import SECTION_START
from stateward_engine.goals.regions import Fault
from stateward_engine.goals.row_problems import BOX, is_metadata
from stateward_engine.goals.todo_codec import (
    BOX_OF_STATUS,
    INDENT,
    METADATA_WORD,
    STATUS_OF_MARKER,
    TASK,
    TODO_WORD,
    LineKind,
    TaskLine,
    box_agrees,
    read_line,
    read_metadata,
    row_lines,
    tokens,
)
from stateward_engine.goals.visible import COMMENT_END, COMMENT_START

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.lines import Lines
    from stateward_engine.goals.regions import Region, Role
    from stateward_engine.goals.todo_codec import Token
    from stateward_engine.goals.todos import Todo

# What a section is called that an edit has to begin.
NEW_HEADINGS: Final[Mapping[Role, str]] = {
    "user": "User Todo",
    "agent": "Agent Todo",
    "archive": "Completed Work Archive",
}
PLACE_OF_KEY: Final = {key: place for place, key in enumerate(FIELDS)}
WORD: Final = re.compile(r"\S+")


class Change(NamedTuple):
    """What becomes of one row.

    Attributes:
        todo: The row.
        fields: New values by metadata key; `None` or an empty value removes the key, and other keys stay.
        text: Its new text, or `None`.
    """

    todo: Todo
    fields: Mapping[str, Any]
    text: str | None = None


def edit_rows(document: GoalDocument, changes: Iterable[Change]) -> str:
    """Return the text in which rows are changed; a row with a generated id gets it as its own in the same write.

    Args:
        document: What the text says now.
        changes: At most one of each row.
    """
    draft = _Draft(document.lines)
    for change in changes:
        _edit_row(draft, change)
    return draft.text()


def add_row(document: GoalDocument, role: Role, fields: Mapping[str, Any], text: str) -> str:
    """Return the text with one more row: behind the last one of its role's first section, or in a new section.

    Args:
        document: What the text says now.
        role: Whose row.
        fields: Its metadata, with id and status.
        text: What it says.

    Raises:
        UnsafeDocument: `unclosed_fence` or `unclosed_comment`: nobody would see a row where it has to stand.
    """
    draft = _Draft(document.lines)
    _put(draft, document, role, row_lines(fields["status"], text, fields))
    return draft.text()


def archive_rows(document: GoalDocument, todos: Iterable[Todo]) -> str:
    """Return the text in which rows stand in the archive, in the order given, with what is fenced in below them.

    Raises:
        UnsafeDocument: As for `add_row`.
    """
    draft, moved = _Draft(document.lines), list[str]()
    for todo in todos:
        row = _RowLines.of(document.lines, todo)
        attached = range(row.last + 1, _end_of(document, todo) + 1)
        moved += map(draft.take, sorted({row.first, *row.metadata, *row.continuations, *attached}))
    _put(draft, document, "archive", moved)
    return draft.text()


# -- lines -----------------------------------------------------------------------------------------------------------


class _Draft:
    """The lines of a document while some are replaced, taken out or followed by new ones."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        # What stands in the place of a line, terminators included.
        self._instead: dict[int, list[str]] = {}

    def replace(self, index: int, text: str) -> None:
        """Let a line say something else."""
        self._instead[index] = [text + self._newline(index)]

    def take(self, index: int) -> str:
        """Take a line out, and return it with its terminator."""
        self._instead[index] = []
        return self.lines.texts[index] + self._newline(index)

    def put_behind(self, index: int, texts: Iterable[str]) -> None:
        """Put lines behind another one; those that have a terminator keep it."""
        newline = self._newline(index)
        own = [self.lines.texts[index] + newline] if self.lines else []
        self._instead.setdefault(index, own).extend(
            text if text.endswith(("\n", "\r")) else text + newline for text in texts
        )

    def ends_blank(self) -> bool:
        """Whether the last line that is left says nothing, or none is left."""
        left = (index for index in reversed(range(len(self.lines))) if self._instead.get(index) != [])
        last = next(left, None)
        return last is None or not self.lines.texts[last].strip()

    def text(self) -> str:
        """Return what it has become. A text whose last line does not end goes on to be one."""
        source, at, pieces = self.lines.text, 0, []
        for index in sorted(self._instead):
            pieces += [source[at : self.lines.start(index)], *self._instead[index]]
            at = self.lines.start(index + 1)
        text = "".join([*pieces, source[at:]])
        if self.lines and not self.lines.terminators[-1] and len(self.lines) - 1 in self._instead:
            text = text.removesuffix("\n").removesuffix("\r")
        return text

    def _newline(self, index: int) -> str:
        """Return what ends a line, or a new one behind it."""
        beside = (self.lines.terminators[at] for at in (index, index - 1) if 0 <= at < len(self.lines))
        return next(filter(None, beside), "\n")


class _RowLines(NamedTuple):
    """The lines of a row by their indices: its first, its last, its metadata and what continues its text."""

    first: int
    last: int
    metadata: list[int]
    continuations: list[int]

    @classmethod
    def of(cls, lines: Lines, todo: Todo) -> _RowLines:
        """Return the lines of a row; blank lines and prose between them are not its own."""
        first, last = (lines.index_at(offset) for offset in todo.extent)
        metadata, continuations = [], []
        for index in range(first + 1, last + 1):
            text = lines.texts[index]
            if is_metadata(text):
                metadata.append(index)
            elif read_line(text) is LineKind.INDENTED:
                continuations.append(index)
        return cls(first, last, metadata, continuations)


def _end_of(document: GoalDocument, todo: Todo) -> int:
    """Return the last line of a row or of the indented fences and comments that hang below it."""
    lines = document.lines
    own = last = lines.index_at(todo.extent[1])
    blocks = {block.first: block for block in document.hidden}
    while last + 1 < todo.region.body_end and (text := lines.texts[last + 1]).startswith(INDENT):
        block = blocks.get(last + 1)
        if block and block.closed:
            last = block.end - 1
        elif block is None and last > own and read_line(text) is LineKind.INDENTED:
            last += 1
        else:
            break
    return last


# -- one row ---------------------------------------------------------------------------------------------------------


def _edit_row(draft: _Draft, change: Change) -> None:
    row, texts = _RowLines.of(draft.lines, change.todo), draft.lines.texts
    task = line = texts[row.first]
    if change.text is not None:
        task = _with_text(draft, row, change.text.split())
    if status := change.fields.get("status"):
        task = _with_box(task, status)
    if task != line:
        draft.replace(row.first, task)
    fields = dict(change.fields)
    if change.todo.id_line is None:
        fields = {"todo_id": change.todo.todo_id, **fields}
    before = [texts[index] for index in row.metadata]
    shell = f"{indent_of(line)}  {COMMENT_START} {METADATA_WORD}{TODO_WORD} {COMMENT_END}"
    after = _with_fields(before or [shell], fields, task)
    if not before:
        draft.put_behind(row.last, filter(None, after))
    for index, old, new in zip(row.metadata, before, after, strict=False):
        if new is None:
            draft.take(index)
        elif new != old:
            draft.replace(index, new)


def _with_box(line: str, status: str) -> str:
    box = BOX.search(line)
    if box is None or box_agrees(box["marker"], status):
        return line
    return line[: box.start("marker")] + BOX_OF_STATUS[status] + line[box.end("marker") :]


def _with_text(draft: _Draft, row: _RowLines, words: Sequence[str]) -> str:
    """Return the task line of a row that says these words, and take out the continuations that are not said any more.

    As many lines as possible stay: those at the end that the new text ends with, too.
    """
    left, kept = list(words), len(row.continuations)
    while kept:
        said = draft.lines.texts[row.continuations[kept - 1]].split()
        if len(said) >= len(left) or left[-len(said) :] != said:
            break
        left, kept = left[: -len(said)], kept - 1
    for index in row.continuations[:kept]:
        draft.take(index)
    return _with_words(draft.lines.texts[row.first], left)


def _with_words(line: str, words: Sequence[str]) -> str:
    """Return a task line that says these words; the gaps between those that it ends with already stay."""
    task = TASK.fullmatch(line.lstrip())
    assert task  # noqa: S101 - it is the first line of a row
    start = len(indent_of(line)) + task.start("text")
    old = list(WORD.finditer(line, start))
    same = 0
    while same < min(len(old), len(words)) and old[-1 - same][0] == words[-1 - same]:
        same += 1
    new = words[: len(words) - same]
    if not new and same == len(old):
        return line
    behind = old[-same].start() if same else (old[-1].end() if old else len(line))
    return line[:start] + " ".join(new) + (" " if new and same else "") + line[behind:]


# -- metadata --------------------------------------------------------------------------------------------------------


def _with_fields(lines: Iterable[str], fields: Mapping[str, Any], task: str) -> list[str | None]:
    """Return the metadata lines of a row with other values; `None` for one that says nothing any more.

    Args:
        lines: At least one.
        fields: See `Change`; the row has an id among its tokens or here.
        task: Its task line, whose box can say the status.
    """
    after = list(lines)
    # The id first: the line that has it takes what is new.
    for key in sorted(fields, key=lambda key: (key != "todo_id", PLACE_OF_KEY[key])):
        written = "" if fields[key] is None else encode_value(fields[key])
        found = [(n, token) for n, line in enumerate(after) for token in tokens(line) if _key_of(token) == key]
        if not written:
            for n, token in reversed(found):
                after[n] = _without(after[n], token)
        elif found:
            read = [place for place in found if read_field(place[1].key, place[1].value) is not None]
            n, token = (read or found)[-1]
            after[n] = after[n][: token.value_at] + written + after[n][token.end :]
        elif key != "status" or not _box_says(task, written):
            n = _main(after)
            after[n] = _with_token(after[n], key, written)
    return _without_empty(after)


def _key_of(token: Token) -> str:
    """Return the key that a token sets: a policy that was removed is kept under another one."""
    removed = token.key == "continuation_policy" and read_field(token.key, token.value) in REMOVED_POLICIES
    return "removed_continuation_policy" if removed else token.key


def _box_says(task: str, status: str) -> bool:
    reading = read_line(task)
    return isinstance(reading, TaskLine) and STATUS_OF_MARKER[reading.marker] == status


def _main(lines: Sequence[str]) -> int:
    """Return which line has the id, or will have it."""
    return next((n for n, line in enumerate(lines) if "todo_id" in read_metadata(line)), 0)


def _with_token(line: str, key: str, written: str) -> str:
    """Return a metadata line with one more token: in front of the first one that comes later in the table."""
    found = list(tokens(line))
    later = (token for token in found if PLACE_OF_KEY.get(token.key, -1) > PLACE_OF_KEY[key])
    if follower := next(later, None):
        return f"{line[: follower.at]}{key}={written} {line[follower.at :]}"
    at = found[-1].end if found else len(line[: line.rindex(COMMENT_END)].rstrip())
    return f"{line[:at]} {key}={written}{line[at:]}"


def _without(line: str, token: Token) -> str:
    """Return a metadata line without a token and the gap in front of it; the first one can stand behind the colon."""
    has_gap = line[token.at - 1].isspace()
    return line[: token.at - has_gap] + line[token.end :]


def _without_empty(lines: Sequence[str]) -> list[str | None]:
    """Return the lines, of which one without a known field would be read as text: its words go to the others."""
    main, after = _main(lines), list[str | None](lines)
    for n, line in enumerate(lines):
        if n != main and not read_metadata(line):
            start, end = line.index(METADATA_WORD) + len(METADATA_WORD), line.rindex(COMMENT_END)
            words = " ".join(line[start:end].removeprefix(TODO_WORD).split())
            kept = str(after[main])
            at = len(kept[: kept.rindex(COMMENT_END)].rstrip())
            after[main] = f"{kept[:at]} {words}{kept[at:]}" if words else kept
            after[n] = None
    return after


# -- places ----------------------------------------------------------------------------------------------------------


def _put(draft: _Draft, document: GoalDocument, role: Role, texts: Iterable[str]) -> None:
    """Put rows behind the last one of a role's first section, or below its heading, or in a new section at the end."""
    region = next((region for region in document.regions if region.role == role), None)
    if region is None:
        at = max(len(draft.lines) - 1, 0)
        lead = [*([] if draft.ends_blank() else [""]), SECTION_START + NEW_HEADINGS[role], ""]
    elif rows := [todo for todo in document.todos if todo.region == region]:
        at, lead = _end_of(document, rows[-1]), []
    else:
        at, lead = _below_heading(draft.lines, region)
    for block in document.hidden:
        if block.first <= at < block.end and not block.closed:
            message = f"this {block.kind} never closes, so nobody would see a row below it; close it first"
            raise refusal_at(draft.lines, Fault(f"unclosed_{block.kind}", block.first, message))
    draft.put_behind(at, [*lead, *texts])


def _below_heading(lines: Lines, region: Region) -> tuple[int, list[str]]:
    """Return the line of a section without rows behind which one goes, and what comes in front of it."""
    if region.marked:
        at = region.body_end - 1
        return at, ["" for _ in range(bool(lines.texts[at].strip()))]
    at = region.first
    for index in range(region.first, region.body_end):
        if lines.texts[index].strip():
            at = index
    return at, [""]
