"""A connection before its first frame: who is let in. Security row 3."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from stateward.peer import peer
from stateward_daemon.connection import Connection
from stateward_daemon.host import Host
from stateward_daemon.settings import Settings
from stateward_engine.store.store import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


@asynccontextmanager
async def served(place: Path, *, uid: int) -> AsyncIterator[tuple[Host, socket.socket]]:
    """Yield a host and the client's end of a connection that only `uid` may use."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    theirs.setblocking(False)
    with open_store(place / "store") as store, theirs:
        host = Host(store=store, store_path=place, settings=Settings())
        gone = asyncio.Event()
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_accepted_socket(
            lambda: Connection(host, uid=uid, closed=lambda _: gone.set()), ours
        )
        yield host, theirs
        transport.close()
        await gone.wait()


async def test_our_own_user_is_served(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    async with served(tmp_path, uid=os.geteuid()) as (host, client):
        await loop.sock_sendall(client, PING)
        assert await loop.sock_recv(client, 1024) == b'{"jsonrpc":"2.0","id":1,"result":{"ok":true}}\n'
        assert [caller.peer_pid for caller in host.callers.values()] == [os.getpid()]


async def test_another_user_is_closed_unread(tmp_path: Path) -> None:
    """DM-002."""
    loop = asyncio.get_running_loop()
    async with served(tmp_path, uid=os.geteuid() + 1) as (host, client):
        assert await loop.sock_recv(client, 1024) == b""
        assert host.callers == {}


def test_a_peer_is_known_by_the_kernel() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        assert peer(ours) == (os.getpid(), os.geteuid())
