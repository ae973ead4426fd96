"""Unpromoted goals for tests: a document, and one way to ask for an edit of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from authority.planted import GOAL, NOON, goal_of, promoted_goal, run
from stateward_engine.authority.commands import RecordEdit
from stateward_engine.authority.markdown_operations import apply, receipt_for
from stateward_engine.authority.operations import replayed
from stateward_engine.errors import RequestError
from stateward_engine.goals.document import read_bytes, read_document

if TYPE_CHECKING:
    from stateward_engine.authority.commands import TodoOperation
    from stateward_engine.state.view import View

HEAD: Final = "# Looms\n\n## Agent Todo\n\n"


def unpromoted_goal(**planes: Any) -> View:
    """Return a view with one goal whose document is the authority."""
    authority = {"store_id": "5704e1d5", "promoted": False, "agents": [], "at": "2026-12-01T08:00:00Z"}
    return promoted_goal(**{"authority": authority, **planes})


class Outcome(NamedTuple):
    """What an edit came to: the answer, the text and the view after it."""

    answer: Any
    text: str
    view: View


def edit(text: str | bytes, command: TodoOperation, view: View | None = None, at: str = NOON) -> Outcome:
    """Edit a document and keep the receipt, as a daemon does that nothing disturbs."""
    view = view or unpromoted_goal()
    goal = goal_of(view)
    document = read_document(text) if isinstance(text, str) else read_bytes(text)
    if answer := replayed(view, goal, command):
        return Outcome(answer, document.text, view)
    edited = apply(goal, document, command, goal.now(at))
    due = receipt_for(goal, command, edited)
    if not isinstance(due, RecordEdit):
        return Outcome(due, document.text if command.dry_run else edited.text, view)
    answer, after = run(view, due, at)
    return Outcome(answer, edited.text, after)


def refused(text: str | bytes, command: TodoOperation, view: View | None = None) -> RequestError:
    """Return the refusal of an edit."""
    with pytest.raises(RequestError) as caught:
        edit(text, command, view)
    return caught.value


def asked(kind: type[Any], **members: Any) -> Any:
    """Return a command about the goal of these tests."""
    return kind(goal_id=GOAL, **{"operation_id": "op-1", **members})


def again(command: TodoOperation, **members: Any) -> Any:
    """Return a command with other members."""
    return replace(command, **members)
