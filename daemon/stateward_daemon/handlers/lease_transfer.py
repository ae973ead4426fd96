"""`lease_transfer`: a held lease goes to another owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import goal_convert, mutations

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.lease_messages import LeaseTransferParams


def handle(caller: Caller, params: LeaseTransferParams) -> Steps:
    """Decide by the todo as it is now, wherever its authority is."""
    return mutations.decide_lease(caller.host, goal_convert.transfer_lease(params))
