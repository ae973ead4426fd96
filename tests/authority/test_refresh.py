"""How many refreshes are kept, and where."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from authority.planted import GOAL, goal_of, promoted_goal, record, run
from stateward_engine.authority.archival import operation_id_of
from stateward_engine.authority.commands import CompleteTodo, RefreshState
from stateward_engine.authority.goal import display_of
from stateward_engine.authority.refresh import REFRESHES_KEPT_MAX
from stateward_engine.state.view import Damage
from stateward_protocol.operation_messages import Key


def turn(number: int) -> RefreshState:
    return RefreshState(goal_id=GOAL, operation_id=f"op-{number:04}", turn_key=f"t{number}", todo_source="file_v0")


def test_the_oldest_turn_makes_place_for_a_new_one() -> None:
    view = promoted_goal([record()])
    for number in range(REFRESHES_KEPT_MAX + 1):
        at = f"2026-12-01T12:{number // 60:02}:{number % 60:02}Z"
        _, view = run(view, turn(number), at)

    kept = view.scope(display_of(GOAL)).planes["refreshes"]
    assert isinstance(kept, dict)
    assert (len(kept), min(kept), max(kept)) == (REFRESHES_KEPT_MAX, "op-0001", f"op-{REFRESHES_KEPT_MAX:04}")
    assert goal_of(view).cursor == 1


def test_a_damaged_display_fails_no_operation_on_todos() -> None:
    """What it kept of refreshes is not known any more, and nothing else depends on it."""
    _, view = run(promoted_goal([record()]), turn(1))
    scopes = {identity: scope for identity, scope in view.scopes.items() if identity != display_of(GOAL)}
    damaged = replace(view, scopes=scopes, damaged={display_of(GOAL): Damage("streams/x", "torn")})

    answer, _ = run(damaged, CompleteTodo(goal_id=GOAL, operation_id="c1", todo_id="todo_warp"))
    assert answer["status"] == "done"


def test_an_archival_is_the_same_operation_on_the_same_head_alone() -> None:
    """LX-153: a preview and its execution, and a call whose answer was lost, are one operation."""
    view = promoted_goal([record()])
    before = operation_id_of(goal_of(view), "agent", 10)
    _, view = run(view, CompleteTodo(goal_id=GOAL, operation_id="c1", todo_id="todo_warp"))

    assert operation_id_of(goal_of(view), "agent", 10) not in {before, operation_id_of(goal_of(view), "agent", 9)}
    assert msgspec.convert(before, Key)
