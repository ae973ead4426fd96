"""The arguments that single verbs have; those that several have are in `parser.py`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from stateward_daemon.cli.parser import OWNERS, store_name

if TYPE_CHECKING:
    from stateward_daemon.cli.parser import VerbParser

TOPICS: Final = ("state", "goals", "todos")

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
    "machine": ("NAME", "Name this machine in a store that several share.  [default: made of /etc/machine-id]"),
    "database_connect_s": ("SECONDS", "Give the database so long to accept a connection.  [default: 5]"),
    "database_statement_s": ("SECONDS", "Give the database so long for a statement.  [default: 10]"),
    "database_lock_s": ("SECONDS", "Wait so long for whoever holds the head of the ledger.  [default: 3]"),
    "database_poll_s": ("SECONDS", "Look so often for changes that nobody told of.  [default: 5]"),
    "max_stale_s": ("SECONDS", "Refuse reads when the database is out of reach for longer; 0 is never.  [default: 0]"),
    "store_file_system": ("KIND", "Take a store on any file system, or on a local one only.  [default: local]"),
}


def add_store_copy(parser: VerbParser) -> None:
    """Add the two stores."""
    parser.add_argument("source", metavar="SOURCE", type=store_name)
    parser.add_argument("target", metavar="TARGET", type=store_name)


def add_read(parser: VerbParser) -> None:
    """Add what to read and how."""
    parser.add_argument("paths", metavar="PATH...", nargs="+")
    parser.add_argument(
        "--projection",
        metavar="value|keys|patch",
        choices=("value", "keys", "patch"),
        default="value",
        help="Show the value, only its keys and kinds, or what the last transition changed.  [default: value]",
    )


def add_patch(parser: VerbParser) -> None:
    """Add the patch and what guards it."""
    parser.add_argument("patch", metavar="JSON|-")
    parser.add_argument(
        "--idempotency-key", metavar="KEY", help="Make a repeat safe: the same key and patch change nothing twice."
    )
    parser.add_argument(
        "--if-revision", metavar="REVISION", help="Refuse if the state is past this revision of state-status."
    )


def add_respond(parser: VerbParser) -> None:
    """Add the answer."""
    parser.add_argument("text", metavar="TEXT")


def add_fork(parser: VerbParser) -> None:
    """Add the two sessions."""
    parser.add_argument("parent", metavar="PARENT")
    parser.add_argument("child", metavar="CHILD")


def add_browse(parser: VerbParser) -> None:
    """Add where to look."""
    parser.add_argument("path", metavar="[PATH]", nargs="?")


def add_configure(parser: VerbParser) -> None:
    """Add the settings of the store."""
    parser.add_argument(
        "--history-limit",
        metavar="COUNT",
        type=int,
        required=True,
        help="How many transitions stay addressable, 0 to 100. Lowering it forgets the oldest at once.  [at first: 7]",
    )


def add_reset_scope(parser: VerbParser) -> None:
    """Add the scope and whether to ask."""
    parser.add_argument("scope", metavar="global|cwd|session|goal|display", choices=(*OWNERS, "goal", "display"))
    parser.add_argument("--goal-id", metavar="ID", help="Whose stream goal or display is.")
    parser.add_argument("--yes", action="store_true", help="Do not ask.")


def add_watch(parser: VerbParser) -> None:
    """Add what is watched, and when that ends."""
    parser.add_argument(
        "--topics",
        metavar="TOPICS",
        type=_topics,
        default=["state"],
        help="Watch state, goals (the problems of their documents) and todos, separated by commas.  [default: state]",
    )
    parser.add_argument(
        "--count", metavar="COUNT", type=_count_from_1, help="End after so many, 1 or more.  [default: never]"
    )


def add_file(parser: VerbParser) -> None:
    """Add the file."""
    parser.add_argument("file", metavar="FILE|-")


def add_goal_check(parser: VerbParser) -> None:
    """Add the documents and how to report on them."""
    parser.add_argument("files", metavar="FILE|DIRECTORY|GLOB|-...", nargs="+")
    parser.add_argument("--strict", action="store_true", help="Exit with 1 on an info, too.")
    parser.add_argument(
        "--format",
        metavar="text|json|sarif|github",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="Print lines as linters do, one JSON object, a SARIF log, or workflow commands of GitHub.  "
        "[default: text]",
    )
    mending = parser.add_mutually_exclusive_group()
    mending.add_argument("--fix", action="store_true", help="Make the safe fixes first, then print what is left.")
    mending.add_argument("--diff", action="store_true", help="Print what --fix would change, as a patch, and exit.")
    parser.add_argument(
        "--stdin-filename", metavar="FILE", help='Name standard input, for its findings and its rules.  [default: "-"]'
    )


def add_goal_new(parser: VerbParser) -> None:
    """Add where the document comes and what it says."""
    parser.add_argument("file", metavar="[FILE|DIRECTORY]", nargs="?", default=".")
    parser.add_argument("--goal-id", metavar="ID", required=True, help="Name the goal.")
    parser.add_argument("--objective", metavar="TEXT", required=True, help="Say what is to be reached.")
    parser.add_argument(
        "--next-action",
        metavar="TEXT",
        default="Define the first bounded step.",
        help='Say what comes first.  [default: "Define the first bounded step."]',
    )
    parser.add_argument("--register", action="store_true", help="Register it in the store as well, for its todos.")


def add_goal_show(parser: VerbParser) -> None:
    """Add the names of the document."""
    parser.add_argument("--goal-id", metavar="ID", help="Name the goal in the projection.")
    parser.add_argument(
        "--source-ref",
        metavar="REF",
        help="Name the document in the projection.  [default: ACTIVE_GOAL_STATE.md]",
    )


def add_goal_render(parser: VerbParser) -> None:
    """Add the records and their revision."""
    parser.add_argument(
        "--records",
        metavar="FILE|-",
        required=True,
        help='JSON: an object with "records", all of the goal, and maybe "private_validation".',
    )
    parser.add_argument(
        "--provider-revision", metavar="REVISION", required=True, help="Name the revision that the records are of."
    )


def add_daemon_run(parser: VerbParser) -> None:
    """Add the settings of the daemon."""
    for name, (unit, meaning) in DAEMON_SETTINGS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar=unit, help=meaning)


def add_daemon_logs(parser: VerbParser) -> None:
    """Add how much of the log is shown."""
    parser.add_argument(
        "--lines", metavar="COUNT", type=count, default=50, help="Show so many of the last lines.  [default: 50]"
    )


def count(text: str) -> int:
    """Return a count as the command line takes it.

    Raises:
        ArgumentTypeError: It is none.
    """
    # Not `int`, which takes signs, underscores and the digits of other scripts.
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError("a count is a whole number from 0")
    return int(text)


def _count_from_1(text: str) -> int:
    counted = count(text)
    if not counted:
        raise argparse.ArgumentTypeError("a count of changes is a whole number from 1")
    return counted


def _topics(text: str) -> list[str]:
    topics = text.split(",")
    if not set(topics) <= set(TOPICS):
        raise argparse.ArgumentTypeError(f"topics are {', '.join(TOPICS)}, separated by commas")
    return topics


def add_lsp(parser: VerbParser) -> None:
    """Add what editors pass."""
    parser.add_argument("--stdio", action="store_true", help="Accepted because editors pass it; it is the only way.")
