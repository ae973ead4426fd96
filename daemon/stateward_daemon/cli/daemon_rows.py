"""The rows of the table of verbs that are about the daemon itself."""

from __future__ import annotations

from typing import Final

from stateward_daemon.cli.arguments import (
    add_daemon_logs,
    add_daemon_run,
    add_lsp,
)
from stateward_daemon.cli.parser import (
    add_json_option,
    add_place_options,
    add_store_options,
)
from stateward_daemon.cli.verb import Verb

_PLACE: Final = (add_place_options, add_json_option)

ROWS: Final = (
    Verb(
        "daemon run",
        "daemon_verbs:run",
        "Serve a store in the foreground until told to stop. Each setting is also read from STATEWARD_<NAME>.",
        "stateward daemon run --idle-exit-s 0",
        (add_daemon_run, add_store_options),
    ),
    Verb(
        "daemon start",
        "daemon_verbs:start",
        "Start the daemon of a store in the background, unless it runs.",
        "stateward daemon start",
        _PLACE,
    ),
    Verb(
        "daemon stop",
        "daemon_verbs:stop",
        "Ask the daemon of a store to finish what it has begun and end, and wait for it.",
        "stateward daemon stop",
        _PLACE,
    ),
    Verb(
        "daemon restart",
        "daemon_verbs:restart",
        "Stop the daemon of a store, then start it again.",
        "stateward daemon restart",
        _PLACE,
    ),
    Verb(
        "daemon logs",
        "daemon_verbs:logs",
        "Show the end of the daemon's log.",
        "stateward daemon logs --lines 20",
        (add_daemon_logs, add_store_options),
    ),
    Verb(
        "lsp",
        "daemon_verbs:lsp",
        "Serve an editor over standard input and output, joined to the daemon of the store. Editors run this.",
        "stateward lsp",
        (add_lsp, add_place_options),
    ),
)
