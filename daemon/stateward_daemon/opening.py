"""Opening the store of a place, whichever engine keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward.location import databases_directory
from stateward_daemon.machine import this_machine
from stateward_engine.store.postgresql_target import Limits, Target
from stateward_engine.store.store import Store, open_store, run_here

if TYPE_CHECKING:
    from stateward.location import Place
    from stateward_daemon.settings import Settings
    from stateward_engine.authority.goal import Machine
    from stateward_engine.store.writer import Deliver


def open_place(place: Place, settings: Settings, *, read_only: bool = False, deliver: Deliver = run_here) -> Store:
    """Open the store of a place.

    Args:
        place: Where it is.
        settings: What bounds it.
        read_only: As for `open_store`.
        deliver: As for `open_store`.

    Raises:
        EngineError: As for `open_store`.
    """
    return open_store(
        place.directory,
        read_only=read_only,
        deliver=deliver,
        queue_length_max=settings.queue_length_max,
        any_file_system=settings.store_file_system == "any",
        database=target_of(place, settings),
    )


def target_of(place: Place, settings: Settings) -> Target | None:
    """Return the database that keeps a store; `None` for one in a directory."""
    database = place.database
    if database is None:
        return None
    limits = Limits(
        connect_s=settings.database_connect_s,
        statement_s=settings.database_statement_s,
        lock_s=settings.database_lock_s,
        poll_s=settings.database_poll_s,
    )
    return Target(database.uri, database.schema, database.shown, limits)


def machine_of(place: Place, settings: Settings) -> Machine | None:
    """Return what this machine is called in a store; `None` in one that it has for itself.

    Raises:
        WireError: As for `this_machine`.
    """
    return None if place.database is None else this_machine(settings, databases_directory())
