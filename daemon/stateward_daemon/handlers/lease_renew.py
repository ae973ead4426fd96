"""`lease_renew`: a held lease lasts longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import goal_convert, mutations

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.lease_messages import LeaseRenewParams


def handle(caller: Caller, params: LeaseRenewParams) -> Steps:
    """Decide by the todo as it is now, wherever its authority is."""
    return mutations.decide_lease(caller.host, goal_convert.renew_lease(params))
