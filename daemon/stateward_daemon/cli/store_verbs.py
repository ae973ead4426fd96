"""The verbs about the store as a whole: check it, shorten it, give a scope up."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, cast

import msgspec

from stateward.location import store_place
from stateward_daemon.cli.printing import counted, extent, note, show, show_json, show_table, whose
from stateward_daemon.cli.reach import open_client
from stateward_daemon.exits import EXIT_FINDINGS, EXIT_OK, UsageFault
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from argparse import Namespace

    from stateward import Client
    from stateward.location import Place
    from stateward_engine.state.view import Identity
    from stateward_engine.store.check import Report
    from stateward_protocol.messages import Owner, StreamKind


def check_store(options: Namespace) -> int:
    """Print every fault of the store, and its streams."""
    report = checked(store_place(options.store))
    if options.json:
        show_json(
            {
                "ok": not report.faults,
                "faults": [
                    {"file": fault.file, "reason": fault.reason, "offset": fault.offset} for fault in report.faults
                ],
                "streams": [
                    {
                        "kind": stream.identity.kind,
                        "identity": _identity(stream.identity),
                        "file": stream.file,
                        "ok": stream.reason is None,
                        "reason": stream.reason,
                    }
                    for stream in report.streams
                ],
            }
        )
    else:
        for fault in report.faults:
            show(f"{fault.file or 'the store'}: {fault.reason}")
        note(f"{counted(len(report.streams), 'stream')}, {counted(len(report.faults), 'fault')}")
    return EXIT_FINDINGS if report.faults else EXIT_OK


def _identity(identity: Identity) -> dict[str, str | None]:
    if identity.goal is not None:
        return {"goal": identity.goal}
    return {"cwd": identity.cwd, "session": identity.session}


def checked(place: Place) -> Report:
    """Return what a check of the store finds.

    Raises:
        WireError: A daemon has it, there is none, or it cannot be read.
    """
    # Not at the top: the engine is not needed where a daemon is asked.
    from stateward_daemon import convert  # noqa: PLC0415
    from stateward_daemon.opening import target_of  # noqa: PLC0415
    from stateward_daemon.settings import Settings  # noqa: PLC0415
    from stateward_engine.errors import EngineError  # noqa: PLC0415

    database = target_of(place, Settings.from_environment())
    try:
        if database is not None:
            from stateward_engine.store.postgresql_check import check_postgresql  # noqa: PLC0415 - its library is rare

            return check_postgresql(database)
        from stateward_engine.store.check import check_store  # noqa: PLC0415

        return check_store(place.directory)
    except EngineError as error:
        raise convert.wire_error(error) from None
    except FileNotFoundError:
        raise _no_store(place) from None
    except OSError as error:
        raise WireError("store_unavailable", f"the store {place} cannot be read ({error.strerror})") from None


def compact(options: Namespace) -> int:
    """Shorten the journal, in the daemon or, where none runs, in this process."""
    with _reached(options) as client:
        result = client.compact()
    if options.json:
        show_json(msgspec.to_builtins(result))
    else:
        note(f"wrote {counted(result.streams_written, 'checkpoint')}")
    return EXIT_OK


def reset_scope(options: Namespace) -> int:
    """Show what a scope holds, ask, and give it up."""
    scope: StreamKind = options.scope
    named = _named(options)
    with _reached(options) as client:
        if not options.yes:
            show_table(_held(client, scope, named).items())
            _ask(scope, named)
        result = client.reset_scope(scope, **named)
    if options.json:
        show_json(msgspec.to_builtins(result))
    else:
        show(f"changed {scope}" if result.changed else "nothing changed")
    return EXIT_OK


def _named(options: Namespace) -> dict[str, str]:
    """Return what names the stream, as the wire calls it.

    Raises:
        UsageFault: Something of it is missing.
    """
    needed = {"global": (), "cwd": ("cwd",), "session": ("cwd", "session")}.get(options.scope, ("goal_id",))
    given = {"cwd": os.path.realpath(options.cwd), "session": options.session, "goal_id": options.goal_id}
    for name, option in (("session", "--session s1"), ("goal_id", "--goal-id release-2.4")):
        if name in needed and given[name] is None:
            which = "session" if name == "session" else "goal"
            raise UsageFault(f"which {which}? name it, as in: stateward reset-scope {options.scope} {option}")
    return {name: given[name] for name in needed}


def _held(client: Client, scope: StreamKind, named: dict[str, str]) -> dict[str, object]:
    """Return what would go: planes and how much they hold, or what is wrong with them."""
    try:
        if "goal_id" in named:
            client.attach()
            status = client.goal_status(named["goal_id"])
            return {"path": status.path, "promoted": status.promoted, "revision": status.provider_revision}
        client.attach(wanted=[cast("Owner", scope)], cwd=named.get("cwd"), session=named.get("session"))
    except WireError as error:
        if error.data.get("reason_code") == "goal_not_registered":
            return {scope: "empty"}
        if error.category != "corrupt_store":
            raise
        return {"damaged": error.data.get("file"), "reason": error.data.get("reason")}
    held: dict[str, object] = {}
    for plane in client.read_state(scope, projection="keys")["keys"]:
        path = f"{scope}.{plane}"
        held[path] = extent(client.read_state(path, projection="keys")["meta"])
    return held or {scope: "empty"}


def _ask(scope: StreamKind, named: dict[str, str]) -> None:
    """Return once the user has typed the name of the scope.

    Raises:
        UsageFault: Something else, or nobody is there to type.
    """
    cwd, session, goal = named.get("cwd"), named.get("session"), named.get("goal_id")
    note(f"All of this goes, with its history: {whose(scope, cwd, session, goal)}.")
    if not sys.stdin.isatty():
        from stateward_engine.state.view import Identity, reset_command  # noqa: PLC0415 - as in `checked`

        command = reset_command(Identity(scope, cwd, session, goal))
        raise UsageFault(f"nothing was changed; to give it up without being asked: {command} --yes")
    note(f"Type {scope} to go on:")
    if sys.stdin.readline().strip() != scope:
        raise UsageFault("nothing was changed")


def _reached(options: Namespace) -> Client:
    """Return a client that is not attached, of the daemon that runs or in this process.

    Raises:
        WireError: There is no store, or it cannot be had.
    """
    place = store_place(options.store)
    if place.database is None and not place.directory.exists():
        raise _no_store(place)
    return open_client(options, start="never", changes=True, attach=False)


def _no_store(place: Place) -> WireError:
    return WireError(
        "store_unavailable",
        f"there is no store at {place}; the first daemon makes one",
        example="stateward daemon start",
    )
