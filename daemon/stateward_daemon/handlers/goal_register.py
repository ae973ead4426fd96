"""`goal_register`: know a document as that of a goal."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from stateward_daemon.goal_documents import document_path, read_content
from stateward_daemon.steps import OnLane
from stateward_engine.authority.commands import RegisterGoal

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.goal_messages import GoalRegisterParams


def handle(caller: Caller, params: GoalRegisterParams) -> Steps:
    """Read what the document says, then register it with that."""
    path = document_path(caller.host, params.path)
    content = yield OnLane(params.goal_id, partial(read_content, path))
    agents = None if params.agents is None else tuple(params.agents)
    return (yield RegisterGoal(params.goal_id, str(path), content, agents, os.urandom(8).hex(), caller.host.machine))
