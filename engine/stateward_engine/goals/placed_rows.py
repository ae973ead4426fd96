"""Placed rows: the rows of a passage in their place, which is all that reading again leaves as it is elsewhere."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from stateward_engine.goals.items import read_items
from stateward_engine.goals.todos import (
    DONE_STATUSES,
    Todo,
    generated_id,
    references_in,
    status_of,
    task_class_of,
    text_of,
    waiting,
)

if TYPE_CHECKING:
    from stateward_engine.goals.passages import Passage
    from stateward_engine.goals.regions import Region, Role
    from stateward_engine.goals.todo_codec import Row
    from stateward_engine.json_value import Json


class Place(NamedTuple):
    """What the rows of a passage get from where they stand.

    Attributes:
        region_role: Whose rows their region has.
        section: Heading of the first region of that role.
        first: Position of the first row among all rows of that role, from 1.
    """

    region_role: Role
    section: str
    first: int


class PlacedRows:
    """The rows of one passage in one place. An edit elsewhere that moves none of them leaves all of this as it is.

    Attributes:
        passage: The passage.
        place: The place.
        ids: The id of each row.
        implicit: Indices of the rows whose id is generated.
    """

    def __init__(self, passage: Passage, place: Place) -> None:
        self.passage, self.place = passage, place
        self.implicit = [index for index, row in enumerate(passage.rows) if row.id_line is None]
        self.ids: list[str] = [row.fields.get("todo_id", "") for row in passage.rows]
        for index in self.implicit:
            row = passage.rows[index]
            self.ids[index] = generated_id(self._role(row), place.section, place.first + index, text_of(row))

    @cached_property
    def items(self) -> list[dict[str, Json]]:
        """The rows as the projection shows them; of active rows alone."""
        return list(read_items(self.passage.rows, self.ids, *self.place))

    @cached_property
    def open_count(self) -> int:
        """How many rows are open."""
        return sum(status_of(row) == "open" for row in self.passage.rows)

    @cached_property
    def done_count(self) -> int:
        """How many rows are done or deferred."""
        return sum(status_of(row) in DONE_STATUSES for row in self.passage.rows)

    @cached_property
    def targets(self) -> frozenset[str]:
        """The ids of the rows that these rows name."""
        return frozenset(target for row in self.passage.rows for _, target in references_in(row.fields))

    @cached_property
    def waits(self) -> list[tuple[str, str]]:
        """Who waits for whom, as these rows say."""
        return [
            pair
            for row, todo_id in zip(self.passage.rows, self.ids, strict=True)
            if status_of(row) != "done"
            for key, target in references_in(row.fields)
            if (pair := waiting(todo_id, key, target))
        ]

    def todo(self, index: int, offset: int, region: Region) -> Todo:
        """Return one row with all that is known of it.

        Args:
            index: Which row.
            offset: Where the passage begins in its document.
            region: The region that it stands in.
        """
        row = self.passage.rows[index]
        lines, text = self.passage.lines, text_of(row)
        start = offset + lines.starts[row.first]
        return Todo(
            todo_id=self.ids[index],
            role=self._role(row),
            region=region,
            source_section=self.place.section,
            ordinal=self.place.first + index,
            status=status_of(row),
            full_text=row.text,
            text=text,
            task_class=task_class_of(row, text),
            fields=row.fields,
            odd=row.odd,
            span=(start, start + len(lines.texts[row.first])),
            extent=(start, offset + lines.span(row.last)[1]),
            id_line=None if row.id_line is None else (offset + lines.starts[row.id_line], lines.texts[row.id_line]),
        )

    def _role(self, row: Row) -> str | None:
        return row.fields.get("role") if self.place.region_role == "archive" else self.place.region_role
