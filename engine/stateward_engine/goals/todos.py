"""Todos: rows with an identity, a status and a place in the document."""

from __future__ import annotations

from hashlib import sha1
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from stateward_engine.goals.compact import clip
from stateward_engine.goals.fields import Fields, read_field
from stateward_engine.goals.priority import Priority, read_priority
from stateward_engine.goals.task_class import infer_task_class
from stateward_engine.goals.todo_codec import tokens, written_status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_engine.goals.lines import Span
    from stateward_engine.goals.regions import Region
    from stateward_engine.goals.todo_codec import Row

REFERRING_KEYS: Final = ("unblocks_todo_id", "successor_todo_ids", "resume_when", "superseded_by")
TODO_DONE: Final = "todo_done:"
DONE_STATUSES: Final = frozenset({"done", "deferred"})
# A row is a line in lists, hovers and status views; the document keeps its whole text.
TEXT_CHARACTERS_MAX: Final = 500
GENERATED_ID_DIGITS: Final = 12


class Reference(NamedTuple):
    """One row, by its place among others, that names a todo under a key."""

    place: int
    key: str
    target: str


class Wait(NamedTuple):
    """Who waits for whom because of a reference."""

    name: str
    target: str
    reference: Reference


class Todo(NamedTuple):
    """One row of a todo section, with all that is known of it.

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


def references_in(fields: Fields) -> Iterator[tuple[str, str]]:
    """Yield the other rows that a row names in its metadata, with the key of each."""
    for key in REFERRING_KEYS:
        value = fields.get(key)
        if value is None:
            continue
        if key == "resume_when":
            if value.startswith(TODO_DONE):
                yield key, value.removeprefix(TODO_DONE)
        else:
            for target in [value] if isinstance(value, str) else value:
                yield key, target


def waiting(todo_id: str, key: str, target: str) -> tuple[str, str] | None:
    """Return who waits for whom because of a reference, or `None` when it makes nobody wait."""
    if key == "unblocks_todo_id":
        return target, todo_id
    return (todo_id, target) if key == "resume_when" else None


def status_of(row: Row) -> str:
    """Return the status of a row."""
    return written_status(row.marker, row.fields.get("status"))


def text_of(row: Row) -> str:
    """Return what a row says, clipped."""
    return clip(row.text, TEXT_CHARACTERS_MAX)


def task_class_of(row: Row, text: str) -> str:
    """Return the class of a row: that of its metadata, or else what its kind and its clipped text let infer."""
    return row.fields.get("task_class") or infer_task_class(row.fields.get("action_kind"), text)
