"""Who is at the other end of a Unix socket, as the kernel says: for the client and for the daemon."""

from __future__ import annotations

import socket
import struct
from typing import Final

# The `ucred` of SO_PEERCRED: pid, uid, gid.
_CREDENTIALS: Final = struct.Struct("3i")


def peer(connection: socket.socket) -> tuple[int, int]:
    """Return the process id and the user id of the other end, as they were when it connected or began to listen."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _gid = _CREDENTIALS.unpack(credentials)
    return pid, uid
