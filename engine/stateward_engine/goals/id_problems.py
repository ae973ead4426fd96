"""What is wrong with the ids of rows: those that are generated, and those that several rows have.

Source: goal-documents 1.10 and section 5.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from stateward_engine.goals.lines import indent_of, split_lines
from stateward_engine.goals.problems import RELATED_MAX, Edit, Fix, Problem, problem
from stateward_engine.goals.todo_codec import METADATA_WORD, TODO_WORD

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from stateward_engine.goals.todos import Todo


def implicit_id(todo_id: str, text: str, at: int, newline: str, *, has_fields: bool) -> Problem:
    """Return the problem of a row with a generated id.

    Args:
        todo_id: That id.
        text: All that the row says, from its task line on.
        at: Where that text stands.
        newline: What ends a new line.
        has_fields: Whether the row has metadata.
    """
    message = (
        "this row has no id of its own, and the generated one changes when a row above it comes or goes; "
        f"add the indented line `<!-- loopx:todo todo_id={todo_id} -->` below it"
    )
    token = f"todo_id={todo_id}"
    lead = f"{METADATA_WORD}{TODO_WORD}"
    if has_fields and lead in text:
        place = at + text.rindex(lead) + len(lead)
        edit = Edit((place, place), f" {token}")
    else:
        place = at + len(text)
        edit = Edit((place, place), f"{newline}{indent_of(text)}  <!-- {lead} {token} -->")
    # An id that could not be read, or that stands in the wrong place: the author knows another one.
    fix = Fix("give the row its id", (edit,), safe="todo_id" not in text)
    return problem("implicit_todo_ids", message, (at, at + len(split_lines(text).texts[0])), fix=fix)


def duplicate_ids(todos: Sequence[Todo], taken: Container[str]) -> Iterator[Problem]:
    """Yield a problem for each of several rows with the same id.

    Args:
        todos: These rows.
        taken: All ids of the document.
    """
    places = [(todo.id_span or todo.span, _place(todo)) for todo in todos]
    todo_id = todos[0].todo_id
    message = (
        f"{todo_id} stands on {len(todos)} rows; give each row an id of its own, and keep an archived one as it is"
    )
    shown = places[: RELATED_MAX + 1]
    # The archive and the first row keep the id.
    keeper = next((todo for todo in todos if todo.archived), todos[0])
    for todo, (span, place) in zip(todos, places, strict=True):
        others = [other for other in shown if other != (span, place)]
        fix = None
        if todo is not keeper and not todo.archived and todo.id_span:
            free = free_id(todo_id, taken)
            fix = Fix(f"give this row the id {free}", (Edit(todo.id_span, free),))
        yield problem("duplicate_todo_ids", message, span, others[:RELATED_MAX], fix=fix)


def free_id(wanted: str, taken: Container[str]) -> str:
    """Return an id that no row has: the wanted one, or else one that begins like it."""
    candidates = (f"{wanted[:60]}_{number}" for number in count(2))
    return wanted if wanted not in taken else next(candidate for candidate in candidates if candidate not in taken)


def _place(todo: Todo) -> str:
    where = "in the archive" if todo.archived else f"for the {todo.role}"
    return f"the same id, {where}"
