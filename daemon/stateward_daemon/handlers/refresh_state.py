"""`refresh_state`: an actor took stock of a goal."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from stateward_daemon import delivering, goal_convert
from stateward_daemon.goal_documents import records_now
from stateward_daemon.steps import OnLane
from stateward_engine.authority.commands import RefreshState
from stateward_engine.authority.goal import find_goal
from stateward_engine.authority.listing import summary_of

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.todo_messages import RefreshStateParams


def handle(caller: Caller, params: RefreshStateParams) -> Steps:
    """Record the turn with what there is to do, from the one place that is the authority; then catch the display up."""
    host = caller.host
    goal = find_goal(host.store.view, params.goal_id)
    # The ledger is looked at where the record is decided.
    records = () if goal.promoted else (yield OnLane(goal.goal_id, partial(records_now, host, goal)))
    answer = yield RefreshState(
        **goal_convert.operation(params),
        classification=params.classification,
        next_action=params.next_action,
        turn_key=params.turn_key,
        todo_source=goal.source_authority,
        summary=summary_of(records),
    )
    return (yield from delivering.settle(host, answer))
