"""Arguments of one verb, and its help: a sentence, an example that works, then options with units.

argparse does the parsing. The help is laid out here, because argparse lays it out differently from one Python to the
next, and it is compared with golden files.
"""

from __future__ import annotations

import argparse
import os
import shutil
from typing import TYPE_CHECKING, Final, NoReturn

from stateward.location import names_database
from stateward.start import TIMEOUT_S
from stateward_daemon.exits import UsageFault
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OWNERS: Final = ("global", "cwd", "session")

# Longer lines are hard to read however wide the terminal is.
_WIDTH_MAX: Final = 100
_HELP_COLUMN: Final = 26


class VerbParser(argparse.ArgumentParser):
    """The parser of one verb.

    A wrong command line raises `UsageFault` instead of ending the process; `--help` prints and ends it with 0.
    """

    def __init__(self, name: str, summary: str, example: str) -> None:
        """Make a parser without options.

        Args:
            name: The verb as typed, such as `goal check`.
            summary: What it does, in sentences.
            example: A command that works.
        """
        super().__init__(prog=f"stateward {name}", description=summary, allow_abbrev=False, add_help=False)
        self._example = example
        # By param, the variable of the environment that stands for an option which is not given.
        self.variables: dict[str, str] = {}
        # For the verbs that have no such option.
        self.set_defaults(json=False, format="text", embedded=False, cwd=None, session=None, wanted=None)
        self.add_argument("--help", action="help", help="Show this text.")

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        spelled = self.spelled()
        missing = [
            name for param, name in self.variables.items() if "required" in message and spelled[param] in message
        ]
        also = f", or set {', '.join(missing)}" if missing else ""
        raise UsageFault(f"{message}{also}; see {self.prog} --help")

    def from_environment(self, param: str, variable: str) -> str | None:
        """Return what a variable says of a param, `None` where it says nothing."""
        self.variables[param] = variable
        return os.environ.get(variable) or None

    def spelled(self) -> dict[str, str]:
        """Return by param the option that gives it, or the word that stands for it."""
        return {action.dest: (*action.option_strings, str(action.metavar))[0] for action in self._actions}

    def format_usage(self) -> str:
        """Return the line that tells how the verb is called."""
        positionals = [str(action.metavar) for action in self._actions if not action.option_strings]
        return " ".join(["Usage:", self.prog, "[OPTIONS]", *positionals]) + "\n"

    def format_help(self) -> str:
        """Return the help text, as wide as the terminal allows."""
        import textwrap  # noqa: PLC0415 - only help needs it

        width = terminal_width()
        summary = textwrap.fill(self.description or "", width, initial_indent="  ", subsequent_indent="  ")
        lines = [self.format_usage(), summary, "", "  Example:", "", *_typed(self._example, width), "", "Options:"]
        for action in self._actions:
            if action.option_strings:
                lines += described(_invocation(action), str(action.help), width)
        return "\n".join(lines) + "\n"


def _typed(command: str, width: int) -> Iterator[str]:
    r"""Yield the lines of a command as a shell takes them, broken before an option where it is long.

    >>> list(_typed("stateward todo add --goal-id g1 --text 'Rehearse it'", 34))
    ["      stateward todo add \\", "          --goal-id g1 \\", "          --text 'Rehearse it'"]
    """
    line, *options = command.split(" --")
    line = f"      {line}"
    for option in options:
        if len(line) + len(f" --{option} \\") > width:
            yield f"{line} \\"
            line = " " * 9
        line += f" --{option}"
    yield line


def _invocation(action: argparse.Action) -> str:
    return " ".join([*action.option_strings, *([str(action.metavar)] if action.metavar else [])])


def terminal_width() -> int:
    """Return how wide help may be."""
    return min(shutil.get_terminal_size().columns, _WIDTH_MAX)


def described(invocation: str, meaning: str, width: int, column: int = _HELP_COLUMN) -> Iterator[str]:
    """Yield a word and its meaning, which begins at `column`; one under the other where the word is long."""
    import textwrap  # noqa: PLC0415 - only help needs it

    indent = " " * column
    first = f"  {invocation}"
    lines = textwrap.wrap(meaning, width - column, break_on_hyphens=False)
    if len(first) + 2 <= column:
        yield first.ljust(column) + lines.pop(0)
    else:
        yield first
    yield from (indent + line for line in lines)


# -- options that several verbs have ---------------------------------------------------------------------------------


def add_json_option(parser: VerbParser) -> None:
    """Add the choice of output."""
    parser.add_argument("--json", action="store_true", help="Print JSON on standard output.")


def add_store_option(parser: VerbParser) -> None:
    """Add which store is meant."""
    parser.add_argument(
        "--store",
        metavar="DIRECTORY|URI",
        type=store_name,
        help="The store: a directory, or postgresql://HOST/DATABASE.  [default: STATEWARD_STORE, else the user's data "
        "directory]",
    )


def add_store_options(parser: VerbParser) -> None:
    """Add which store is meant, and where its daemon listens."""
    add_store_option(parser)
    parser.add_argument(
        "--socket",
        metavar="PATH",
        help="Where a daemon that is started listens.  [default: STATEWARD_SOCKET, else a private runtime directory]",
    )


def add_place_options(parser: VerbParser) -> None:
    """Add which store is meant and how long to wait for its daemon."""
    add_store_options(parser)
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=_seconds,
        default=TIMEOUT_S,
        help=f"Wait at most this long for an answer.  [default: {TIMEOUT_S:g}]",
    )


def add_owner_options(parser: VerbParser) -> None:
    """Add whose state is meant."""
    parser.add_argument(
        "--cwd", metavar="DIRECTORY", default=".", help="Whose cwd state is meant.  [default: the current directory]"
    )
    parser.add_argument(
        "--session",
        metavar="ID",
        default=parser.from_environment("session", "STATEWARD_SESSION"),
        help="The session.  [default: STATEWARD_SESSION, else none]",
    )


def add_wanted_option(parser: VerbParser) -> None:
    """Add which of the owners are meant."""
    parser.add_argument(
        "--wanted",
        metavar="OWNERS",
        type=_owners,
        help="Work with these owners only: global, cwd, session, separated by commas.  [default: all that are given]",
    )


def add_state_options(parser: VerbParser) -> None:
    """Add whose state is meant, and where it is."""
    add_owner_options(parser)
    add_wanted_option(parser)
    add_reach_options(parser)


def add_reach_options(parser: VerbParser) -> None:
    """Add where the store is, how it is reached, and the choice of output."""
    add_place_options(parser)
    parser.add_argument("--embedded", action="store_true", help="Work in this process, without a daemon.")
    add_json_option(parser)


def store_name(text: str) -> str:
    """Return what names a store, for argparse, unless it tells a password to everybody who lists processes."""
    if names_database(text):
        from stateward.database import read_database  # noqa: PLC0415 - few stores are in a database

        try:
            has_secret = read_database(text).has_secret
        except WireError as error:
            raise argparse.ArgumentTypeError(error.message) from None
        if has_secret:
            raise argparse.ArgumentTypeError(
                "others can read the arguments of a command, so a password is none of them: put it into ~/.pgpass or "
                "PGPASSWORD, or the whole address into STATEWARD_STORE"
            )
    return text


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    # Rejects nan and infinity too: no clock reaches them.
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError("seconds are a number above 0")
    return seconds


def _owners(text: str) -> Sequence[str]:
    owners = text.split(",")
    if not set(owners) <= set(OWNERS):
        raise argparse.ArgumentTypeError(f"owners are {', '.join(OWNERS)}, separated by commas")
    return owners
