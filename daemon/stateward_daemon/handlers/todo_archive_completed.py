"""`todo_archive_completed`: finished todos go into the archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import goal_convert, mutations
from stateward_engine.authority.goal import find_goal

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.todo_messages import TodoArchiveParams


def handle(caller: Caller, params: TodoArchiveParams) -> Steps:
    """Decide where the authority is. The same call on the same head is the same operation."""
    goal = find_goal(caller.host.store.view, params.goal_id)
    return mutations.perform(caller, goal_convert.archive_completed(params, goal))
