"""JSON as people read it: indented, of bounded length, and with the place of one value noted while it is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from stateward.printable import printable

if TYPE_CHECKING:
    from stateward_engine.goals.lines import Span
    from stateward_engine.json_value import Json

# In characters. An editor opens such a text at once, and writing it takes about a fifth of a second.
TEXT_LENGTH_MAX: Final = 1024 * 1024
# The way to a value: keys of objects and positions in arrays.
Steps: TypeAlias = tuple[str | int, ...]

_INDENT: Final = "  "
# Made once: making one takes longer than writing a scalar.
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)


class TooLong(Exception):
    """The text would be longer than its bound."""


class Pretty(NamedTuple):
    """A value as text.

    Attributes:
        text: Its JSON, with a line feed at the end. What a terminal or an editor would obey is escaped, so that a
            line is a line; the value stays the same.
        whole: The span of the value that was looked for, its key included; `None` where it is not there.
        name: The span of its key, or else of itself.
    """

    text: str
    whole: Span | None
    name: Span | None


def pretty(value: Json, target: Steps | None = None, limit: int = TEXT_LENGTH_MAX) -> Pretty:
    r"""Return a value as text, members in their order.

    Args:
        value: Any JSON value.
        target: The way to the value whose place is wanted.
        limit: Characters that the text has at most.

    Raises:
        TooLong: It would have more; no more than that is written.

    >>> pretty({"a": [1], "b": {}}).text
    '{\n  "a": [\n    1\n  ],\n  "b": {}\n}\n'
    >>> pretty({"a": 1, "b": 2}, ("b",))[1:]
    ((14, 20), (14, 17))
    """
    writer = _Writer(limit)
    writer.write(value, "\n", target, None)
    writer.put("\n")
    return Pretty("".join(writer.pieces), writer.whole, writer.name)


class _Writer:
    """One text on its way."""

    def __init__(self, limit: int) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self.limit = limit
        self.whole: Span | None = None
        self.name: Span | None = None

    def put(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)
        if self.length > self.limit:
            raise TooLong

    def write(self, value: Json, line: str, target: Steps | None, name: Span | None) -> None:
        """Write a value.

        Args:
            value: The value.
            line: What begins a line at its depth.
            target: The rest of the way from it; `None` off the way.
            name: Where its key stands.
        """
        start = self.length
        deeper = line + _INDENT
        if isinstance(value, dict) and value:
            for at, (key, member) in enumerate(value.items()):
                self.put(f"{',' if at else '{'}{deeper}")
                named = self.length
                self.put(_scalar(key))
                span = named, self.length
                self.put(": ")
                self.write(member, deeper, _rest(target, key), span)
            self.put(f"{line}}}")
        elif isinstance(value, list) and value:
            for at, element in enumerate(value):
                self.put(f"{',' if at else '['}{deeper}")
                self.write(element, deeper, _rest(target, at), None)
            self.put(f"{line}]")
        else:
            self.put(_scalar(value))
        if target == ():
            self.whole = (start if name is None else name[0]), self.length
            self.name = name or self.whole


def _rest(target: Steps | None, step: str | int) -> Steps | None:
    return target[1:] if target and target[0] == step else None


def _scalar(value: Json) -> str:
    """Return a value without members as JSON."""
    return printable(_ENCODER.encode(value))
