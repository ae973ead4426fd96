"""`authority_promote`: from now on the ledger is the authority of a goal's todos."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from stateward_daemon import delivering, goal_convert, promoting
from stateward_daemon.steps import OnLane
from stateward_engine.authority.commands import PromoteGoal

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.authority_messages import PromoteParams


def handle(caller: Caller, params: PromoteParams) -> Steps:
    """Qualify the document again and commit, both under its lock; then deliver for the first time."""
    command = PromoteGoal(**goal_convert.operation(params), handoff_mode=params.handoff_mode)
    answer = yield OnLane(params.goal_id, partial(promoting.commit_qualified, caller.host, command))
    return (yield from delivering.settle(caller.host, answer))
