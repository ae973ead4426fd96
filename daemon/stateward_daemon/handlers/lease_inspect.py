"""`lease_inspect`: who holds the lease of a todo, and whether it is in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stateward_daemon.goal_documents import todos_now
from stateward_engine.authority.goal import find_goal
from stateward_engine.authority.leases import inspect
from stateward_engine.store.clock import utc_now

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol.lease_messages import LeaseInspectParams


def handle(caller: Caller, params: LeaseInspectParams) -> dict[str, Any]:
    """Answer of a promoted goal from one revision, and never from its document. It grants nothing."""
    goal = find_goal(caller.host.store.view, params.goal_id)
    todo = todos_now(caller.host, goal, params.todo_id).get(params.todo_id)
    return inspect(goal, params.todo_id, goal.now(utc_now()), todo)
