"""The rows of the table of verbs that are about state."""

from __future__ import annotations

from typing import Final

from stateward_daemon.cli.arguments import (
    add_browse,
    add_configure,
    add_file,
    add_fork,
    add_patch,
    add_read,
    add_respond,
    add_watch,
)
from stateward_daemon.cli.parser import (
    add_json_option,
    add_owner_options,
    add_place_options,
    add_state_options,
    add_wanted_option,
)
from stateward_daemon.cli.verb import Verb

_STATE: Final = (add_state_options,)

ROWS: Final = (
    Verb(
        "read",
        "state_verbs:read",
        "Read one path of the state or several, exactly or not at all.",
        "stateward read effective.tactics",
        (add_read, *_STATE),
    ),
    Verb(
        "patch",
        "state_verbs:patch",
        "Merge JSON into the state and return once it is durable. Objects merge, null deletes a member, anything "
        'else replaces. Pass "-" to read the JSON from standard input.',
        """stateward patch '{"cwd": {"tactics": {"next": "run the tests"}}}'""",
        (add_patch, *_STATE),
    ),
    Verb(
        "baseline",
        "state_verbs:baseline",
        "Show what a run starts with: hot state, and where lazy state is.",
        "stateward baseline",
        _STATE,
    ),
    Verb(
        "respond",
        "state_verbs:respond",
        "Keep an answer as the response of the session.",
        "stateward respond 'the tests pass' --session s1",
        (add_respond, *_STATE),
    ),
    Verb(
        "fork",
        "state_verbs:fork",
        "Begin a session with the current state of another one of the same directory.",
        "stateward fork s1 s2",
        (add_fork, *_STATE),
    ),
    Verb(
        "browse",
        "state_verbs:browse",
        "Show keys and kinds of the state, one level at a time. Values are never shown.",
        "stateward browse effective.lazy",
        (add_browse, *_STATE),
    ),
    Verb(
        "state-status",
        "state_verbs:state_status",
        "Show revisions and health of the scopes.",
        "stateward state-status --wanted global",
        _STATE,
    ),
    Verb(
        "watch",
        "state_verbs:watch",
        "Print a line whenever one of the scopes changes: which ones, and their revision; or, with --topics, which "
        "todos, or the problems of goals. What changed is not in it. Needs a daemon.",
        "stateward watch --wanted cwd",
        (add_watch, add_owner_options, add_wanted_option, add_place_options, add_json_option),
    ),
    Verb(
        "configure",
        "state_verbs:configure",
        "Change the durable setting of the store.",
        "stateward configure --history-limit 7",
        (add_configure, *_STATE),
    ),
    Verb(
        "export",
        "state_verbs:export",
        'Write the stored states of the scopes to a file, or to standard output for "-". Never starts a daemon.',
        "stateward export state.json",
        (add_file, *_STATE),
    ),
    Verb(
        "import",
        "state_verbs:import_",
        "Put exported states into scopes that nothing ever changed.",
        "stateward import state.json",
        (add_file, *_STATE),
    ),
)
