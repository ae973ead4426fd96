"""A daemon's life: lock, recover, listen, serve, drain, end.

The order is the promise. The store's lock comes before the socket, so that one store has one daemon; listening ends
before the drain, so that a new client never meets a daemon that is going; the lock goes last.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from stateward.location import log_path, socket_path
from stateward_daemon import convert
from stateward_daemon.connection import Connection
from stateward_daemon.dispatch import load_core
from stateward_daemon.exits import EXIT_OK, EXIT_UNAVAILABLE
from stateward_daemon.host import Host
from stateward_daemon.lanes import Lanes
from stateward_daemon.listen import BACKLOG, Listener
from stateward_daemon.log import open_log
from stateward_daemon.opening import machine_of, open_place
from stateward_daemon.ready import ReadyPipe
from stateward_daemon.subscriptions import Subscriptions
from stateward_daemon.watch import Watcher
from stateward_engine.errors import EngineError
from stateward_engine.store.linux_calls import keep_memory_private
from stateward_protocol import __version__
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable
    from pathlib import Path

    from stateward.location import Place
    from stateward_daemon.settings import Settings
    from stateward_engine.store.store import Store


# How often the daemon looks whether its socket is still the one that clients reach.
SOCKET_CHECK_S: Final = 30.0
# How long answers may take to leave at the end; a client that does not read must not keep the store locked.
FLUSH_S: Final = 2.0
# How long answers that threads work on may take at the end.
WORK_S: Final = 30.0
# State is at most 256 levels deep, a message 1,000. Walking one takes a few frames a level, and Python stops at 1,000.
RECURSION_LIMIT: Final = 10_000
# How long a thread may keep the interpreter while others want it. Python's own 5 ms are several times what a small read
# takes, and every read of another client would wait for them while somebody types into a long document.
SWITCH_S: Final = 0.0005


def run(place: Place, socket: Path | None, settings: Settings) -> int:
    """Serve a store until told to stop, and return the exit status of the process.

    Args:
        place: Where the store is.
        socket: Where to listen; `None` computes it.
        settings: What bounds this daemon.
    """
    ready = ReadyPipe.inherited()
    os.umask(0o077)
    try:
        # Whoever starts us by the pipe has put the log in the place of our standard error.
        log = open_log(log_path(place), foreground=not ready.connected)
        asyncio.run(_serve(place, socket, settings, ready, log))
    except (WireError, EngineError) as error:
        refusal = convert.wire_error(error) if isinstance(error, EngineError) else error
        sys.stderr.write(f"stateward: {refusal.message}\n")
        ready.failed(refusal)
        return EXIT_UNAVAILABLE
    return EXIT_OK


async def _serve(place: Place, socket: Path | None, settings: Settings, ready: ReadyPipe, log: logging.Logger) -> None:
    loop = asyncio.get_running_loop()
    sys.setrecursionlimit(RECURSION_LIMIT)
    sys.setswitchinterval(SWITCH_S)
    _raise_descriptor_limit()
    if place.database is not None:
        # The address may have a password.
        keep_memory_private()

    subscriptions = Subscriptions(loop.call_later)

    def settle_then_tell(settle: Callable[[], None]) -> None:
        settle()
        subscriptions.published(store.view)

    def deliver(settle: Callable[[], None]) -> None:
        loop.call_soon_threadsafe(settle_then_tell, settle)

    store = open_place(place, settings, deliver=deliver)
    try:
        load_core()
        # What was loaded stays for long, and a collection that walks all of it would hold up every client.
        gc.freeze()
        listener = Listener(socket_path(place.directory, socket))
        try:
            store.announce(pid=os.getpid(), socket=str(listener.path), version=__version__)
            await Daemon(store, place, listener, settings, subscriptions=subscriptions, log=log).serve(ready)
        finally:
            listener.withdraw()
    finally:
        # Off the loop: closing waits for the writer, and the writer answers by way of the loop. The lock goes with it.
        await loop.run_in_executor(None, store.close)


def _raise_descriptor_limit() -> None:
    """Take as many descriptors as we may have: each client costs one, and the soft limit is often 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Daemon:
    """What runs between listening and the end."""

    def __init__(
        self,
        store: Store,
        place: Place,
        listener: Listener,
        settings: Settings,
        *,
        subscriptions: Subscriptions,
        log: logging.Logger,
    ) -> None:
        self._listener = listener
        self._settings = settings
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._connections: set[Connection] = set()
        self._all_gone = asyncio.Event()
        self._idle: asyncio.TimerHandle | None = None
        self._watcher = Watcher(self._file_changed)
        self.host = Host(
            store=store,
            place=place,
            machine=machine_of(place, settings),
            settings=settings,
            socket_path=listener.path,
            log_path=log_path(place),
            stop=self._stop.set,
            watcher=self._watcher,
            wrote=self._wrote,
            subscriptions=subscriptions,
            work=self._work,
            lanes=Lanes(self._work),
            log=log,
        )

    def _work(
        self, job: Callable[[], object], done: Callable[[object], None], failed: Callable[[Exception], None]
    ) -> None:
        """Run a job in a thread, and report on the loop."""

        def finish(future: asyncio.Future[object]) -> None:
            error = future.exception()
            if isinstance(error, Exception):
                failed(error)
            else:
                done(future.result())

        try:
            self._loop.run_in_executor(None, job).add_done_callback(finish)
        except RuntimeError as error:
            # No thread can be had. Nobody expects an answer before this returns.
            self._loop.call_soon(failed, error)

    async def serve(self, ready: ReadyPipe) -> None:
        """Accept clients until a signal, `shutdown_daemon`, idleness or a lost socket ends it; then drain."""
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._stop.set)
        server = await self._loop.create_unix_server(self._connect, sock=self._listener.socket, backlog=BACKLOG)
        self.host.log.info("serving %s at %s, version %s", self.host.place, self._listener.path, __version__)
        ready.ready()
        if self.host.machine is not None:
            # Here, because a start of the others should not wait for what reads documents.
            from stateward_daemon.following import follow  # noqa: PLC0415

            follow(self.host)
        self._note_idle()
        self._check_socket()
        try:
            await self._stop.wait()
        finally:
            # Listening ends first. The path goes, then the backlog is served, so that nobody is left waiting in it.
            self._listener.withdraw()
            await asyncio.sleep(0)
            server.close()
            await self._drain()
            await self._watcher.close()
        self.host.log.info("ended")

    def _connect(self) -> Connection:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        connection = Connection(self.host, uid=os.geteuid(), closed=self._disconnected)
        self._connections.add(connection)
        return connection

    def _disconnected(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self._note_idle()
        if not self._connections:
            self._all_gone.set()

    def _note_idle(self) -> None:
        if self._settings.idle_exit_s and not self._connections and self._idle is None:
            self._idle = self._loop.call_later(self._settings.idle_exit_s, self._stop.set)

    def _check_socket(self) -> None:
        if not self._listener.is_published():
            self.host.log.warning("the socket was replaced or removed; nobody can reach this daemon any more")
            self._stop.set()
        elif not self.host.store.is_in_place:
            self.host.log.warning("the store was moved or removed; this daemon serves nothing that is there")
            self._stop.set()
        else:
            self._loop.call_later(SOCKET_CHECK_S, self._check_socket)

    def _wrote(self, path: Path, digest: str) -> None:
        """Have it reported on the loop, where the caller is answered later."""
        # At the end of a daemon there is no loop, and nobody to be told.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._watcher.wrote, path, digest)

    def _file_changed(self, path: Path, digest: str | None) -> None:
        for connection in list(self._connections):
            connection.file_changed(path, digest)
        self.host.subscriptions.file_changed(path)

    async def _drain(self) -> None:
        """Answer what is queued, refuse what comes, and end every connection."""
        self.host.stopping = True
        latest = self._loop.time() + WORK_S
        # A document may be edited already whose receipt is still to be committed.
        idle = asyncio.Event()
        self.host.lanes.when_empty(idle.set)
        with suppress(TimeoutError):
            await asyncio.wait_for(idle.wait(), WORK_S)
        await self._loop.run_in_executor(None, self.host.store.drain)
        # The writer's last answers were handed to the loop before `drain` returned, so they are sent by now.
        self._all_gone.clear()
        for connection in list(self._connections):
            connection.close()
        going_on = True
        while self._connections and going_on:
            # Who does not read is not waited for; who waits for an answer that is being worked out is, and may then
            # take as long to read it as the others.
            going_on = self._loop.time() < latest and any(connection.is_answering for connection in self._connections)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._all_gone.wait(), FLUSH_S)
