"""The verbs about where a store is: make one in a database, and copy one from one place to another."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from stateward.location import databases_directory, ensure_private_directory, store_place
from stateward_daemon import convert
from stateward_daemon.cli.printing import counted, note, show, show_json
from stateward_daemon.exits import EXIT_OK, UsageFault
from stateward_daemon.machine import this_machine
from stateward_daemon.opening import machine_of, target_of
from stateward_daemon.settings import Settings
from stateward_engine.authority.moving import moved
from stateward_engine.errors import EngineError
from stateward_engine.store.copying import Site, copy_store
from stateward_engine.store.postgresql_schema import create_schema

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stateward.location import Place


def create(options: Namespace) -> int:
    """Make the tables of a store in a database, or upgrade them, and say which."""
    place, settings = store_place(options.store), Settings.from_environment()
    database = target_of(place, settings)
    if database is None:
        raise UsageFault(
            "a store in a directory is made by its first daemon; for one in a database: stateward store create --store "
            "postgresql://HOST/DATABASE"
        )
    with _refusals():
        created = create_schema(database)
    if options.json:
        show_json({"store": str(place), **created._asdict()})
    else:
        show(f"{created.did} {place} (version {created.version}, ledger {created.ledger})")
        machine = this_machine(settings, databases_directory())
        note(f"this machine is {machine.id} there; export STATEWARD_STORE='{place}'")
    return EXIT_OK


def copy(options: Namespace) -> int:
    """Copy a store into an empty one, and print what the copy was seen to hold."""
    source, target, settings = store_place(options.source), store_place(options.target), Settings.from_environment()
    machines = machine_of(source, settings), machine_of(target, settings)
    with _refusals():
        copied = copy_store(_site(source, settings), _site(target, settings), moved=lambda view: moved(view, *machines))
    if options.json:
        show_json({"source": str(source), "target": str(target), **copied._asdict()})
        return EXIT_OK
    for kind, count in copied.streams.items():
        show(f"{kind:<8} {counted(count, 'stream')}")
    show(f"{'answers':<8} {copied.receipts} kept")
    note(f"{target} holds what {source} holds, up to sequence {copied.sequence}; the source was left as it is")
    return EXIT_OK


def _site(place: Place, settings: Settings) -> Site:
    if place.database is not None:
        ensure_private_directory(place.directory)
    return Site(place.directory, target_of(place, settings))


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    """Tell refusals of the engine as those of a daemon are told."""
    try:
        yield
    except EngineError as error:
        raise convert.wire_error(error) from None
