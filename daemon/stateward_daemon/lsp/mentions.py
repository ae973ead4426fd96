"""Mentions: where a todo or a path of the state is written in a document, what gives a row its id included."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from stateward_daemon.lsp.places import ids_in, place_at, state_paths_in

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.reading import Reading
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.lines import Span


class Subject(NamedTuple):
    """What a place of a document is about.

    Attributes:
        name: The id of a todo, or a path without its dollar sign.
        span: Where it is written there. The place of a row that has no id of its own is its first line.
        is_path: Whether it is a path.
    """

    name: str
    span: Span
    is_path: bool


class Mention(NamedTuple):
    """Where a subject is written.

    Attributes:
        span: The place.
        names_row: Whether it is what gives a row its id; the first line of a row that has no id of its own.
    """

    span: Span
    names_row: bool


def subject_at(reading: Reading | None, position: lsp.Position) -> Subject | None:
    """Return what is written at a position, or else the row there; `None` where there is neither."""
    if reading is None:
        return None
    place = place_at(reading.goal, reading.offset(position))
    if place.state_path is not None:
        return Subject(*place.state_path, is_path=True)
    if place.todo_id is not None:
        return Subject(*place.todo_id, is_path=False)
    if place.todo is not None:
        return Subject(place.todo.todo_id, place.todo.id_span or place.todo.span, is_path=False)
    return None


def mentions(document: GoalDocument, subject: Subject) -> list[Mention]:
    """Return where a document mentions a subject in its visible text, in order."""
    name, find = subject.name, state_paths_in if subject.is_path else ids_in
    rows = [] if subject.is_path else document.todos_named(name)
    naming = {todo.id_span or todo.span for todo in rows}
    written: set[Span] = set()
    # Nearly no passage and no line holds it, and to look for that costs little.
    needle = name.lower()
    for passage, offset in zip(document.layout.passages, document.layout.offsets, strict=False):
        if needle not in passage.text.lower():
            continue
        for line, text in enumerate(passage.lines.texts):
            if needle in text.lower() and not passage.is_hidden(line):
                found = find(text, offset + passage.lines.starts[line])
                written.update(one.span for one in found if one.name == name)
    return [Mention(span, span in naming) for span in sorted(written | naming)]
