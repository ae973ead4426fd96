"""Positions: lines and characters as an editor counts them, and code-point offsets as the engine does.

Everything inside counts code points from the start of the text. An editor counts lines, and within a line code units of
the encoding that it agreed on at `initialize`. This module is where one becomes the other.
"""

from __future__ import annotations

from bisect import bisect_right
from enum import StrEnum
from itertools import accumulate, islice
from typing import Final, NamedTuple

from stateward_engine.goals.lines import TERMINATOR


class Encoding(StrEnum):
    """What one character of a position is, by its LSP name."""

    UTF_8 = "utf-8"
    UTF_16 = "utf-16"
    UTF_32 = "utf-32"


class Position(NamedTuple):
    """A place in a text.

    Attributes:
        line: From 0.
        character: Code units from the start of the line, from 0.
    """

    line: int
    character: int


# Codec without a byte-order mark, and bytes per code unit. UTF-32 units are code points, which need no codec.
_CODECS: Final = {Encoding.UTF_8: ("utf-8", 1), Encoding.UTF_16: ("utf-16-le", 2)}


def units_in(text: str, encoding: Encoding) -> int:
    """Return the length of `text` in code units.

    >>> [units_in("🌊 ok", encoding) for encoding in Encoding]
    [7, 5, 4]
    """
    if encoding is Encoding.UTF_32 or text.isascii():
        return len(text)
    codec, unit_bytes = _CODECS[encoding]
    return len(text.encode(codec, "surrogatepass")) // unit_bytes


def code_points_in(text: str, units: int, encoding: Encoding) -> int:
    """Return how many whole code points of `text` its first `units` code units hold.

    A cut inside a code point leaves that one out; units beyond the end count as the end.

    >>> [code_points_in("🌊 ok", units, Encoding.UTF_16) for units in (0, 1, 2, 3, 99)]
    [0, 0, 1, 2, 4]
    """
    if encoding is Encoding.UTF_32 or text.isascii():
        return min(units, len(text))
    codec, unit_bytes = _CODECS[encoding]
    # The decoder ignores exactly the incomplete code point at the cut: the text itself is well-formed, because frames
    # and files with lone surrogates never get this far.
    return len(text.encode(codec, "surrogatepass")[: units * unit_bytes].decode(codec, "ignore"))


def _line_starts(text: str) -> list[int]:
    # Nearly every text has LF alone. A plain split takes less than half of the time of the pattern.
    if "\r" in text:
        return [0, *(match.end() for match in TERMINATOR.finditer(text))]
    starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
    # The last line ends with the text and not with a terminator.
    return starts[:-1]


def line_start(text: str, line: int) -> int:
    r"""Return the offset of the first character of a line, counted from 0, that `text` has.

    >>> line_start("a\r\nb\nc", 1), line_start("a\nb\n", 2)
    (3, 4)
    """
    if "\r" in text:
        return next(islice(TERMINATOR.finditer(text), line - 1, None)).end() if line else 0
    return len(text) - len(text.split("\n", line)[-1])


def line_end(text: str, start: int) -> int:
    """Return the offset of the first terminator from `start` on, or that of the end of the text."""
    found = TERMINATOR.search(text, start)
    return len(text) if found is None else found.start()


class LineIndex:
    """Where the lines of one text start. Lines end at LF, CRLF and CR.

    Attributes:
        text: The text; never changed.
    """

    def __init__(self, text: str, *, start: int = 0) -> None:
        """Find the lines.

        Args:
            text: Any text.
            start: Offset at which the first line begins: 1 skips the byte-order mark of a file, which editors take off
                before they count.
        """
        self.text = text
        self._starts = [start, *islice(_line_starts(text), 1, None)]

    def position(self, offset: int, encoding: Encoding = Encoding.UTF_32) -> Position:
        """Return the position of a code-point offset.

        An offset inside the text's terminators is at the end of its line, one outside of the text at the near end.
        """
        line = max(bisect_right(self._starts, offset) - 1, 0)
        start = self._starts[line]
        at = max(min(offset, self._end(line)), start)
        return Position(line, units_in(self.text[start:at], encoding))

    def offset(self, line: int, character: int, encoding: Encoding = Encoding.UTF_32) -> int:
        """Return the code-point offset of a position.

        A character beyond the line's end is at that end, before the terminator; a line beyond the last is at the end of
        the text; a position inside a code point is before it.
        """
        if line < 0:
            return self._starts[0]
        if line >= len(self._starts):
            return len(self.text)
        start = self._starts[line]
        return start + code_points_in(self.text[start : self._end(line)], max(character, 0), encoding)

    def _end(self, line: int) -> int:
        """Return the offset behind the last character of a line, terminator excluded."""
        if line + 1 == len(self._starts):
            return len(self.text)
        end = self._starts[line + 1] - 1
        return end - self.text.startswith("\r\n", max(end - 1, 0))
