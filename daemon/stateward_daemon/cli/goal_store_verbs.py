"""The verbs about goals that the store knows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from stateward_daemon.cli.goal_calls import answered, call
from stateward_daemon.cli.printing import counted

if TYPE_CHECKING:
    from argparse import Namespace

    from stateward_protocol.goal_messages import GoalRegisterResult


def register(options: Namespace) -> int:
    """Register a document."""
    answer = call(options, "goal_register", path=os.path.abspath(options.file))  # noqa: PTH100 - sent as text
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
    answer = call(options, "goal_list")
    lines = [
        f"{goal.goal_id}  {'ledger' if goal.promoted else 'document'}  {goal.handoff_mode}  {goal.path}"
        for goal in answer.goals
    ]
    return answered(options, answer, [*lines, counted(len(answer.goals), "goal")])


def status(options: Namespace) -> int:
    """Print where a goal stands."""
    answer = call(options, "goal_status")
    display = answer.display
    reason = f" ({display['reason_code']})" if display.get("reason_code") else ""
    lines = [
        f"authority  {answer.source_authority}",
        f"revision   {answer.provider_revision}",
        f"handoff    {answer.handoff_mode}",
        f"agents     {', '.join(answer.agents) or 'everybody'}",
        f"display    {display['state']}{reason}",
    ]
    return answered(options, answer, lines)
