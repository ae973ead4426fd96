"""Texts that were cut for display do not come back as what a todo says.

Source: authority.md section 1; field case 11. Rows LX-080 and LX-083.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from authority.planted import GOAL, goal_of, promoted_goal, record, refusal, run
from stateward_engine.authority.commands import AddTodo, CompleteTodo, Operation, UpdateTodo
from stateward_engine.goals.compact import clip

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = "[P1] " + "\u6838\u5bf9 " * 300 + "end"
WHOLE = record(text=LONG)
SHOWN = clip(LONG, 500)
SHAPES = [
    pytest.param(SHOWN, id="as listed"),
    pytest.param(SHOWN.removeprefix("[P1] "), id="without its priority"),
    pytest.param(SHOWN.replace("[P1]", "[P3]"), id="with another priority"),
    pytest.param(clip(LONG.removeprefix("[P1] "), 500), id="the title"),
    pytest.param(f"\n {SHOWN}  ", id="with more whitespace"),
]


def update(text: str) -> Operation:
    return UpdateTodo(goal_id=GOAL, operation_id="u1", todo_id="todo_warp", fields={"text": text})


def add(text: str) -> Operation:
    return AddTodo(goal_id=GOAL, operation_id="a1", role="agent", text=text)


def complete(text: str) -> Operation:
    return CompleteTodo(goal_id=GOAL, operation_id="c1", todo_id="todo_warp", next={"role": "agent", "text": text})


@pytest.mark.parametrize("shown", SHAPES)
@pytest.mark.parametrize("command", [update, add, complete])
def test_a_bounded_summary_is_refused(command: Callable[[str], Operation], shown: str) -> None:
    refused = refusal(promoted_goal([WHOLE]), command(shown))

    assert (refused.facts["reason_code"], refused.facts["todo_id"]) == ("text_is_bounded_summary", "todo_warp")


@pytest.mark.parametrize("own", [LONG, SHOWN + " and more", "And so on\u2026", LONG + "\u2026"])
def test_any_other_text_is_its_authors_own(own: str) -> None:
    _, view = run(promoted_goal([WHOLE]), update(own))

    assert goal_of(view).records["todo_warp"]["text"] in {own, f"[P1] {own}"}


def test_a_text_that_ends_like_one_is_none_while_nothing_was_cut() -> None:
    _, view = run(promoted_goal([record(text="[P1] " + "x" * 494 + "\u2026")]), add("[P1] " + "x" * 494 + "\u2026"))

    assert len(goal_of(view).records) == 2
