"""`stateward`, the command line: from arguments to a verb, and from what it raises to an exit status.

Verbs are imported when they are called, and a verb that only reads state imports neither asyncio nor pygls nor the
engine: a command that agents run hundreds of times a day must start fast. Source: protocol.md section 6.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from stateward_daemon.cli.exits import (
    EXIT_FINDINGS,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_UNAVAILABLE,
    EXIT_USAGE,
    UsageFault,
    exit_of,
)
from stateward_daemon.cli.printing import complain, print_refusal
from stateward_daemon.cli.verbs import find_verb, overview
from stateward_protocol import __version__
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 fine, 1 findings or refusal, 2 usage, 3 unavailable.

    Args:
        argv: The arguments without the program's name; by default those of the process.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # JSON is UTF-8 whatever the locale says, and no text of a user may end a verb with an encoding error.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        status = _run(sys.argv[1:] if argv is None else list(argv))
        sys.stdout.flush()
    except UsageFault as fault:
        complain(str(fault))
        return EXIT_USAGE
    except BrokenPipeError:
        # Whoever read us has enough. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FINDINGS
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - a mistake of ours is told in one line, and its text may quote a body
        complain(f"this is a mistake of stateward, please report it: {_whereabouts(error)}")
        return EXIT_UNAVAILABLE
    return status


def _whereabouts(error: Exception) -> str:
    """Return the kind of an exception and where in the code it was raised."""
    import traceback  # noqa: PLC0415 - only a mistake needs it

    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {os.path.basename(place.filename)}:{place.lineno}"  # noqa: PTH119 - a name


def _run(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print(f"stateward {__version__}")
        return EXIT_OK
    if arguments in ([], ["--help"], ["-h"], ["help"]):
        print(overview(), end="", file=sys.stdout if arguments else sys.stderr)
        return EXIT_OK if arguments else EXIT_USAGE
    verb, rest = find_verb(arguments)
    options = verb.parser().parse_intermixed_args(rest)
    try:
        return verb.load()(options)
    except WireError as error:
        print_refusal(error, verb.name, as_json=options.json)
        return exit_of(error)
