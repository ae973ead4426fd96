"""Formatting in an editor: what machines own of a document, as the renderer writes it. What people write is theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_engine.authority.delivery_failures import NotReplaceable
from stateward_engine.authority.display import section_edits, take_snapshot
from stateward_engine.errors import EngineError
from stateward_engine.goals.formatting import Formatted, format_rows, line_edits

if TYPE_CHECKING:
    from stateward_daemon.lsp.reading import Reading
    from stateward_daemon.lsp.session import LspSession


def text_edits(session: LspSession, uri: str, within: lsp.Range | None = None) -> list[lsp.TextEdit] | None:
    """Return the edits that format a document, or the rows and sections of it that a range touches.

    What cannot be formatted without losing something is left as it is, and the person is told why, once.
    """
    reading = session.reading(uri)
    if reading is None:
        return None
    try:
        found = _formatted(session, uri, reading)
    except (EngineError, NotReplaceable) as refusal:
        session.showing.tell_once(str(refusal))
        return None
    if within is not None:
        start, end = reading.offset(within.start), reading.offset(within.end)
        found = [each for each in found if each.span[0] <= end and start < each.span[1]]
    return [lsp.TextEdit(reading.range(edit.span), edit.text) for each in found for edit in each.edits]


def _formatted(session: LspSession, uri: str, reading: Reading) -> list[Formatted]:
    """Return what is replaced: rows of marked regions, or the sections of a promoted goal, which are a display.

    Raises:
        EngineError, NotReplaceable: Something would be lost.
    """
    goal = session.goal(uri)
    if goal is None or not goal.promoted:
        return format_rows(reading.goal)
    text = reading.goal.text
    sections = section_edits(text, take_snapshot(session.caller.host.store.view, goal.goal_id))
    return [Formatted(span, line_edits(text, span, wanted)) for span, wanted in sections]
