"""`todo_update`: fields of a todo, all or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import goal_convert, mutations

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.todo_messages import TodoUpdateParams


def handle(caller: Caller, params: TodoUpdateParams) -> Steps:
    """Decide where the authority is."""
    return mutations.perform(caller, goal_convert.update_todo(params))
