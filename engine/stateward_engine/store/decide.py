"""Every decision by one name: the writer need not know what a command is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from stateward_engine.state.commands import Command as StateCommand
from stateward_engine.state.decide import decide as decide_state

if TYPE_CHECKING:
    from stateward_engine.authority.commands import GoalCommand
    from stateward_engine.state.transition import Repeat, Transition
    from stateward_engine.state.view import Basis

    Command: TypeAlias = StateCommand | GoalCommand


def decide(basis: Basis, command: Command, at: str) -> Transition | Repeat:
    """Return what `command` stores on top of `basis`, or the answer when it stores nothing.

    Args:
        basis: Where it is decided.
        command: What is asked.
        at: What the clock says, as RFC 3339 text in UTC.

    Raises:
        RequestError: `basis` does not take the command; nothing was changed.
        CorruptStore: It depends on a damaged stream.
    """
    if isinstance(command, StateCommand):
        return decide_state(basis, command)
    # Not at the top: few stores have goals, and no start should wait for what decides about them.
    from stateward_engine.authority.decide import decide as decide_goal  # noqa: PLC0415

    return decide_goal(basis, command, at)
