"""What the command line shows: JSON, text for people, and refusals with the facts that help to mend the call.

Everything here passes through the one escape function, so no state, document or log can drive the terminal.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import unicodedata
from typing import TYPE_CHECKING, Any, Final, TextIO

from stateward.printable import printable, printable_lines
from stateward_daemon.cli.parser import OWNERS
from stateward_daemon.cli.streams import silence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stateward_protocol.errors import WireError
    from stateward_protocol.messages import ScopeHealth, WriterHealth

COLORS: Final = {"error": "31", "warning": "33", "info": "36", "note": "2"}

# For programs, and of no help to a reader who has the message.
_NOT_FOR_PEOPLE: Final = frozenset({"category", "retryable", "at"})
# What may stand at the root of a patch: owners, or planes where one owner is wanted.
_PATCH_ROOTS: Final = frozenset({*OWNERS, "intents", "strategy", "tactics", "artifacts", "lazy"})


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


# -- refusals --------------------------------------------------------------------------------------------------------


def print_refusal(error: WireError, verb: str, *, as_json: bool, says_ok: bool = False) -> None:
    """Print an error answer: as JSON on standard output, or for people on standard error.

    Args:
        error: The answer.
        verb: The verb that got it.
        as_json: Whether it is for a program.
        says_ok: Whether the program looks for `ok` first.
    """
    if as_json:
        told = {"error": {"category": error.category, "message": error.message, **error.data}}
        show_json({"ok": False, "status": "failed", **told} if says_ok else told)
    else:
        note("\n".join(_refusal_lines(error, verb)))


def _refusal_lines(error: WireError, verb: str) -> Iterator[str]:
    yield f"stateward: {printable(error.message)}"
    facts = {name: fact for name, fact in error.data.items() if name not in _NOT_FOR_PEOPLE}
    drawn = _drawn_path(error)
    if drawn:
        yield from drawn
        del facts["path"]
        # The message has just said it.
        facts.pop("wanted", None)
    example = _example_command(verb, facts.pop("example", None))
    for name, fact in facts.items():
        first, *others = _fact_text(fact).split("\n")
        yield f"  {printable(name)}: {first}"
        yield from (f"    {line}" for line in others)
    if example is not None:
        yield f"  example: {example}"


def _drawn_path(error: WireError) -> list[str]:
    """Return the path of a malformed one with a caret under its first bad character."""
    path, at = error.data.get("path"), error.data.get("at")
    if error.category != "malformed_path" or not isinstance(path, str) or not isinstance(at, int):
        return []
    before = printable(path[:at])
    return [f"  {printable(path)}", f"  {' ' * columns(before)}^"]


def _fact_text(fact: object) -> str:
    return fact if isinstance(fact, str) else json.dumps(fact, ensure_ascii=False)


def _example_command(verb: str, example: object) -> str | None:
    """Return an example as a command; `None` where the verb that failed cannot say it.

    An example is a command already, or JSON text: right params of the method behind the verb, or a right patch.
    """
    text = str(example)
    if text.startswith(("stateward ", "STATEWARD_")):
        return printable(text)
    try:
        right = json.loads(text)
    except ValueError:
        return None
    words = _words_of(verb, right) if isinstance(right, dict) else []
    return printable(shlex.join(["stateward", *words])) if words else None


def _words_of(verb: str, right: dict[str, Any]) -> list[str]:
    """Return the words of a command, none where there is no such command."""
    words: list[str] = []
    match verb, right:
        case "browse", {"path": str(path), "projection": "keys"}:
            words = ["browse", path]
        case "read" | "browse", {"path": str(path)}:
            words = ["read", path, *_projection_words(right)]
        case "read" | "browse", {"paths": [str(), *_] as paths}:
            words = ["read", *map(str, paths), *_projection_words(right)]
        case "patch", {"patch": dict(patch)}:
            words = ["patch", json.dumps(patch, ensure_ascii=False)]
        case "patch", _ if _is_patch(right):
            words = ["patch", json.dumps(right, ensure_ascii=False)]
        case "configure", {"history_limit": int(limit)}:
            words = ["configure", "--history-limit", str(limit)]
    return words


def _is_patch(right: dict[str, Any]) -> bool:
    roots = [isinstance(value, dict) for name, value in right.items() if name in _PATCH_ROOTS]
    return len(roots) == len(right) and bool(roots) and all(roots)


def _projection_words(right: dict[str, Any]) -> list[str]:
    return ["--projection", str(right["projection"])] if "projection" in right else []
