"""How the documents of goals stand to the store, and what to do where one does not show what it should."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from stateward_daemon.cli.goal_calls import places

if TYPE_CHECKING:
    from stateward_protocol.authority_messages import GoalStatusResult


class Display(NamedTuple):
    """How the document of one goal stands.

    Attributes:
        state: As words: of `goal_status`, with its reason and lines.
        is_current: Whether there is nothing to do.
        is_lost: Whether the todos of the goal cannot be read.
        remedy: What to do; empty where it is nothing.
    """

    state: str
    is_current: bool
    is_lost: bool
    remedy: str


def display_of(goal: GoalStatusResult) -> Display:
    """Return how the document of a goal stands."""
    state = str(goal.display["state"])
    why = [str(goal.display[name]) for name in ("reason_code",) if name in goal.display]
    facts = ", ".join([*why, *places(goal.display.get("lines"))])
    # What another machine shows is not seen from here, and nothing to do here.
    is_current = state in ("current", "elsewhere")
    is_lost = not goal.promoted and not is_current
    remedy = "" if is_current else _remedy(goal, state)
    return Display(f"{state} ({facts})" if facts else state, is_current, is_lost, remedy)


def _remedy(goal: GoalStatusResult, state: str) -> str:
    deliver = f"stateward todo project-markdown --goal-id {goal.goal_id} --execute"
    found_again = (
        f"put {goal.path} back, or tell where it is: stateward goal configure --goal-id {goal.goal_id} --path NEW"
    )
    match state:
        case "edited":
            return f"move what was written below the section, or delete the whole section; then: {deliver}"
        case "missing" if goal.promoted:
            return f"{found_again}; or make its todo sections anew: {deliver}"
        case "missing":
            return found_again
        case "unsafe":
            return f"stateward goal check {goal.path}"
        case "buffer_dirty":
            return "save the document in its editor, or close it there"
    return deliver
