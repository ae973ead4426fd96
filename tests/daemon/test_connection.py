"""A connection before its first frame: who is let in. Security row 3."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest

from stateward.location import Place
from stateward.peer import peer
from stateward_daemon.connection import FRAMES_BEHIND_MAX, OVERHEARD_BYTES_MAX, Connection
from stateward_daemon.host import Host
from stateward_daemon.settings import Settings
from stateward_engine.store.store import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from stateward_daemon.exchange import Exchange

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


@asynccontextmanager
async def served(place: Path, *, uid: int) -> AsyncIterator[tuple[Host, socket.socket, Connection]]:
    """Yield a host and the client's end of a connection that only `uid` may use."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    theirs.setblocking(False)
    with open_store(place / "store") as store, theirs:
        host = Host(store=store, place=Place(place), settings=Settings())
        gone = asyncio.Event()
        loop = asyncio.get_running_loop()
        transport, connection = await loop.connect_accepted_socket(
            lambda: Connection(host, uid=uid, closed=lambda _: gone.set()), ours
        )
        yield host, theirs, connection
        transport.close()
        await gone.wait()


async def test_our_own_user_is_served(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    async with served(tmp_path, uid=os.geteuid()) as (host, client, _):
        await loop.sock_sendall(client, PING)
        assert await loop.sock_recv(client, 1024) == b'{"jsonrpc":"2.0","id":1,"result":{"ok":true}}\n'
        assert [caller.peer_pid for caller in host.callers.values()] == [os.getpid()]


async def test_another_user_is_closed_unread(tmp_path: Path) -> None:
    """DM-002."""
    loop = asyncio.get_running_loop()
    async with served(tmp_path, uid=os.geteuid() + 1) as (host, client, _):
        assert await loop.sock_recv(client, 1024) == b""
        assert host.callers == {}


def test_a_peer_is_known_by_the_kernel() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        assert peer(ours) == (os.getpid(), os.geteuid())


def _fail(error: Exception) -> None:
    pytest.fail(str(error))


STOP = "$/cancelRequest"


class Overhearing:
    """Stands in for an exchange: takes what is said about the work at once."""

    settled = True
    is_deaf = False

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.received: list[Any] = []
        self.changed = asyncio.Event()

    def overhear(self, message: Any) -> bool:
        if self.is_deaf:
            self.changed.set()
        if self.is_deaf or message.get("method") != STOP:
            return False
        self.heard.append(message["id"])
        self.changed.set()
        return True

    def receive(self, message: Any) -> None:
        self.received.append(message["id"])
        self.changed.set()

    def closed(self) -> None:
        """Do nothing."""


async def test_while_a_thread_works_only_what_is_about_that_is_heard_and_the_order_is_kept(tmp_path: Path) -> None:
    """An editor takes work back while it is done; everything else waits behind it, bounded."""
    loop, done = asyncio.get_running_loop(), threading.Event()
    async with served(tmp_path, uid=os.geteuid()) as (_, client, connection):
        exchange = Overhearing()
        connection._exchange = cast("Exchange", exchange)
        connection.work(done.wait, lambda _: exchange.received.append("work"), _fail)
        messages = [{"id": 0, "method": "go"}, {"id": 1, "method": STOP}, {"id": 2, "method": "go"}]
        later = [{"id": number, "method": "go"} for number in range(3, 3 + 2 * FRAMES_BEHIND_MAX)]
        for message in [*messages, *later, {"id": "late", "method": STOP}]:
            await loop.sock_sendall(client, json.dumps(message).encode() + b"\n")
        async with asyncio.timeout(10):
            await exchange.changed.wait()
        assert exchange.heard == [1]
        assert exchange.received == []
        done.set()
        async with asyncio.timeout(10):
            while exchange.received[-1:] != ["late"]:
                exchange.changed.clear()
                await exchange.changed.wait()

        assert exchange.received == ["work", 0, 2, *(message["id"] for message in later), "late"]


async def test_what_is_long_itself_is_not_looked_at_meanwhile(tmp_path: Path) -> None:
    loop, done = asyncio.get_running_loop(), threading.Event()
    async with served(tmp_path, uid=os.geteuid()) as (_, client, connection):
        exchange = Overhearing()
        connection._exchange = cast("Exchange", exchange)
        connection.work(done.wait, lambda _: exchange.received.append("work"), _fail)
        long = {"id": 0, "method": STOP, "params": {"x": "y" * OVERHEARD_BYTES_MAX}}
        for message in (long, {"id": 1, "method": STOP}):
            await loop.sock_sendall(client, json.dumps(message).encode() + b"\n")
        done.set()
        async with asyncio.timeout(10):
            while len(exchange.received) < 3:
                exchange.changed.clear()
                await exchange.changed.wait()

        assert exchange.received[:2] == ["work", 0]


async def test_what_waited_behind_one_thread_is_heard_by_the_next(tmp_path: Path) -> None:
    loop, first, second = asyncio.get_running_loop(), threading.Event(), threading.Event()
    async with served(tmp_path, uid=os.geteuid()) as (_, client, connection):
        exchange = Overhearing()
        exchange.is_deaf = True
        connection._exchange = cast("Exchange", exchange)

        def go_on(_: object) -> None:
            exchange.is_deaf = False
            connection.work(second.wait, lambda _: exchange.received.append("second"), _fail)

        connection.work(first.wait, go_on, _fail)
        for message in ({"id": 0, "method": "go"}, {"id": 1, "method": STOP}):
            await loop.sock_sendall(client, json.dumps(message).encode() + b"\n")
        async with asyncio.timeout(10):
            await exchange.changed.wait()
            exchange.changed.clear()
            first.set()
            await exchange.changed.wait()
            assert exchange.heard == [1]
            second.set()
            while len(exchange.received) < 2:
                exchange.changed.clear()
                await exchange.changed.wait()

        assert exchange.received == ["second", 0]
