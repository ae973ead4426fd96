"""The table of verbs: what each does, an example that works, its options, and where its code is."""

from __future__ import annotations

import importlib
import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_daemon.cli.arguments import (
    add_browse,
    add_configure,
    add_daemon_logs,
    add_daemon_run,
    add_file,
    add_fork,
    add_goal_check,
    add_goal_new,
    add_goal_render,
    add_goal_show,
    add_lsp,
    add_patch,
    add_read,
    add_reset_scope,
    add_respond,
    add_watch,
)
from stateward_daemon.cli.parser import (
    VerbParser,
    add_json_option,
    add_owner_options,
    add_place_options,
    add_state_options,
    add_store_options,
    add_wanted_option,
    described,
    terminal_width,
)
from stateward_daemon.exits import UsageFault

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable


class Verb(NamedTuple):
    """One row of the table.

    Attributes:
        name: As typed.
        code: Its module in this package and its function, which takes the options and returns the exit status.
        summary: What it does, in sentences. The first one stands in the overview.
        example: A command that works.
        options: Functions that add its arguments.
    """

    name: str
    code: str
    summary: str
    example: str
    options: tuple[Callable[[VerbParser], None], ...]

    def parser(self) -> VerbParser:
        """Return the parser of its arguments."""
        parser = VerbParser(self.name, self.summary, self.example)
        for add in self.options:
            add(parser)
        return parser

    def load(self) -> Callable[[Namespace], int]:
        """Import its code."""
        module, _, function = self.code.partition(":")
        loaded: Callable[[Namespace], int] = getattr(importlib.import_module(f"{__package__}.{module}"), function)
        return loaded


# -- the table -------------------------------------------------------------------------------------------------------

_STATE: Final = (add_state_options,)
_PLACE: Final = (add_place_options, add_json_option)
_STORE_OF_CLIENT: Final = (add_owner_options, *_PLACE)

VERBS: Final[dict[str, Verb]] = {
    verb.name: verb
    for verb in (
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
            "Print a line whenever one of the scopes changes: which ones, and their revision. What changed is not in "
            "it. Needs a daemon.",
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
            "Walk the whole store and print every fault. Exits with 1 on any. Needs a store that no daemon has.",
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
            "where",
            "daemon_verbs:where",
            "Show where store, socket and log are, and the pid of the daemon if one runs. Never starts one.",
            "stateward where",
            _PLACE,
        ),
        Verb(
            "goal check",
            "goal_check:check",
            "Check goal documents and print their problems. Exits with 1 on an error or a warning, or when --diff has "
            "something to show. A directory stands for the goal documents below it. Rules are read from stateward.toml "
            'or pyproject.toml. Needs no daemon and no store. Pass "-" to check standard input.',
            "stateward goal check '**/ACTIVE_GOAL_STATE.md'",
            (add_goal_check, add_json_option),
        ),
        Verb(
            "goal show",
            "goal_verbs:show_goal",
            "Show what a goal document says, as agents read it. Needs no daemon and no store.",
            "stateward goal show ACTIVE_GOAL_STATE.md --json",
            (add_file, add_goal_show, add_json_option),
        ),
        Verb(
            "goal render",
            "goal_verbs:render",
            "Print a goal document with canonical todo records in its sections, and all else as it was. Changes no "
            "file, and needs no daemon and no store.",
            "stateward goal render GOAL.md --records all.json --provider-revision r:42",
            (add_file, add_goal_render, add_json_option),
        ),
        Verb(
            "goal new",
            "goal_new:new",
            "Create a goal document, ACTIVE_GOAL_STATE.md if a directory is named, and never overwrite one. Needs no "
            "daemon and no store.",
            "stateward goal new --goal-id release-2.4 --objective 'Ship release 2.4'",
            (add_goal_new, add_json_option),
        ),
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
}


def is_group(word: str) -> bool:
    """Whether verbs of two words begin with `word`."""
    return any(name.startswith(f"{word} ") for name in VERBS)


def find_verb(arguments: list[str]) -> tuple[Verb, list[str]]:
    """Return the verb that the arguments begin with, and the rest of them.

    Raises:
        UsageFault: There is none of that name; the nearest known one is named.
    """
    found = _verb_at(arguments, 0)
    if found is not None:
        return found, arguments[len(found.name.split()) :]
    if arguments[0].startswith("-"):
        raise UsageFault(f"options come after the verb, as in: {_with_options_behind(arguments)}")
    import difflib  # noqa: PLC0415 - only a mistake needs it

    typed = " ".join(argument for argument in arguments[:2] if not argument.startswith("-"))
    near = difflib.get_close_matches(typed, VERBS, n=1) or [name for name in VERBS if name.startswith(f"{typed} ")]
    hint = f"did you mean stateward {near[0]}?" if near else "see stateward --help"
    raise UsageFault(f"there is no verb {typed}; {hint}")


def _verb_at(arguments: list[str], at: int) -> Verb | None:
    names = (" ".join(arguments[at : at + count]) for count in (2, 1))
    return next((VERBS[name] for name in names if name in VERBS), None)


def _with_options_behind(arguments: list[str]) -> str:
    """Return what was meant by arguments that begin with options."""
    for at in range(1, len(arguments)):
        verb = _verb_at(arguments, at)
        if verb is not None:
            words = len(verb.name.split())
            return shlex.join(["stateward", *arguments[at : at + words], *arguments[:at], *arguments[at + words :]])
    return "stateward read cwd.tactics --json; see stateward --help"


def overview(group: str = "") -> str:
    """Return the help of the program: every verb, or those of a group, with its first sentence."""
    chosen = [verb for verb in VERBS.values() if verb.name.startswith(f"{group} " if group else "")]
    column = max(len(verb.name) for verb in chosen) + 4
    width = terminal_width()
    verbs = [
        line
        for verb in chosen
        for line in described(verb.name, verb.summary.partition(". ")[0].rstrip(".") + ".", width, column)
    ]
    about = [] if group else ["", "  Working state that coding agents, their editors and their people share."]
    more = f"  stateward {group + ' ' if group else ''}VERB --help tells more of each"
    return "\n".join(
        [
            f"Usage: stateward {group + ' ' if group else ''}VERB [OPTIONS] [ARGUMENTS]",
            *about,
            "",
            "Verbs:",
            *verbs,
            "",
            f"{more}.",
            *([] if group else ["  stateward --version tells which one this is."]),
            "",
        ]
    )
