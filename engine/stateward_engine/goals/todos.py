"""Todos: rows with an identity, a status and a place in the document."""

from __future__ import annotations

from collections import Counter
from hashlib import sha1
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from stateward_engine.goals.compact import clip
from stateward_engine.goals.fields import Fields, read_field
from stateward_engine.goals.priority import Priority, read_priority
from stateward_engine.goals.task_class import infer_task_class
from stateward_engine.goals.todo_codec import INDENT, Reading, Row, read_rows, tokens
from stateward_engine.goals.visible import COMMENT_START

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stateward_engine.goals.lines import Lines, Span
    from stateward_engine.goals.regions import Region, Role

STATUS_OF_MARKER: Final = {" ": "open", "x": "done", "X": "done", "-": "deferred"}
DONE_STATUSES: Final = frozenset({"done", "deferred"})
# A row is a line in lists, hovers and status views; the document keeps its whole text.
TEXT_CHARACTERS_MAX: Final = 500
GENERATED_ID_DIGITS: Final = 12


class Todo(NamedTuple):
    """One row of a todo section: a tuple, because documents hold thousands and every read makes them all.

    Attributes:
        todo_id: Explicit, or generated from what the row says and where.
        role: `user` or `agent`; of an archived row what its metadata says, or `None`.
        region: The region it stands in.
        source_section: Heading of the first region of the same role.
        ordinal: Position among all rows of the region's role, from 1; the projection calls it `index`.
        status: Of its metadata, or else of its box.
        full_text: Everything it says, compacted.
        text: The same, clipped to `TEXT_CHARACTERS_MAX`.
        task_class: Of its metadata, or else inferred.
        fields: The accepted metadata.
        odd: Whether something about the row may have to be told: its problems are worth looking for.
        span: Where its first line stands.
        extent: Where all of it stands, metadata and continuations included.
        id_line: Offset and text of the metadata line that gave the id, or `None` when the id is generated.
    """

    todo_id: str
    role: str | None
    region: Region
    source_section: str
    ordinal: int
    status: str
    full_text: str
    text: str
    task_class: str
    fields: Fields
    odd: bool
    span: Span
    extent: Span
    id_line: tuple[int, str] | None

    @property
    def todo_id_source(self) -> Literal["metadata", "generated"]:
        """Where the id comes from."""
        return "generated" if self.id_line is None else "metadata"

    @property
    def archived(self) -> bool:
        """Whether the row is history: it keeps its id for good and never enters the projection."""
        return self.region.role == "archive"

    @property
    def done(self) -> bool:
        """Whether nothing is left to do, now or until the row is taken up again."""
        return self.status in DONE_STATUSES

    @property
    def priority(self) -> Priority | None:
        """The label in front of the text and the title behind it, or `None`."""
        return read_priority(self.text)

    @property
    def id_span(self) -> Span | None:
        """Where the value of the explicit id stands, or `None` when the id is generated."""
        if self.id_line is None:
            return None
        offset, text = self.id_line
        for token in reversed(list(tokens(text))):
            if token.key == "todo_id" and read_field(token.key, token.value) == self.todo_id:
                start = offset + token.at + len("todo_id=")
                return start, start + len(token.value)
        return None


def read_todos(lines: Lines, readings: Sequence[Reading], regions: Iterable[Region]) -> tuple[Todo, ...]:
    """Return the rows of all regions in document order, archived ones included.

    Source: goal-documents 1.4 and 1.7.
    """
    todos: list[Todo] = []
    counts: Counter[Role] = Counter()
    sections: dict[Role, str] = {}
    for region in regions:
        section = sections.setdefault(region.role, region.heading)
        for row in read_rows(lines, readings, region.body, region.body_end):
            counts[region.role] += 1
            todos.append(_todo(lines, row, region, section, counts[region.role]))
    return tuple(todos)


def box_agrees(marker: str, status: str) -> bool:
    """Whether a box says the same as a status; an empty one also stands for a blocked row."""
    return STATUS_OF_MARKER[marker] == status or (status == "blocked" and marker == " ")


def generated_id(role: str | None, section: str, ordinal: int, text: str) -> str:
    """Return the id of a row that has none of its own; it changes as soon as any of the four does.

    Args:
        role: `user` or `agent`; `None` for an archived row that does not say.
        section: Heading of the first region of the row's role.
        ordinal: Position among the rows of that role, from 1.
        text: Compacted and clipped.

    Source: goal-documents 1.7.

    >>> generated_id("agent", "Agent Todo", 1, "alpha")
    'todo_c7a1dda94b73'
    """
    # A buffer can hold half a character, and even that row needs an id. SHA-1 names here; it protects nothing.
    named = f"{role or ''}|{section}|{ordinal}|{text}".encode("utf-8", "surrogatepass")
    return "todo_" + sha1(named, usedforsecurity=False).hexdigest()[:GENERATED_ID_DIGITS]


def _todo(lines: Lines, row: Row, region: Region, section: str, ordinal: int) -> Todo:
    fields = row.fields
    role = fields.get("role") if region.role == "archive" else region.role
    full_text = row.text()
    text = clip(full_text, TEXT_CHARACTERS_MAX)
    start = lines.starts[row.first]
    status = fields.get("status") or STATUS_OF_MARKER[row.marker]
    return Todo(
        todo_id=fields.get("todo_id") or generated_id(role, section, ordinal, text),
        role=role,
        region=region,
        source_section=section,
        ordinal=ordinal,
        status=status,
        full_text=full_text,
        text=text,
        task_class=fields.get("task_class") or infer_task_class(fields.get("action_kind"), text),
        fields=fields,
        odd=row.odd
        or COMMENT_START in full_text
        or not full_text
        or not box_agrees(row.marker, status)
        or lines.texts[row.first].startswith(INDENT),
        span=(start, start + len(lines.texts[row.first])),
        extent=(start, lines.starts[row.last] + len(lines.texts[row.last])),
        id_line=None if row.id_line is None else (lines.starts[row.id_line], lines.texts[row.id_line]),
    )
