"""`textDocument/inlayHint`: beside a reference what it leads to, and beside a row its generated id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.lsp.places import state_paths_in
from stateward_daemon.lsp.prose import Prose
from stateward_daemon.lsp.telling import Named, told_of
from stateward_daemon.state_keys import keys_or_none
from stateward_engine.goals.passages import REFERENCE_SIGN
from stateward_engine.goals.todo_codec import LineKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_daemon.lsp.reading import Reading
    from stateward_daemon.lsp.session import LspSession
    from stateward_engine.goals.lines import Span


def handle(session: LspSession, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    """Return the hints of the asked range. Of the state they say keys and kinds, and they follow its changes."""
    uri = params.text_document.uri
    reading = session.reading(uri)
    if reading is None:
        return []
    session.follow(uri, reading)
    span = reading.offset(params.range.start), reading.offset(params.range.end)
    hints = [*_of_references(session, uri, reading, span), *_of_rows(uri, reading, span)]
    if not session.client.resolves_tooltips:
        prose = Prose(session.client.shows_markdown)
        for hint in hints:
            hint.tooltip = told_of(session, prose, hint.data)
    return hints


def _of_references(session: LspSession, uri: str, reading: Reading, span: Span) -> Iterator[lsp.InlayHint]:
    layout = reading.goal.layout
    if not layout.passages or REFERENCE_SIGN not in layout.between(*span):
        return
    for number in range(layout.line_at(span[0]), layout.line_at(span[1]) + 1):
        line = layout.line(number)
        if REFERENCE_SIGN not in line.text or layout.reading(number) is LineKind.HIDDEN:
            continue
        for mention in state_paths_in(line.text, line.start):
            keys = keys_or_none(session.caller, mention.name)
            if keys is not None and span[0] <= mention.span[1] <= span[1]:
                label = f"\N{RIGHTWARDS ARROW} {keys}"
                yield _hint(reading, mention.span[1], label, Named(uri, path=mention.name))


def _of_rows(uri: str, reading: Reading, span: Span) -> Iterator[lsp.InlayHint]:
    for todo in reading.goal.todos_in(span):
        end = todo.span[1]
        if todo.id_line is None and span[0] <= end <= span[1]:
            yield _hint(reading, end, todo.todo_id, Named(uri, todo=todo.todo_id))


def _hint(reading: Reading, offset: int, label: str, named: Named) -> lsp.InlayHint:
    place = reading.range((offset, offset)).start
    return lsp.InlayHint(place, label, padding_left=True, data=named.data())
