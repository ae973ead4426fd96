"""`goal_configure`: who works on a goal, how its todos are handed out, and where its document is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from stateward_daemon.goal_documents import document_path, moved_content
from stateward_daemon.steps import OnLane
from stateward_engine.authority.commands import ConfigureGoal
from stateward_engine.authority.goal import find_goal

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.goal_messages import GoalConfigureParams


def handle(caller: Caller, params: GoalConfigureParams) -> Steps:
    """Look at a document that was moved, then hand the wish to the writer; what is not given stays."""
    goal = find_goal(caller.host.store.view, params.goal_id)
    agents = None if params.agents is None else tuple(params.agents)
    path = content = None
    if params.path is not None:
        path = str(document_path(caller.host, params.path))
        content = yield OnLane(params.goal_id, partial(moved_content, goal, path))
    return (yield ConfigureGoal(params.goal_id, agents, params.handoff_mode, path, content, caller.host.machine))
