"""Rows: what long answers say about every row of a document, found once per passage."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from stateward_daemon.lsp.by_passage import by_passage
from stateward_daemon.lsp.plain import Position, Range
from stateward_daemon.positions import units_in
from stateward_engine.goals.priority import read_priority
from stateward_engine.goals.todos import status_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_daemon.lsp.reading import Reading
    from stateward_daemon.positions import Encoding
    from stateward_engine.goals.fields import Fields
    from stateward_engine.goals.passages import Passage
    from stateward_engine.goals.regions import Region


class ShownRow(NamedTuple):
    """A row as an answer shows it.

    Attributes:
        todo_id: Its id, written or generated.
        todo_id_source: Where that comes from, as `Todo` says it.
        title: Its text without a priority; it may be nothing.
        role: As of a `Todo`.
        status: Of its metadata, or else of its box.
        fields: The accepted metadata.
        archived: Whether it is history.
        line: Index of its first line.
        width: Of its first line, in code units.
        last: Index of its last line.
        last_width: Of that.
    """

    todo_id: str
    todo_id_source: str
    title: str
    role: str | None
    status: str
    fields: Fields
    archived: bool
    line: int
    width: int
    last: int
    last_width: int

    @property
    def span(self) -> Range:
        """Where its first line stands."""
        return Range(Position(self.line, 0), Position(self.line, self.width))


class _Row(NamedTuple):
    source: str
    title: str
    status: str
    fields: Fields
    first: int
    width: int
    last: int
    last_width: int


def shown_rows(reading: Reading) -> Iterator[ShownRow]:
    """Yield the rows of all regions in document order, archived ones included."""
    for region, start, placed in reading.goal.placed():
        role, archived = region.role, region.role == "archive"
        for todo_id, row in zip(placed.ids, _rows(placed.passage, reading.encoding), strict=True):
            source, title, status, fields, first, width, last, last_width = row
            owner = fields.get("role") if archived else role
            at = start + first, width, start + last, last_width
            yield ShownRow(todo_id, source, title, owner, status, fields, archived, *at)


def status_counts(reading: Reading) -> dict[Region, Counter[str]]:
    """Return how many rows of each status a region has."""
    found: dict[Region, Counter[str]] = {}
    for region, _, placed in reading.goal.placed():
        found.setdefault(region, Counter()).update(_statuses(placed.passage))
    return found


@by_passage
def _rows(passage: Passage, encoding: Encoding) -> list[_Row]:
    texts = passage.lines.texts

    def width(line: int) -> int:
        return units_in(texts[line], encoding)

    return [
        _Row(
            "generated" if row.id_line is None else "metadata",
            _title(text_of(row)),
            status_of(row),
            row.fields,
            *(row.first, width(row.first)),
            *(row.last, width(row.last)),
        )
        for row in passage.rows
    ]


@by_passage
def _statuses(passage: Passage) -> Counter[str]:
    return Counter(map(status_of, passage.rows))


def _title(text: str) -> str:
    priority = read_priority(text)
    return text if priority is None else priority.title
