"""`stateward`, the command line: from arguments to a verb, and from what it raises to an exit status.

Verbs are imported when they are called, and a verb that only reads state imports neither asyncio nor pygls nor the
engine: a command that agents run hundreds of times a day must start fast. Source: protocol.md section 6.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from stateward_daemon.cli.printing import complain, note
from stateward_daemon.cli.refusals import print_refusal
from stateward_daemon.cli.streams import OutputFault, prepare_streams, silence
from stateward_daemon.cli.verbs import find_verb, is_group, overview
from stateward_daemon.exits import (
    EXIT_FINDINGS,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_UNAVAILABLE,
    EXIT_USAGE,
    UsageFault,
    exit_of,
)
from stateward_protocol import __version__
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 fine, 1 findings or refusal, 2 usage, 3 unavailable.

    Args:
        argv: The arguments without the program's name; by default those of the process.
    """
    prepare_streams()
    try:
        status = _run(sys.argv[1:] if argv is None else list(argv))
        sys.stdout.flush()
    except UsageFault as fault:
        complain(str(fault))
        return EXIT_USAGE
    except BrokenPipeError:
        # Whoever read us has enough.
        silence(sys.stdout)
        return EXIT_FINDINGS
    except OutputFault as fault:
        complain(str(fault))
        silence(sys.stdout)
        return EXIT_UNAVAILABLE
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
    group, asked = ("", arguments) if not arguments or not is_group(arguments[0]) else (arguments[0], arguments[1:])
    if asked in ([], ["--help"], ["-h"], ["help"]):
        print(overview(group), end="", file=sys.stdout if asked else sys.stderr)
        return EXIT_OK if asked else EXIT_USAGE
    verb, rest = find_verb(arguments)
    try:
        options = verb.parser().parse_intermixed_args(rest)
    except SystemExit:
        # The help was printed; the end of the process is not argparse's to decide.
        return EXIT_OK
    as_json = options.json or options.format == "json"
    try:
        return verb.load()(options)
    except WireError as error:
        print_refusal(error, verb, options, as_json=as_json)
        if error.category == "unwanted_owner" and getattr(options, "session", "") is None:
            note("note: no session was named; name one with --session ID, or STATEWARD_SESSION")
        return exit_of(error)
    except UsageFault as fault:
        if not as_json:
            raise
        print_refusal(WireError(fault.category, str(fault)), verb, options, as_json=True)
        return EXIT_USAGE
