"""`goal_configure`: who works on a goal, and how its todos are handed out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.authority.commands import ConfigureGoal

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol.goal_messages import GoalConfigureParams


def handle(_caller: Caller, params: GoalConfigureParams) -> ConfigureGoal:
    """Hand the wish to the writer; what is not given stays."""
    agents = None if params.agents is None else tuple(params.agents)
    return ConfigureGoal(params.goal_id, agents, params.handoff_mode)
