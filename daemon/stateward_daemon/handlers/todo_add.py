"""`todo_add`: a new todo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import goal_convert, mutations

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.todo_messages import TodoAddParams


def handle(caller: Caller, params: TodoAddParams) -> Steps:
    """Decide where the authority is; the id of the todo follows from that of the operation."""
    return mutations.perform(caller, goal_convert.add_todo(params))
