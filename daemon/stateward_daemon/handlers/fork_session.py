"""`fork_session`: begin a session with the state of another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.state.commands import ForkSession, parse_fork

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol import messages as m


def handle(caller: Caller, params: m.ForkSessionParams) -> ForkSession:
    """Name the two; the writer finds out whether it knows the one and not the other."""
    return parse_fork(caller.selection(), params.parent, params.child)
