"""`status`: versions, places, load and health of the daemon."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from stateward_daemon import convert
from stateward_protocol import messages as m
from stateward_protocol.methods import PROTOCOL_VERSION

if TYPE_CHECKING:
    from stateward_daemon.host import Caller


def handle(caller: Caller, _params: m.NoParams) -> m.StatusResult:
    """Tell what an operator asks first."""
    host = caller.host
    return m.StatusResult(
        version=host.version,
        protocol=PROTOCOL_VERSION,
        pid=host.pid,
        store=str(host.place),
        socket=str(host.socket_path or ""),
        log=str(host.log_path or ""),
        provider=host.store.provider,
        uptime_s=int(time.monotonic() - host.started_at),
        connections=len(host.callers),
        queue_length=host.store.queue_length,
        sequence=host.store.view.sequence,
        store_bytes=host.store.length,
        writer=convert.writer_health(host.store),
        damaged=convert.damaged_scopes(host.store.view, host.machine),
    )
