"""Places: what stands at a position of a document, for every feature that starts from the cursor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.goals.fields import TODO_ID
from stateward_engine.goals.problems import shifted
from stateward_engine.goals.row_problems import placed_tokens
from stateward_engine.goals.todo_codec import LineKind
from stateward_engine.state.references import REF, address, mention_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.lines import Span
    from stateward_engine.goals.row_problems import Placed
    from stateward_engine.goals.todos import Todo

# Whole words in text, and members of values, where a space or what separates members may be escaped. The word in front
# of the id that a row waits for is none.
_ID: Final = re.compile(
    r"(?:(?<![A-Za-z0-9_-])|(?<=%2[0Cc])|(?<=%3[ABab])|(?<=%7[Cc]))(?!todo_done(?::|%3[Aa])todo_)"
    r"[Tt][Oo][Dd][Oo]_[A-Za-z0-9_-]+"
)


_STRUCTURED: Final = re.compile(rf'"{re.escape(REF)}"\s*:\s*"([^"\\]*)"')


class Written(NamedTuple):
    """A name that is written in a document, and where."""

    name: str
    span: Span


class Place(NamedTuple):
    """What stands at an offset; a place can be several things at once.

    Attributes:
        offset: In code points of the text.
        todo: The row whose lines hold it.
        token: The metadata token there.
        todo_id: The id of a todo that is written there.
        state_path: The path of a reference into the state there, without its dollar sign or quotes.
    """

    offset: int
    todo: Todo | None
    token: Placed | None
    todo_id: Written | None
    state_path: Written | None


def place_at(document: GoalDocument, offset: int) -> Place:
    """Return what stands at an offset. It costs the surroundings of the place, not the document."""
    layout = document.layout
    row = next(iter(document.todos_in((offset, offset))), None)
    token = None
    if row is not None:
        text = layout.between(*row.extent)
        token = next((found for found in placed_tokens(text, row.extent[0]) if _holds(found.span, offset)), None)
    number = layout.line_at(offset)
    if not layout.passages or layout.reading(number) is LineKind.HIDDEN:
        return Place(offset, row, token, None, None)
    line = layout.line(number)
    return Place(
        offset,
        row,
        token,
        _at(ids_in(line.text, line.start), offset),
        state_path_at(line.text, line.start, offset),
    )


def ids_in(text: str, at: int = 0) -> Iterator[Written]:
    """Yield the todo ids that stand in a text, which stands at an offset; ids are read without regard to case.

    >>> [found.name for found in ids_in("todo_one,Todo_Two%2Ctodo_three todo_done:todo_four my_todo_five")]
    ['todo_one', 'todo_two', 'todo_three', 'todo_four']
    """
    for found in _ID.finditer(text):
        if TODO_ID.fullmatch(name := found[0].lower()):
            yield Written(name, shifted(found.span(), at))


def state_paths_in(text: str, at: int = 0) -> Iterator[Written]:
    """Yield the references into the state that stand in a text, which stands at an offset.

    Textual ones come first, without dollar signs, then structured ones, without quotes.

    >>> [found.name for found in state_paths_in('see $cwd.lazy.plan, {"$ref": "lazy.notes"}')]
    ['cwd.lazy.plan', 'lazy.notes']
    """
    structured = (found.span(1) for found in _STRUCTURED.finditer(text) if address(found[1]) is not None)
    for span in (*mention_spans(text), *structured):
        yield Written(text[slice(*span)], shifted(span, at))


def state_path_at(text: str, at: int, offset: int) -> Written | None:
    """Return the reference into the state that stands at an offset, its dollar sign or quote included, or `None`.

    Args:
        text: The line of the offset.
        at: Where it stands.
        offset: As `at`, in code points of the whole text.
    """
    marked = (found for found in state_paths_in(text, at) if _holds((found.span[0] - 1, found.span[1]), offset))
    return next(marked, None)


def _at(written: Iterable[Written], offset: int) -> Written | None:
    return next((found for found in written if _holds(found.span, offset)), None)


def _holds(span: Span, offset: int) -> bool:
    return span[0] <= offset <= span[1]
