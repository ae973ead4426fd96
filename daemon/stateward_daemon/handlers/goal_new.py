"""`goal_new`: a first document, made and registered."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from stateward_daemon.goal_documents import create_document, document_path
from stateward_daemon.steps import OnLane
from stateward_engine.authority.commands import RegisterGoal
from stateward_engine.authority.registration import demand_free
from stateward_engine.store.clock import utc_now

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.goal_messages import GoalNewParams


def handle(caller: Caller, params: GoalNewParams) -> Steps:
    """Make the document unless the goal is known, then register it; what a crash leaves can be registered still."""
    # Here, because no start should wait for what reads a document.
    from stateward_engine.goals.template import NEXT_ACTION, new_document  # noqa: PLC0415

    host = caller.host
    path = document_path(host, params.path)
    demand_free(host.store.view, params.goal_id, str(path), host.machine)
    text = new_document(params.goal_id, params.objective, f"{utc_now()[:19]}Z", params.next_action or NEXT_ACTION)
    content = yield OnLane(params.goal_id, partial(create_document, caller.host, path, text))
    agents = None if params.agents is None else tuple(params.agents)
    return (yield RegisterGoal(params.goal_id, str(path), content, agents, os.urandom(8).hex(), host.machine))
