"""`authority_shadow_qualify`: what stands against the promotion of a goal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import promoting

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_engine.authority.goal import Members
    from stateward_protocol.operation_messages import GoalParams


def handle(caller: Caller, params: GoalParams) -> Members:
    """Look at the document as it is now; nothing is changed."""
    return promoting.report(caller.host, params.goal_id)
