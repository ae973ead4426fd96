"""The rows of the table of verbs that are about the store and whoever uses it."""

from __future__ import annotations

from typing import Final

from stateward_daemon.cli.arguments import (
    add_reset_scope,
    add_store_copy,
)
from stateward_daemon.cli.parser import (
    add_json_option,
    add_owner_options,
    add_place_options,
    add_state_options,
    add_store_option,
)
from stateward_daemon.cli.verb import Verb

_STATE: Final = (add_state_options,)
_PLACE: Final = (add_place_options, add_json_option)
_STORE_OF_CLIENT: Final = (add_owner_options, *_PLACE)

ROWS: Final = (
    Verb(
        "reset-scope",
        "store_verbs:reset_scope",
        "Give up all that a scope holds, damaged or not. Shows what goes, and asks.",
        "stateward reset-scope cwd",
        (add_reset_scope, *_STORE_OF_CLIENT),
    ),
    Verb("sessions", "daemon_verbs:sessions", "List the live connections.", "stateward sessions", _STATE),
    Verb(
        "status",
        "daemon_verbs:status",
        "Show versions, places, load and health of the daemon.",
        "stateward status",
        _STATE,
    ),
    Verb(
        "doctor",
        "doctor:doctor",
        "Look at everything that a daemon depends on, and say what is wrong and what to do. Never starts one.",
        "stateward doctor",
        _PLACE,
    ),
    Verb(
        "check-store",
        "store_verbs:check_store",
        "Walk the whole store and print every fault. Exits with 1 on any. One in a directory must be free.",
        "stateward check-store --json",
        _PLACE,
    ),
    Verb(
        "compact",
        "store_verbs:compact",
        "Write all changed checkpoints and begin a new journal, with or without a daemon. Never starts one.",
        "stateward compact",
        _PLACE,
    ),
    Verb(
        "store create",
        "database_verbs:create",
        "Make a store in a PostgreSQL database, or upgrade one there; says which. Starts no daemon.",
        "stateward store create --store postgresql://ada@db.example.org/team",
        (add_store_option, add_json_option),
    ),
    Verb(
        "store copy",
        "database_verbs:copy",
        "Copy a store into an empty one, while no daemon has either, and verify the copy stream by stream.",
        "stateward store copy /srv/stateward postgresql://ada@db.example.org/team",
        (add_store_copy, add_json_option),
    ),
    Verb(
        "where",
        "daemon_verbs:where",
        "Show where store, socket and log are, and the pid of the daemon if one runs. Never starts one.",
        "stateward where",
        _PLACE,
    ),
)
