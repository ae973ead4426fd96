"""Following: what daemons on other machines commit to goals whose documents are here is delivered here.

Nobody waits for it. What this daemon commits itself is delivered by whoever asked for it; what an outage kept from
being delivered is once that has ended.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from stateward_daemon.delivering import deliver_unasked
from stateward_engine.authority.goal import goals_by_path, identity_of
from stateward_engine.state.view import View

if TYPE_CHECKING:
    from stateward_daemon.host import Host


def follow(host: Host) -> None:
    """Deliver from now on, and what was committed before, on the event loop of the host."""
    host.store.followed = partial(_deliver_moved, host)
    # Nobody knows what was committed while no daemon ran here.
    _deliver_moved(host, View(), host.store.view)


def _deliver_moved(host: Host, before: View, after: View) -> None:
    """Have the displays delivered of the promoted goals here that moved on between two views."""
    for goal in goals_by_path(after, host.machine).values():
        if goal.promoted and before.scopes.get(identity_of(goal.goal_id)) is not goal.stream:
            deliver_unasked(host, goal.goal_id)
