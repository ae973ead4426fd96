"""`authority_shadow_bootstrap`: the qualified todos of a document, copied into a shadow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from stateward_daemon import goal_convert, promoting
from stateward_daemon.steps import OnLane
from stateward_engine.authority.commands import BootstrapShadow

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.authority_messages import ShadowBootstrapParams


def handle(caller: Caller, params: ShadowBootstrapParams) -> Steps:
    """Read and qualify the document under its lock, and commit what it says."""
    command = BootstrapShadow(**goal_convert.operation(params))
    return (yield OnLane(params.goal_id, partial(promoting.commit_qualified, caller.host, command)))
