"""`textDocument/definition`: from a reference to the value in a virtual document, from a todo id to its row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from lsprotocol import types as lsp

from stateward_daemon.lsp.everywhere import known_documents
from stateward_daemon.lsp.places import place_at, state_path_at
from stateward_daemon.positions import LineIndex, line_end
from stateward_daemon.virtual import document_of, is_virtual, target_of
from stateward_engine.errors import EngineError
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from stateward_daemon.lsp.places import Written
    from stateward_daemon.lsp.session import LspSession
    from stateward_engine.goals.lines import Span

Definition: TypeAlias = list[lsp.Location] | list[lsp.LocationLink] | None


class _Found(NamedTuple):
    """Where something is defined: the range of all of it, and that of its name."""

    uri: str
    whole: lsp.Range
    name: lsp.Range


def handle(session: LspSession, params: lsp.DefinitionParams) -> Definition:
    """Return where what is written at the position is defined, `None` where it is nothing or nowhere."""
    uri = params.text_document.uri
    if is_virtual(uri):
        return _from_virtual(session, uri, params.position)
    reading = session.reading(uri)
    if reading is None:
        return None
    place = place_at(reading.goal, reading.offset(params.position))
    if place.state_path is not None:
        return _shown(session, _of_state(session, place.state_path), reading.range(place.state_path.span))
    if place.todo_id is not None:
        return _shown(session, _of_todo(session, uri, place.todo_id.name), reading.range(place.todo_id.span))
    return None


def _from_virtual(session: LspSession, uri: str, position: lsp.Position) -> Definition:
    """Follow a reference that stands in a value."""
    try:
        text = document_of(session.caller, uri).text
    except (EngineError, WireError):
        return None
    index, encoding = LineIndex(text), session.client.encoding
    start, offset = index.offset(position.line, 0), index.offset(position.line, position.character, encoding)
    written = state_path_at(text[start : line_end(text, start)], start, offset)
    if written is None:
        return None
    return _shown(session, _of_state(session, written), _range(session, index, written.span))


def _of_state(session: LspSession, written: Written) -> list[_Found]:
    # Other clients would look for a file of that name.
    target = target_of(session.caller, written.name) if session.client.shows_virtual else None
    if target is None:
        return []
    index = LineIndex(target.document.text)
    return [_Found(target.document.uri, *(_range(session, index, span) for span in (target.whole, target.name)))]


def _of_todo(session: LspSession, uri: str, todo_id: str) -> list[_Found]:
    """Return the rows of an id in the first document that has any: this one, or else one of the others."""
    for known in known_documents(session, uri):
        if rows := known.reading.goal.todos_named(todo_id):
            reading = known.reading
            return [_Found(known.uri, reading.range(row.extent), reading.range(row.span)) for row in rows]
    return []


def _shown(session: LspSession, found: list[_Found], origin: lsp.Range) -> Definition:
    if not found:
        return None
    if session.client.takes_links:
        return [lsp.LocationLink(place.uri, place.whole, place.name, origin) for place in found]
    return [lsp.Location(place.uri, place.name) for place in found]


def _range(session: LspSession, index: LineIndex, span: Span) -> lsp.Range:
    start, end = (lsp.Position(*index.position(offset, session.client.encoding)) for offset in span)
    return lsp.Range(start, end)
