"""What the command line shows: JSON, and text for people.

Everything here passes through the one escape function, so no state, document or log can drive the terminal.
"""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from typing import TYPE_CHECKING, Any, Final, TextIO

from stateward.location import DATABASE_SCHEMES
from stateward.printable import printable, printable_lines
from stateward_daemon.cli.streams import silence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from stateward_protocol.messages import DiagnosticItem, ScopeHealth, WriterHealth

# Enough to begin with.
_PROBLEMS_SHOWN: Final = 5
COLORS: Final = {"error": "31", "warning": "33", "info": "36", "note": "2"}


def show(text: str) -> None:
    """Print lines for people on standard output."""
    print(printable_lines(text))


def show_table(rows: Iterable[tuple[str, object]], indent: str = "") -> None:
    """Print names and values in two columns; a value that is not there is a dash."""
    known = [(printable(name), "-" if value is None else str(value)) for name, value in rows]
    width = max((columns(name) for name, _ in known), default=0)
    for name, value in known:
        show(f"{indent}{name}{' ' * (width - columns(name))}  {value}".rstrip())


def show_json(value: Any, *, indent: int | None = None) -> None:  # noqa: ANN401 - any JSON value
    """Print a JSON text on standard output; escaping it leaves its value as it is."""
    show(json.dumps(value, ensure_ascii=False, indent=indent))


def health_word(health: ScopeHealth | WriterHealth) -> str:
    """Return a health as people read it."""
    return "ok" if health.ok else f"not ok: {health.reason}"


def whose(kind: str, cwd: str | None, session: str | None, goal: str | None = None) -> str:
    """Return a stream as people name it.

    >>> whose("session", "/home/ada", "s1")
    'the session scope of s1 in /home/ada'
    """
    if goal is not None:
        return f"the {kind} stream of {goal}"
    place = "" if cwd is None else f" of {cwd}" if session is None else f" of {session} in {cwd}"
    return f"the {kind} scope{place}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "fault"), counted(2, "fault")
    ('1 fault', '2 faults')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def problem_lines(items: Sequence[DiagnosticItem] | None, count: int | None) -> Iterator[str]:
    """Yield problems of a document as people read them, the first few.

    Args:
        items: Those that were told, `None` when that is not known.
        count: How many there are.
    """
    if items is None or count is None:
        yield "  what they are now is not known: stateward goal check tells"
        return
    for item in items[:_PROBLEMS_SHOWN]:
        yield f"  line {item.range.start.line + 1}: {item.severity}[{item.code}] {item.message}"
    left = count - min(len(items), _PROBLEMS_SHOWN)
    if left or not count:
        yield f"  and {left} more" if left else "  there are none"


def extent(meta: dict[str, Any]) -> str:
    """Return a kind with its size, such as `array of 3`."""
    size = meta.get("size", meta.get("length"))
    return str(meta["type"]) if size is None else f"{meta['type']} of {size}"


def note(text: str) -> None:
    """Print something for people on standard error, so that standard output stays what was asked for.

    What was printed before comes first, also where both go to one file.
    """
    sys.stdout.flush()
    _tell(text)


def complain(text: str) -> None:
    """Print a complaint of the program itself, whatever has become of standard output."""
    if any(scheme in text for scheme in DATABASE_SCHEMES):
        # What was typed is told, but no password in it.
        from stateward.database import without_secrets  # noqa: PLC0415 - few stores are in a database

        text = without_secrets(text)
    _tell(f"stateward: {text}")


def _tell(text: str) -> None:
    try:
        print(printable_lines(text), file=sys.stderr)
    except OSError:
        # There is nobody to tell, and what was asked for may still reach whoever asked.
        silence(sys.stderr)


def paint(text: str, color: str, stream: TextIO) -> str:
    """Return `text`, which must be safe to show, in a color of `COLORS` where a person at `stream` wants colors."""
    wanted = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\x1b[{COLORS[color]}m{text}\x1b[0m" if wanted else text


def columns(text: str) -> int:
    """Return how many columns a terminal gives `text`, which must be safe to show."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
