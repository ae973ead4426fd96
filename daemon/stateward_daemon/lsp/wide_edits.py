"""Wide edits: actions that change many rows at once. To make one costs a look at the whole document.

So a client that can ask for the edit of an action when somebody takes it gets the action without its edit, and any
other one gets it only where it asks for actions itself, not with each move of its cursor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp

from stateward_daemon.lsp.edits import workspace_edit
from stateward_engine.goals.mending import mend
from stateward_engine.goals.problems import Edit
from stateward_protocol.errors import WireError, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from stateward_daemon.lsp.reading import Reading
    from stateward_daemon.lsp.session import LspSession
    from stateward_engine.goals.problems import Problem

FIX_ALL: Final = "source.fixAll.stateward"
IMPLICIT: Final = "implicit_todo_ids"


def wide_actions(
    session: LspSession, uri: str, reading: Reading, problems: list[Problem], near: Iterable[Problem], *, asked: bool
) -> Iterator[lsp.CodeAction]:
    """Yield the actions that change many rows at once.

    Args:
        session: Whose client asks.
        uri: Of the document.
        reading: The text.
        problems: All that is wrong with it.
        near: What of that touches the place that is asked about.
        asked: Whether somebody has asked, and not the editor by itself.
    """
    if not (asked or session.client.resolves_edits):
        return
    rows = _rows_without_id(problems)
    if len(rows) > 1 and any(found.code == IMPLICIT for found in near):
        title = f"Give all {len(rows)} rows their ids"
        yield _action(session, uri, reading, title, "ids")
    refusal = reading.goal.refusal
    if refusal is None and any(found.fix and found.fix.safe for found in problems):
        yield _action(session, uri, reading, "Make all safe fixes", "fix_all")
    elif refusal is not None and session.client.takes_disabled:
        reason = lsp.CodeActionDisabled(f"mend first what refuses the document: {refusal}")
        yield lsp.CodeAction("Make all safe fixes", FIX_ALL, disabled=reason)


def resolved(session: LspSession, action: lsp.CodeAction) -> lsp.CodeAction:
    """Return an action with its edit.

    Raises:
        WireError: The text is another one by now.
    """
    named: Any = action.data
    if not isinstance(named, dict) or named.get("make") not in _MAKERS:
        return action
    uri, reading = str(named.get("uri")), session.reading(str(named.get("uri")))
    if reading is None or reading.version != named.get("version"):
        raise WireError(
            "invalid_request",
            "the text is another one by now; ask for its actions again",
            path="$.params.data.version",
            got=shortened(str(named.get("version"))),
        )
    action.edit = _edit(session, uri, reading, named["make"])
    return action


def _action(session: LspSession, uri: str, reading: Reading, title: str, make: str) -> lsp.CodeAction:
    kind, _ = _MAKERS[make]
    if session.client.resolves_edits:
        return lsp.CodeAction(title, kind, data={"uri": uri, "version": reading.version, "make": make})
    return lsp.CodeAction(title, kind, edit=_edit(session, uri, reading, make))


def _edit(session: LspSession, uri: str, reading: Reading, make: str) -> lsp.WorkspaceEdit:
    _, edits = _MAKERS[make]
    return workspace_edit(uri, reading, edits(session, uri, reading), session.client)


def _give_ids(session: LspSession, uri: str, reading: Reading) -> list[Edit]:
    rows = _rows_without_id(session.problems(uri, reading))
    return [edit for found in rows if found.fix for edit in found.fix.edits]


def _fix_all(session: LspSession, uri: str, reading: Reading) -> list[Edit]:
    document = reading.goal
    start, end, text = document.layout.difference(mend(document.text, session.configuration(uri).rules).text)
    return [] if (start, end, text) == (start, start, "") else [Edit((start, end), text)]


def _rows_without_id(problems: Iterable[Problem]) -> list[Problem]:
    # Not those whose author has written an id that counts for nothing.
    return [found for found in problems if found.code == IMPLICIT and found.fix and found.fix.safe]


# By what an action is remembered as: its kind, and what makes its edits.
_MAKERS: Final[dict[str, tuple[str, Callable[[LspSession, str, Reading], list[Edit]]]]] = {
    "ids": (lsp.CodeActionKind.QuickFix, _give_ids),
    "fix_all": (FIX_ALL, _fix_all),
}
