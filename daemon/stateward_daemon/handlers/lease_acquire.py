"""`lease_acquire`: an actor takes the lease of a todo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import goal_convert, mutations

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.lease_messages import LeaseAcquireParams


def handle(caller: Caller, params: LeaseAcquireParams) -> Steps:
    """Decide by the todo as it is now, wherever its authority is. No display shows leases."""
    return mutations.decide_lease(caller.host, goal_convert.acquire_lease(params))
