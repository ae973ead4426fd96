"""Promoted goals for the tests of what is decided about them, and one way to commit: applied, replayed and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from stateward_engine.authority.decide import decide
from stateward_engine.authority.goal import find_goal, identity_of
from stateward_engine.errors import Refused
from stateward_engine.state.draft import Draft
from stateward_engine.state.transition import Repeat, Transition, from_entry
from stateward_engine.state.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stateward_engine.authority.commands import GoalCommand, Operation
    from stateward_engine.authority.goal import Goal, HandoffMode

GOAL: Final = "looms"
STORE: Final = "5704e1d5"
NOON: Final = "2026-12-01T12:00:00Z"
# A minute after it.
LATER: Final = "2026-12-01T12:01:00Z"
# What a record of a test has unless it says otherwise.
PLAIN: Final[Mapping[str, Any]] = {
    "schema_version": "todo_domain_record_v0",
    "todo_id": "todo_warp",
    "role": "agent",
    "status": "open",
    "done": False,
    "text": "[P1] Warp the loom.",
    "priority": "P1",
    "title": "Warp the loom.",
    "archive_state": "active",
}


def record(todo_id: str = "todo_warp", **members: Any) -> dict[str, Any]:
    """Return a native record; a text says its priority and title, and a status whether it is done."""
    given = {**PLAIN, "todo_id": todo_id, **members}
    given["done"] = given["status"] in ("done", "deferred")
    if "text" in members:
        given["priority"], given["title"] = given["text"][1:3], given["text"][5:]
    return given


def promoted_goal(
    records: Iterable[Mapping[str, Any]] = (),
    *,
    agents: Iterable[str] = (),
    handoff_mode: HandoffMode = "soft_claim",
    **planes: Mapping[str, Any],
) -> View:
    """Return a view with one promoted goal; more of its planes by their names."""
    authority = {
        "store_id": STORE,
        "promoted": True,
        "handoff_mode": handoff_mode,
        "agents": list(agents),
        "at": "2026-12-01T08:00:00Z",
    }
    patch: dict[str, Any] = {
        "registration": {"path": "/home/ada/looms.md", "content": {}, "at": "2026-12-01T08:00:00Z"},
        "authority": authority,
        "records": {each["todo_id"]: each for each in records},
        **planes,
    }
    return _applied(View(), Transition(None, None, {}, patches={identity_of(GOAL): patch}, goal=GOAL), NOON)


def run(view: View, command: GoalCommand, at: str = NOON) -> tuple[Any, View]:
    """Return what a command is answered and the view after it; what it stores, a replay of its entry leads to."""
    decision = decide(view, command, at)
    if isinstance(decision, Repeat):
        return decision.receipt, view
    after = _applied(view, decision, at)
    assert _applied(view, from_entry(decision.to_entry(at)), at) == after
    return decision.receipt, after


def refusal(view: View, command: Operation, at: str = NOON) -> Refused:
    """Return the refusal of a command."""
    with pytest.raises(Refused) as caught:
        decide(view, command, at)
    return caught.value


def goal_of(view: View) -> Goal:
    """Return the goal of these tests."""
    return find_goal(view, GOAL)


def _applied(view: View, transition: Transition, at: str) -> View:
    draft = Draft(view)
    draft.apply(transition, at=at, sequence=view.sequence + 1)
    return draft.finish()
