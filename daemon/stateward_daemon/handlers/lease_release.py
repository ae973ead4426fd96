"""`lease_release`: a lease is given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import goal_convert, mutations

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.lease_messages import LeaseReleaseParams


def handle(caller: Caller, params: LeaseReleaseParams) -> Steps:
    """Decide by the lease alone: that works whatever has become of its owner or its todo."""
    return mutations.decide_lease(caller.host, goal_convert.release_lease(params))
