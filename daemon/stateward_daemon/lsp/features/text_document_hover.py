"""`textDocument/hover`: what stands at a place, and what is wrong there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.lsp import telling
from stateward_daemon.lsp.places import place_at
from stateward_daemon.lsp.prose import Prose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_daemon.lsp.places import Place
    from stateward_daemon.lsp.reading import Reading
    from stateward_daemon.lsp.session import LspSession
    from stateward_engine.goals.lines import Span


def handle(session: LspSession, params: lsp.HoverParams) -> lsp.Hover | None:
    """Tell about the smallest thing at the position and about the problems there; `None` where there is neither.

    The smallest is a reference into the state, then the id of a todo, a metadata token, and the row.
    """
    uri = params.text_document.uri
    reading = session.reading(uri)
    if reading is None:
        return None
    offset = reading.offset(params.position)
    prose = Prose(session.client.shows_markdown)
    place = place_at(reading.goal, offset)
    problems = [found for found in session.problems(uri, reading) if found.span[0] <= offset <= found.span[1]]
    said = list(_told(session, uri, reading, place, prose))
    paragraphs = [*said, *(telling.problem_told(prose, found) for found in problems)]
    if not paragraphs:
        return None
    span = _span(place) if said else problems[0].span
    return lsp.Hover(prose.content(paragraphs), reading.range(span))


def _told(session: LspSession, uri: str, reading: Reading, place: Place, prose: Prose) -> Iterator[str]:
    goal = session.goal(uri)
    if place.state_path:
        yield telling.reference_told(prose, session.caller, place.state_path.name)
        return
    row, named = place.todo, place.todo_id
    if named and (row is None or named.name != row.todo_id):
        found = reading.goal.todos_named(named.name)
        nobody = f"No row of this document has the id {prose.code(named.name)}."
        yield telling.todo_named(prose, found[0], goal) if found else nobody
    elif row and (named or not place.token):
        yield telling.todo_facts(prose, row, goal)
    if place.token:
        yield from telling.token_told(prose, place.token)


def _span(place: Place) -> Span:
    """Return where the smallest thing stands that was told."""
    if place.state_path:
        return place.state_path.span[0] - 1, place.state_path.span[1]
    things = [place.todo_id and place.todo_id.span, place.token and place.token.span, place.todo and place.todo.extent]
    return next(span for span in things if span)
