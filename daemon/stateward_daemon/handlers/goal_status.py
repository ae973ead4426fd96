"""`goal_status`: where the authority of a goal is, and how its document stands to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stateward_daemon import standing

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol.operation_messages import GoalParams


def handle(caller: Caller, params: GoalParams) -> dict[str, Any]:
    """Look at the ledger and at the document as they are now."""
    return standing.goal_status(caller.host, params.goal_id)
