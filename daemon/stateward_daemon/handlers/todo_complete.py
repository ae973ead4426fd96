"""`todo_complete`: a todo is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import goal_convert, mutations

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.todo_messages import TodoCompleteParams


def handle(caller: Caller, params: TodoCompleteParams) -> Steps:
    """Decide where the authority is; the lease goes in the same commit."""
    return mutations.perform(caller, goal_convert.complete_todo(params))
