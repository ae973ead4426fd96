"""`shutdown_daemon`: stop listening, finish what is queued, then end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_protocol import messages as m
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from stateward_daemon.host import Caller


def handle(caller: Caller, _params: m.NoParams) -> m.ShutdownResult:
    """Begin the drain; the answer leaves before the connection ends."""
    host = caller.host
    if host.stop is None:
        raise WireError("invalid_request", "no daemon runs here: this call was served in-process")
    host.log.info("asked to shut down by %s", caller.bound().client)
    host.stop()
    return m.ShutdownResult(pid=host.pid)
