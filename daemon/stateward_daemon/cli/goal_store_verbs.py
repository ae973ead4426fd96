"""The verbs about goals that the store knows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from stateward_daemon.cli.displays import display_of
from stateward_daemon.cli.goal_calls import answered, call
from stateward_daemon.cli.printing import counted
from stateward_daemon.cli.reach import open_client

if TYPE_CHECKING:
    from argparse import Namespace

    from stateward_protocol.authority_messages import GoalStatusResult
    from stateward_protocol.goal_messages import GoalEntry, GoalRegisterResult


def register(options: Namespace) -> int:
    """Register a document."""
    answer = call(options, "goal_register", path=os.path.abspath(options.path))  # noqa: PTH100 - sent as text
    return registered(options, answer)


def registered(options: Namespace, answer: GoalRegisterResult) -> int:
    """Print a registration."""
    word = "registered" if answer.created else "already registered:"
    return answered(options, answer, [f"{word} {answer.goal_id}, {answer.path}"])


def configure(options: Namespace) -> int:
    """Change a goal and print what it has now."""
    answer = call(options, "goal_configure")
    agents = ", ".join(answer.agents) or "everybody"
    return answered(options, answer, [f"{answer.goal_id}: {answer.handoff_mode}, open to {agents}, {answer.path}"])


def list_goals(options: Namespace) -> int:
    """Print the registered goals."""
    with open_client(options) as client:
        answer = client.goal_list()
        found = {goal.goal_id: client.goal_status(goal.goal_id) for goal in answer.goals if options.display}
    lines = [
        f"{goal.goal_id}  {'ledger' if goal.promoted else 'document'}  {goal.handoff_mode}  {_document(goal)}"
        + (f"  {display_of(found[goal.goal_id]).state}" if goal.goal_id in found else "")
        for goal in answer.goals
    ]
    told = [
        {**msgspec.to_builtins(goal), **({"display": found[goal.goal_id].display} if found else {})}
        for goal in answer.goals
    ]
    return answered(options, {"goals": told}, [*lines, counted(len(answer.goals), "goal")])


def _document(goal: GoalEntry | GoalStatusResult) -> str:
    """Return where the document of a goal is."""
    return goal.path if goal.host is UNSET else f"{goal.host}:{goal.path}"


def status(options: Namespace) -> int:
    """Print where a goal stands."""
    answer = call(options, "goal_status")
    display = display_of(answer)
    lines = [
        f"authority  {answer.source_authority}",
        f"revision   {answer.provider_revision}",
        f"handoff    {answer.handoff_mode}",
        f"agents     {', '.join(answer.agents) or 'everybody'}",
        f"document   {_document(answer)}",
        f"display    {display.state}",
        *([f"           {display.remedy}"] if display.remedy else []),
    ]
    return answered(options, answer, lines)
