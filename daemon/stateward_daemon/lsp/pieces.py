"""Pieces: a text that is cut up, so that one edit of many costs its own surroundings and not the whole text.

An editor sends its edits in order, each with positions in the text that the one before it left. Whoever looks for every
position in the whole text, and copies it for every edit, needs the product of both.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from math import ceil
from typing import Final, NamedTuple, Self

from stateward_daemon.positions import Encoding, code_points_in, line_end, line_start, units_in
from stateward_engine.goals.lines import terminators_in

# In code points. An edit walks over all pieces and copies one, so both many and long ones cost.
PIECE_LENGTH_MAX: Final = 8 * 1024
PIECE_LENGTH_MIN: Final = 1024


class Edit(NamedTuple):
    """What stands in the place of some characters of a text.

    Attributes:
        start: Offset of the first of them, in code points.
        end: Offset behind the last.
        text: What stands there instead.
    """

    start: int
    end: int
    text: str


class _Place(NamedTuple):
    """Where in the text: the number of the piece, and an offset in code points that may be its end."""

    piece: int
    offset: int


class _Piece(NamedTuple):
    """A part of the text, with what it takes to walk over it."""

    text: str
    terminators: int
    units: int

    @classmethod
    def of(cls, text: str, encoding: Encoding) -> Self:
        return cls(text, terminators_in(text), units_in(text, encoding))


class Pieces:
    """A text in the making; what is done to a copy leaves the text that was copied.

    Invariant: the concatenated pieces are the text, there is at least one, and none ends between CR and LF.
    """

    def __init__(self, text: str, encoding: Encoding) -> None:
        """Cut up `text`, whose edits count characters in `encoding`."""
        self._encoding = encoding
        self._pieces = self._cut(text)
        # Beside the pieces, because every search for a place adds them up.
        self._terminators = [piece.terminators for piece in self._pieces]
        self._lengths = [len(piece.text) for piece in self._pieces]

    def __str__(self) -> str:
        return "".join(piece.text for piece in self._pieces)

    def __len__(self) -> int:
        return sum(self._lengths)

    def between(self, start: int, end: int) -> str:
        """Return the characters from one offset up to another, both of which the text has."""
        ends = list(accumulate(self._lengths))
        first, last = bisect_right(ends, start), bisect_left(ends, end)
        base = ends[first - 1] if first else 0
        return "".join(piece.text for piece in self._pieces[first : last + 1])[start - base : end - base]

    def replace(self, start: tuple[int, int], end: tuple[int, int], text: str) -> Edit:
        """Put `text` in the place of what stands between two positions, each a line and a character from 0.

        Positions outside of the text or of their line count as `LineIndex.offset` takes them. A range the wrong way
        round is empty. Returns the edit in offsets of the text as it was.
        """
        first = self._find(*start)
        # Most edits insert.
        last = first if end == start else max(first, self._find(*end))
        edit = Edit(self._offset(first), self._offset(last), text)
        before, after = self._pieces[first.piece].text[: first.offset], self._pieces[last.piece].text[last.offset :]
        self._put(first.piece, last.piece, before + text + after)
        return edit

    def _offset(self, place: _Place) -> int:
        return sum(self._lengths[: place.piece]) + place.offset

    def _find(self, line: int, character: int) -> _Place:
        place = self._start_of(line)
        if line < 0 or place is None:
            return place or self._end()
        number, offset = place
        left = max(character, 0)
        while True:
            text, terminators, units = self._pieces[number]
            stop = line_end(text, offset) if terminators else len(text)
            if offset or stop < len(text):
                text = text[offset:stop]
                units = units_in(text, self._encoding)
            if left < units or stop < len(self._pieces[number].text) or number + 1 == len(self._pieces):
                return _Place(number, offset + code_points_in(text, left, self._encoding))
            number, offset, left = number + 1, 0, left - units

    def _start_of(self, line: int) -> _Place | None:
        """Return where a line starts; the first one for a negative number, `None` for one beyond the last."""
        if line <= 0:
            return _Place(0, 0)
        # How many lines have ended with each piece.
        ended = list(accumulate(self._terminators))
        number = bisect_left(ended, line)
        if number == len(ended):
            return None
        return _Place(number, line_start(self._pieces[number].text, line - (ended[number - 1] if number else 0)))

    def _end(self) -> _Place:
        return _Place(len(self._pieces) - 1, len(self._pieces[-1].text))

    def _put(self, first: int, last: int, text: str) -> None:
        """Put `text` in the place of the pieces from `first` to `last`, together with neighbors that belong to it."""
        if len(text) < PIECE_LENGTH_MIN and last + 1 < len(self._pieces):
            last += 1
            text += self._pieces[last].text
        # A place is never the end of a piece before another one, so no edit leaves a CR there.
        if first and text.startswith("\n"):
            first -= 1
            text = self._pieces[first].text + text
        pieces = self._cut(text)
        # Other lists, so that a copy of this object keeps its own text.
        self._pieces = [*self._pieces[:first], *pieces, *self._pieces[last + 1 :]]
        self._terminators = [
            *self._terminators[:first],
            *(piece.terminators for piece in pieces),
            *self._terminators[last + 1 :],
        ]
        self._lengths = [*self._lengths[:first], *(len(piece.text) for piece in pieces), *self._lengths[last + 1 :]]

    def _cut(self, text: str) -> list[_Piece]:
        """Return `text` as one piece where it fits, else as pieces of the same length that have room to grow."""
        length = len(text)
        if length > PIECE_LENGTH_MAX:
            length = ceil(length / ceil(length / (PIECE_LENGTH_MAX // 2)))
        pieces: list[_Piece] = []
        at = 0
        while at < len(text) or not pieces:
            end = at + length
            end += text.startswith("\r\n", end - 1)
            pieces.append(_Piece.of(text[at:end], self._encoding))
            at = end
        return pieces
