"""The table of verbs: what each does, an example that works, its options, and where its code is."""

from __future__ import annotations

import argparse
import importlib
import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_daemon.cli.parser import (
    VerbParser,
    add_json_option,
    add_place_options,
    add_state_options,
    add_store_options,
    described,
    terminal_width,
)
from stateward_daemon.exits import UsageFault

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

# Of `daemon run`: fields of `stateward_daemon.settings.Settings` with their units and meanings. The values are checked
# there, so that an option and an environment variable take the same.
DAEMON_SETTINGS: Final = {
    "max_message_bytes": ("BYTES", "Refuse a longer message before it is read.  [default: 67108864]"),
    "client_stall_s": ("SECONDS", "Drop a client that does not read its answers for so long.  [default: 30]"),
    "idle_exit_s": ("SECONDS", "End after so long without clients; 0 is never.  [default: 1800]"),
    "header_timeout_s": ("SECONDS", "End a connection whose header takes longer.  [default: 5]"),
    "body_timeout_s": ("SECONDS", "End a connection whose message takes longer.  [default: 30]"),
    "connections_max": ("COUNT", "Refuse further connections.  [default: 1024]"),
    "queue_length_max": ("COUNT", "Refuse further changes while so many wait.  [default: 4096]"),
}


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


# -- arguments -------------------------------------------------------------------------------------------------------


def _read(parser: VerbParser) -> None:
    parser.add_argument("paths", metavar="PATH...", nargs="+")
    parser.add_argument(
        "--projection",
        metavar="value|keys|patch",
        choices=("value", "keys", "patch"),
        default="value",
        help="Show the value, only its keys and kinds, or what the last transition changed.  [default: value]",
    )


def _patch(parser: VerbParser) -> None:
    parser.add_argument("patch", metavar="JSON|-")
    parser.add_argument(
        "--idempotency-key", metavar="KEY", help="Make a repeat safe: the same key and patch change nothing twice."
    )
    parser.add_argument(
        "--if-revision", metavar="REVISION", help="Refuse if the state is past this revision of state-status."
    )


def _respond(parser: VerbParser) -> None:
    parser.add_argument("text", metavar="TEXT")


def _fork(parser: VerbParser) -> None:
    parser.add_argument("parent", metavar="PARENT")
    parser.add_argument("child", metavar="CHILD")


def _browse(parser: VerbParser) -> None:
    parser.add_argument("path", metavar="[PATH]", nargs="?")


def _configure(parser: VerbParser) -> None:
    parser.add_argument(
        "--history-limit",
        metavar="COUNT",
        type=int,
        required=True,
        help="How many transitions stay addressable, 0 to 100. Lowering it forgets the oldest at once.",
    )


def _file(parser: VerbParser) -> None:
    parser.add_argument("file", metavar="FILE|-")


def _goal_check(parser: VerbParser) -> None:
    parser.add_argument("files", metavar="FILE|GLOB|-...", nargs="+")
    parser.add_argument("--strict", action="store_true", help="Exit with 1 on an info, too.")
    parser.add_argument(
        "--format",
        metavar="text|json",
        choices=("text", "json"),
        default="text",
        help="Print lines as linters do, or one JSON object.  [default: text]",
    )


def _goal_show(parser: VerbParser) -> None:
    parser.add_argument("file", metavar="FILE|-")
    parser.add_argument("--goal-id", metavar="ID", help="Name the goal in the projection.")
    parser.add_argument(
        "--source-ref",
        metavar="REF",
        default="ACTIVE_GOAL_STATE.md",
        help="Name the document in the projection.  [default: ACTIVE_GOAL_STATE.md]",
    )


def _daemon_run(parser: VerbParser) -> None:
    for name, (unit, meaning) in DAEMON_SETTINGS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar=unit, help=meaning)


def _daemon_logs(parser: VerbParser) -> None:
    parser.add_argument(
        "--lines", metavar="COUNT", type=_line_count, default=50, help="Show so many of the last lines.  [default: 50]"
    )


def _line_count(text: str) -> int:
    # Not `int`, which takes signs, underscores and the digits of other scripts.
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError("a count of lines is a whole number from 0")
    return int(text)


def _lsp(parser: VerbParser) -> None:
    parser.add_argument("--stdio", action="store_true", help="Accepted because editors pass it; it is the only way.")


# -- the table -------------------------------------------------------------------------------------------------------

_STATE: Final = (add_state_options,)
_PLACE: Final = (add_place_options, add_json_option)

VERBS: Final[dict[str, Verb]] = {
    verb.name: verb
    for verb in (
        Verb(
            "read",
            "state_verbs:read",
            "Read one path of the state or several, exactly or not at all.",
            "stateward read effective.tactics",
            (_read, *_STATE),
        ),
        Verb(
            "patch",
            "state_verbs:patch",
            "Merge JSON into the state and return once it is durable. Objects merge, null deletes a member, anything "
            'else replaces. Pass "-" to read the JSON from standard input.',
            """stateward patch '{"cwd": {"tactics": {"next": "run the tests"}}}'""",
            (_patch, *_STATE),
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
            (_respond, *_STATE),
        ),
        Verb(
            "fork",
            "state_verbs:fork",
            "Begin a session with the current state of another one of the same directory.",
            "stateward fork s1 s2",
            (_fork, *_STATE),
        ),
        Verb(
            "browse",
            "state_verbs:browse",
            "Show keys and kinds of the state, one level at a time. Values are never shown.",
            "stateward browse effective.lazy",
            (_browse, *_STATE),
        ),
        Verb(
            "state-status",
            "state_verbs:state_status",
            "Show revisions and health of the scopes.",
            "stateward state-status --wanted global",
            _STATE,
        ),
        Verb(
            "configure",
            "state_verbs:configure",
            "Change the durable setting of the store.",
            "stateward configure --history-limit 7",
            (_configure, *_STATE),
        ),
        Verb(
            "export",
            "state_verbs:export",
            'Write the stored states of the scopes to a file, or to standard output for "-". Never starts a daemon.',
            "stateward export state.json",
            (_file, *_STATE),
        ),
        Verb(
            "import",
            "state_verbs:import_",
            "Put exported states into scopes that nothing ever changed.",
            "stateward import state.json",
            (_file, *_STATE),
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
            "where",
            "daemon_verbs:where",
            "Show where store, socket and log are, and the pid of the daemon if one runs. Never starts one.",
            "stateward where",
            _PLACE,
        ),
        Verb(
            "goal check",
            "goal_verbs:check",
            "Check goal documents and print their problems. Exits with 1 on an error or a warning. Needs no daemon "
            'and no store. Pass "-" to check standard input.',
            "stateward goal check '**/ACTIVE_GOAL_STATE.md'",
            (_goal_check, add_json_option),
        ),
        Verb(
            "goal show",
            "goal_verbs:show_goal",
            "Show what a goal document says, as agents read it. Needs no daemon and no store.",
            "stateward goal show ACTIVE_GOAL_STATE.md --json",
            (_goal_show, add_json_option),
        ),
        Verb(
            "daemon run",
            "daemon_verbs:run",
            "Serve a store in the foreground until told to stop. Each setting is also read from STATEWARD_<NAME>.",
            "stateward daemon run --idle-exit-s 0",
            (_daemon_run, add_store_options),
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
            (_daemon_logs, add_store_options),
        ),
        Verb(
            "lsp",
            "daemon_verbs:lsp",
            "Serve an editor over standard input and output, joined to the daemon of the store. Editors run this.",
            "stateward lsp",
            (_lsp, add_place_options),
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
