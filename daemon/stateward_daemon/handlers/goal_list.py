"""`goal_list`: the registered goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import convert

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol import messages as m
    from stateward_protocol.goal_messages import GoalListResult


def handle(caller: Caller, _params: m.NoParams) -> GoalListResult:
    """Answer from the captured view."""
    return convert.goal_list(caller.host.store.view)
