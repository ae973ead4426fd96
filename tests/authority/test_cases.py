"""The pages in `cases/`: what operations on the todos of a promoted goal come to, by example.

A case has `records` (members that differ from `planted.PLAIN`), and where it matters `agents`, `mode`, `leases` and
calls `earlier`; then one `call`, by the word of its method. It expects an `answer`, the `todo` that the call is about,
other `todos`, the `lease`, or that it is `refused`. Of what is expected only the named members are looked at, and null
says that there is none.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from authority.planted import GOAL, LATER, NOON, goal_of, promoted_goal, record, refusal, run
from literate import load_cases
from stateward_engine.authority.commands import (
    AddTodo,
    ArchiveCompleted,
    CompleteTodo,
    LeaseClaim,
    Operation,
    RefreshState,
    UpdateTodo,
)
from stateward_engine.goals.render import render

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_engine.state.view import View

DOCUMENT: Final = "## User Todo\n\n## Agent Todo\n"
COMMANDS: Final[dict[str, Callable[..., Operation]]] = {
    "add": AddTodo,
    "update": UpdateTodo,
    "complete": CompleteTodo,
    "archive": ArchiveCompleted,
    "refresh": lambda **given: RefreshState(**{"todo_source": "file_v0", **given}),
}
# What is no field of a todo.
MEMBERS: Final = {
    *("operation_id", "agent_id", "dry_run", "expected_provider_revision", "todo_id", "role", "clear", "lease"),
    *("next", "declaration", "max_active_done", "turn_key", "classification", "next_action"),
}


def command(call: dict[str, Any]) -> Operation:
    """Return the command of a call as it would come over the wire: fields beside members."""
    ((method, given),) = call.items()
    members = {name: value for name, value in given.items() if name in MEMBERS or (method == "add" and name == "text")}
    fields = {name: value for name, value in given.items() if name not in members}
    if "clear" in members:
        members["clear"] = tuple(members["clear"])
    if "lease" in members:
        members["lease"] = LeaseClaim(**members["lease"])
    if fields:
        members["fields"] = fields
    return COMMANDS[method](**{"goal_id": GOAL, "operation_id": "op-1", **members})


def planted(case: dict[str, Any]) -> View:
    records = [record(**members) for members in case.get("records", [{}])]
    leases = {lease["todo_id"]: lease for lease in case.get("leases", [])}
    view = promoted_goal(
        records,
        agents=case.get("agents", ()),
        handoff_mode=case.get("mode", "soft_claim"),
        leases=leases,
        declarations=case.get("declarations", {}),
    )
    for number, call in enumerate(case.get("earlier", ())):
        ((method, given),) = call.items()
        _, view = run(view, command({method: {"operation_id": f"earlier-{number}", **given}}), NOON)
    return view


def part_of(got: Any, wanted: Any) -> Any:
    """Return of `got` what `wanted` names."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        return {name: part_of(got.get(name), value) for name, value in wanted.items()}
    return got


@pytest.mark.parametrize("case", load_cases(Path(__file__).parent / "cases"))
def test_case(case: dict[str, Any]) -> None:
    """Rows LX-008, LX-009, LX-012, LX-056, LX-082, LX-083, LX-112, LX-121, LX-140 to LX-142 and LX-153.

    Source: authority.md sections 1, 2 and 6; field cases 10, 11 and 30.
    """
    view = planted(case)
    asked = command(case["call"])
    if "refused" in case:
        refused = refusal(view, asked, LATER)
        facts = {**refused.facts, "message": str(refused)}
        assert part_of(facts, case["refused"]) == case["refused"]
        return
    answer, after = run(view, asked, LATER)
    goal = goal_of(after)
    assert part_of(answer, case.get("answer", {})) == case.get("answer", {})
    todo_id = answer.get("todo_id", "")
    assert part_of(goal.records.get(todo_id, {}), case.get("todo", {})) == case.get("todo", {})
    assert part_of(goal.records, case.get("todos", {})) == case.get("todos", {})
    assert part_of(goal.leases.get(todo_id, {}), case.get("lease", {})) == case.get("lease", {})
    render(DOCUMENT, goal.records.values(), goal.provider_revision, goal.declarations)
