"""`todo_list`: the todos of a goal, or one of them exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stateward_daemon.goal_documents import records_now
from stateward_engine.authority.goal import find_goal
from stateward_engine.authority.listing import list_todos, records_sha256
from stateward_engine.store.clock import utc_now

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol.todo_messages import TodoListParams


def handle(caller: Caller, params: TodoListParams) -> dict[str, Any]:
    """Answer from the one place that is the authority; whatever fails there fails the read."""
    goal = find_goal(caller.host.store.view, params.goal_id)
    records = records_now(caller.host, goal, params.todo_id)
    found = list_todos(
        records,
        role=params.role,
        status=params.status,
        todo_id=params.todo_id,
        agent_id=params.agent_id,
        ready=params.ready,
        limit=params.limit,
        leases=goal.leases,
        now=goal.now(utc_now()),
    )
    answer = {"goal_id": goal.goal_id, "source": goal.source_authority, **found}
    if goal.promoted:
        answer |= {
            "provider_revision": goal.provider_revision,
            "cursor": str(goal.cursor),
            "records_sha256": records_sha256(records),
        }
    return answer
