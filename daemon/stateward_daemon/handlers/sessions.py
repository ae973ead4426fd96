"""`sessions`: the live connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import convert
from stateward_protocol import messages as m

if TYPE_CHECKING:
    from stateward_daemon.host import Caller


def handle(caller: Caller, _params: m.NoParams) -> m.SessionsResult:
    """List everybody who is connected, oldest first."""
    return m.SessionsResult(connections=[_connection(other) for other in caller.host.callers.values()])


def _connection(caller: Caller) -> m.Connection:
    attachment = caller.attachment
    if attachment is None:
        return m.Connection(
            id=caller.number,
            kind="unattached",
            client="",
            version="",
            pid=caller.peer_pid,
            cwd=None,
            session=None,
            wanted=[],
        )
    return m.Connection(
        id=caller.number,
        kind=attachment.kind,
        client=attachment.client,
        version=attachment.client_version,
        pid=caller.peer_pid,
        cwd=convert.shown_cwd(attachment.selection.cwd, caller.host.machine),
        session=attachment.selection.session,
        wanted=list(attachment.selection.wanted),
    )
