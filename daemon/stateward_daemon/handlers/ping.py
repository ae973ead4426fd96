"""`ping`: ask whether the daemon is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_protocol import messages as m

if TYPE_CHECKING:
    from stateward_daemon.host import Caller


def handle(_caller: Caller, _params: m.NoParams) -> m.PingResult:
    """Answer."""
    return m.PingResult()
