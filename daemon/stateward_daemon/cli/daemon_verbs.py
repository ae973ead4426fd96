"""The verbs about the daemon itself: its life, its places, its health."""

from __future__ import annotations

import functools
import os
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from stateward.location import log_path, read_announcement, socket_path, store_place
from stateward.start import open_transport
from stateward.stop import stop_daemon
from stateward_daemon.cli.arguments import DAEMON_SETTINGS
from stateward_daemon.cli.printing import health_word, note, show, show_json, show_table, whose
from stateward_daemon.cli.reach import NOT_RUNNING, open_client
from stateward_daemon.exits import EXIT_OK, UsageFault
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from argparse import Namespace

    from stateward.transport import SocketTransport


def status(options: Namespace) -> int:
    """Print what the daemon says of itself."""
    with open_client(options, attach=False) as client:
        found = client.status()
    facts = msgspec.to_builtins(found)
    if options.json:
        show_json(facts)
        return EXIT_OK
    damaged = "; ".join(
        f"{whose(scope.kind, scope.cwd, scope.session, scope.goal_id)} ({scope.reason})" for scope in found.damaged
    )
    people = {**facts, "writer": health_word(found.writer), "damaged": damaged or None}
    # Whoever listens nowhere is no daemon but this process.
    if not found.socket:
        people |= {"pid": None, "socket": None, "log": None}
        if found.writer.ok:
            people["writer"] = "no daemon runs; a mutation opens the store when it comes"
    show_table(people.items())
    return EXIT_OK


def sessions(options: Namespace) -> int:
    """Print the live connections."""
    with open_client(options) as client:
        found = client.sessions()
    if options.json:
        show_json(msgspec.to_builtins(found))
        return EXIT_OK
    for connection in found.connections:
        owners = ",".join(connection.wanted) or "-"
        program = f"{connection.client} {connection.version}".strip() or "-"
        place = f"{connection.cwd or '-'}  {connection.session or '-'}"
        show(f"{connection.id}  {connection.kind}  {program}  pid {connection.pid}  {owners}  {place}")
    return EXIT_OK


def where(options: Namespace) -> int:
    """Print the places, whether or not a daemon runs."""
    place = store_place(options.store)
    socket, pid = _door(place.directory, options)
    places = {"store": str(place), "socket": socket, "log": str(log_path(place)), "pid": pid}
    if options.json:
        show_json(places)
    else:
        show_table(places.items())
    return EXIT_OK


# -- life ------------------------------------------------------------------------------------------------------------


def run(options: Namespace) -> int:
    """Serve in the foreground."""
    # Not at the top: these import asyncio and the engine.
    from stateward_daemon import lifecycle  # noqa: PLC0415
    from stateward_daemon.settings import Settings  # noqa: PLC0415

    try:
        settings = Settings.from_environment({name: getattr(options, name) for name in DAEMON_SETTINGS})
    except WireError as error:
        raise UsageFault(f"{error.message}; see stateward daemon run --help") from None
    return lifecycle.run(store_place(options.store), Path(options.socket) if options.socket else None, settings)


def start(options: Namespace) -> int:
    """Start a daemon unless one runs."""
    open_transport(store_place(options.store), socket=options.socket, timeout_s=options.timeout).close()
    announced = read_announcement(store_place(options.store).directory)
    if options.json:
        show_json(None if announced is None else announced._asdict())
    elif announced is not None:
        show(f"the daemon runs with pid {announced.pid} at {announced.socket}")
    return EXIT_OK


def stop(options: Namespace) -> int:
    """Stop the daemon if one runs; it is fine when none does."""
    running = _running(options)
    pid = None if running is None else running.daemon_pid
    gone = running is None or stop_daemon(running, options.timeout)
    if options.json:
        show_json({"pid": pid, "ended": gone})
    elif pid is None:
        note("no daemon runs for this store")
    else:
        note(f"the daemon with pid {pid} has {'ended' if gone else 'been asked to end'}")
    return EXIT_OK


def restart(options: Namespace) -> int:
    """Stop the daemon if one runs, then start one."""
    running = _running(options)
    if running is not None:
        stop_daemon(running, options.timeout)
    return start(options)


def logs(options: Namespace) -> int:
    """Print the last lines of the log."""
    path = log_path(store_place(options.store))
    note(f"log: {path}")
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            lines = deque(file, maxlen=max(0, options.lines))
    except FileNotFoundError:
        note("there is no log yet; no daemon has run for this store")
        return EXIT_OK
    except OSError as error:
        raise UsageFault(f"{path} cannot be read ({error.strerror})") from None
    for line in lines:
        show(line.rstrip("\n"))
    return EXIT_OK


def lsp(options: Namespace) -> int:
    """Serve an editor over standard input and output."""
    from stateward_daemon import bridge  # noqa: PLC0415 - other verbs need no threads

    opening = functools.partial(
        open_transport, store_place(options.store), socket=options.socket, timeout_s=options.timeout
    )
    # The editor's directory may go away, and nothing here depends on it.
    os.chdir("/")
    return bridge.run(lambda: opening().detach())


def _door(store: Path, options: Namespace) -> tuple[str | None, int | None]:
    """Return the socket and the pid of the daemon that runs, else where one would listen and `None`."""
    running = _running(options)
    announced = read_announcement(store)
    if running is not None:
        running.close()
        if announced is not None:
            return announced.socket, announced.pid
    try:
        return str(socket_path(store, options.socket)), None
    except WireError as error:
        note(f"note: {error.message}")
        return None, None


def _running(options: Namespace) -> SocketTransport | None:
    """Return a connection to the daemon of the store, or `None` when none runs."""
    try:
        return open_transport(store_place(options.store), start="never", timeout_s=options.timeout)
    except WireError as error:
        if error.data.get("reason_code") == NOT_RUNNING:
            return None
        raise
