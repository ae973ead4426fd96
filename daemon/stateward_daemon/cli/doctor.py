"""`stateward doctor`: look at everything that a daemon depends on, say what is wrong, and what to do about it.

It starts no daemon and changes nothing.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from stateward.location import log_path, read_announcement, socket_path, store_place
from stateward.printable import printable
from stateward.start import is_older, open_transport
from stateward_daemon.cli.displays import display_of
from stateward_daemon.cli.printing import counted, paint, show, show_json, whose
from stateward_daemon.cli.reach import NOT_RUNNING, open_client
from stateward_daemon.cli.store_verbs import checked
from stateward_daemon.exits import EXIT_FINDINGS, EXIT_OK
from stateward_protocol import __version__
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stateward.location import Place
    from stateward_engine.state.view import StreamKind

# A start copies the journal, and compaction writes checkpoints before it lets go of the old ones.
_FREE_BYTES_MIN: Final = 64 * 2**20
_WATCHES_MIN: Final = 8_192
_COLORS: Final = {"ok": "note", "warning": "warning", "fault": "error"}

Level: TypeAlias = Literal["ok", "warning", "fault"]


class Finding(NamedTuple):
    """What was looked at, and how it is.

    Attributes:
        name: Of the thing.
        level: `fault` keeps something from working, `warning` may soon.
        text: How it is.
        remedy: What to do, or `None`.
    """

    name: str
    level: Level
    text: str
    remedy: str | None = None


def doctor(options: Namespace) -> int:
    """Print every finding; exit with 1 on a fault."""
    found = list(_findings(store_place(options.store), options))
    if options.json:
        show_json({"ok": all(one.level != "fault" for one in found), "findings": [one._asdict() for one in found]})
    else:
        for one in found:
            show(f"{paint(f'{one.level:<8}', _COLORS[one.level], sys.stdout)} {one.name}: {printable(one.text)}")
            if one.remedy:
                show(f"{'':<8} {one.remedy}")
    return EXIT_FINDINGS if any(one.level == "fault" for one in found) else EXIT_OK


def _findings(place: Place, options: Namespace) -> Iterator[Finding]:
    store = place.directory
    yield Finding("program", "ok", f"stateward {__version__}, Python {sys.version.partition(' ')[0]}")
    if place.database is None:
        yield _place(store)
    else:
        yield from _database(place)
    yield from _disk(store)
    yield _socket(store, options)
    yield from _daemon(place, options)
    yield _settings()
    if place.database is not None or store.exists():
        yield from _goals(options)
    yield _log(place)
    yield _watches()


def _place(store: Path) -> Finding:
    if not store.exists():
        return Finding("store", "ok", f"{store} is not there yet; the first daemon makes it")
    if not os.access(store, os.W_OK):
        return Finding("store", "fault", f"{store} cannot be written", "run as its owner, or name another with --store")
    return Finding("store", "ok", str(store))


def _database(place: Place) -> Iterator[Finding]:
    """Look at the database of a store, and at the name of this machine there."""
    # Few stores are in a database, and no other needs its library.
    from stateward_daemon.opening import machine_of, target_of  # noqa: PLC0415
    from stateward_daemon.settings import Settings  # noqa: PLC0415
    from stateward_engine.errors import EngineError  # noqa: PLC0415
    from stateward_engine.store.postgresql_condition import look_at  # noqa: PLC0415

    try:
        settings = Settings.from_environment()
        target, machine = target_of(place, settings), machine_of(place, settings)
        assert target is not None  # noqa: S101 - as is the database of the place
        found = look_at(target)
    except (EngineError, WireError) as error:
        yield Finding("store", "fault", str(error), "mend what it says; the daemon goes on by itself then")
        return
    link = "encrypted" if found.encrypted else "not encrypted"
    yield Finding("store", "ok", f"{place}, PostgreSQL {found.server}, {link}, ledger {found.ledger} at {found.head}")
    for weakness in found.weaknesses:
        yield Finding("store", "warning", weakness, "have it set on the server")
    if machine is not None:
        yield Finding("machine", "ok", f"{machine.id}, called {machine.host}; no other may have that name there")


def _disk(store: Path) -> Iterator[Finding]:
    existing = next(place for place in (store, *store.parents) if place.exists())
    free = shutil.disk_usage(existing).free
    if free < _FREE_BYTES_MIN:
        yield Finding("disk", "warning", f"{free // 2**20} MiB are free", "free some: a full disk stops all writing")
    else:
        yield Finding("disk", "ok", f"{free // 2**20} MiB are free")


def _socket(store: Path, options: Namespace) -> Finding:
    try:
        return Finding("socket", "ok", f"{socket_path(store, options.socket)}")
    except WireError as error:
        return Finding("socket", "fault", error.message, "name a shorter or private place with --socket")


def _daemon(place: Place, options: Namespace) -> Iterator[Finding]:
    """Ask the daemon how it is; where none runs, check the store instead."""
    try:
        with contextlib.closing(open_transport(place, start="never", timeout_s=options.timeout)) as transport:
            status = transport.call("status", {})
    except WireError as error:
        if error.data.get("reason_code") == NOT_RUNNING:
            yield Finding("daemon", "ok", "none runs; the next call starts one")
            if place.database is not None or place.directory.exists():
                yield from _content(place)
        else:
            yield Finding("daemon", "fault", error.message, "stop the process that holds the store, then try again")
        return
    announced = read_announcement(place.directory)
    pid = status["pid"]
    if announced is not None and is_older(status["version"]):
        yield Finding("daemon", "warning", f"pid {pid} is version {status['version']}", "stateward daemon restart")
    else:
        yield Finding("daemon", "ok", f"pid {pid} serves {counted(status['connections'], 'connection')}")
    yield _writer(status["writer"])
    for scope in status["damaged"]:
        owner = scope["kind"], scope["cwd"], scope["session"], scope["goal_id"]
        yield Finding("content", "fault", f"{whose(*owner)}: {scope['file']}: {scope['reason']}", _mending(*owner))


def _settings() -> Finding:
    """Read what a start would read here."""
    from stateward_daemon.settings import Settings  # noqa: PLC0415 - only a start needs them otherwise

    try:
        Settings.from_environment()
    except WireError as error:
        return Finding("settings", "fault", error.message, "no daemon starts with it: mend or unset the variable")
    return Finding("settings", "ok", "a daemon can start with them")


def _goals(options: Namespace) -> Iterator[Finding]:
    """Look at the document of each goal, with its daemon or without one."""
    try:
        with open_client(options, start="never") as client:
            found = [client.goal_status(goal.goal_id) for goal in client.goal_list().goals]
    except WireError as error:
        yield Finding("goals", "warning", f"nobody could look at them: {error.message}", "mend what is above first")
        return
    displays = [(goal, display_of(goal)) for goal in found]
    for goal, display in displays:
        if not display.is_current:
            level: Level = "fault" if display.is_lost else "warning"
            yield Finding("goals", level, f"the document of {goal.goal_id} is {display.state}", display.remedy)
    if all(display.is_current for _, display in displays):
        yield Finding("goals", "ok", f"{counted(len(found), 'goal')}, each with its document as it should be")


def _writer(health: dict[str, object]) -> Finding:
    if health["ok"]:
        return Finding("writer", "ok", "mutations are taken")
    return Finding(
        "writer",
        "fault",
        f"every mutation is refused: {health.get('reason')}",
        "free or repair the disk, then: stateward daemon restart",
    )


def _content(place: Place) -> Iterator[Finding]:
    try:
        report = checked(place)
    except WireError as error:
        yield Finding("content", "fault", error.message, "stateward where")
        return
    owners = {stream.file: stream.identity for stream in report.streams}
    for fault in report.faults:
        identity, text = owners.get(fault.file), f"{fault.file or place}: {fault.reason}"
        if identity is None:
            yield Finding("content", "fault", text, "restore the whole directory from a copy")
        else:
            owner = identity.kind, identity.cwd, identity.session, identity.goal
            yield Finding("content", "fault", f"{whose(*owner)}: {text}", _mending(*owner))
    if not report.faults:
        yield Finding("content", "ok", f"{counted(len(report.streams), 'stream')}, no fault")


def _mending(kind: StreamKind, cwd: str | None, session: str | None, goal: str | None) -> str:
    from stateward_engine.state.view import Identity, reset_command  # noqa: PLC0415 - only damage needs the engine

    return f"restore it from a copy, or: {reset_command(Identity(kind, cwd, session, goal))}"


def _log(place: Place) -> Finding:
    path = log_path(place)
    if not path.exists():
        return Finding("log", "ok", f"{path} is not there yet")
    try:
        incidents = path.read_bytes().count(b"incident ")
    except OSError as error:
        return Finding("log", "warning", f"{path} cannot be read ({error.strerror})")
    if incidents:
        text = f"{path} tells of {incidents} mistakes of stateward itself"
        return Finding("log", "warning", text, "report them; see them with: stateward daemon logs")
    return Finding("log", "ok", str(path))


def _watches() -> Finding:
    try:
        watches = int(Path("/proc/sys/fs/inotify/max_user_watches").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return Finding("watcher", "ok", "file events are not counted here; changes are also found by polling")
    text = f"the system allows {watches} watched directories"
    if watches < _WATCHES_MIN:
        return Finding("watcher", "warning", text, "raise fs.inotify.max_user_watches")
    return Finding("watcher", "ok", text)
