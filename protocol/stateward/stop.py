"""Ending a daemon by asking it, and waiting until its process is gone. No pid is ever signalled."""

from __future__ import annotations

import os
import select
from typing import TYPE_CHECKING

from stateward.calls import CLIENT_NAME, attach_params
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from stateward.transport import SocketTransport


def stop_daemon(transport: SocketTransport, timeout_s: float) -> bool:
    """Ask the daemon at the other end to end itself, close `transport`, and wait for the process.

    Args:
        transport: A connection that has not been used yet.
        timeout_s: Seconds to wait for the process after it has answered.

    Returns:
        Whether the process is known to be gone, and the lock of its store with it.

    Raises:
        WireError: The daemon's refusal. One that is leaving already does not refuse.
    """
    process = _watch(transport.daemon_pid)
    try:
        _ask_to_leave(transport)
        return process is not None and _has_ended(process, timeout_s)
    finally:
        if process is not None:
            os.close(process)


def _ask_to_leave(transport: SocketTransport) -> None:
    try:
        # Nothing of the state is needed to end a daemon, but a connection is bound to some owner before it may ask: to
        # one that nobody works with, since a damaged one is refused.
        transport.call("attach", attach_params(CLIENT_NAME, cwd="/", wanted=["cwd"]))
        transport.call("shutdown_daemon", {})
    except WireError as error:
        if error.category != "shutting_down" and error.data.get("reason_code") != "connection_lost":
            raise
    finally:
        transport.close()


def _watch(pid: int) -> int | None:
    """Return a descriptor that becomes readable when the process ends, or `None` where it cannot be watched.

    Taken while the process still answers, so the pid cannot have passed to another one.
    """
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _has_ended(process: int, timeout_s: float) -> bool:
    watch = select.poll()
    watch.register(process, select.POLLIN)
    return bool(watch.poll(timeout_s * 1000))
