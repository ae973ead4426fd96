"""Pieces: many edits of one notification come to what they come to one by one, and each costs its surroundings."""

from __future__ import annotations

import random
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward_daemon.lsp import pieces
from stateward_daemon.lsp.pieces import PIECE_LENGTH_MAX, Pieces
from stateward_daemon.positions import Encoding, LineIndex

Edit: TypeAlias = tuple[tuple[int, int], tuple[int, int], str]

TEXTS = st.text(st.sampled_from("aaa\r\r\n\n🌊\u2028"), max_size=20)
INSERTED = st.sampled_from(["", "\n", "\r", "\r\n", "🌊é", "\na", "a\r", "核" * 9])
POSITIONS = st.tuples(st.integers(-1, 6), st.integers(-1, 3) | st.just(2**31))
EDITS = st.lists(st.tuples(POSITIONS, POSITIONS, INSERTED), min_size=3, max_size=12)


def folded(text: str, edits: list[Edit], encoding: Encoding) -> str:
    """Return `text` after the edits, each looked up in the whole text that the one before it left."""
    for start, end, new in edits:
        index = LineIndex(text)
        first, last = index.offset(*start, encoding), index.offset(*end, encoding)
        text = text[:first] + new + text[max(first, last) :]
    return text


@settings(max_examples=300, derandomize=True, deadline=None)
@given(TEXTS, EDITS, st.sampled_from(list(Encoding)))
def test_edits_in_pieces_are_edits_of_the_whole_text(text: str, edits: list[Edit], encoding: Encoding) -> None:
    """LSP: the edits of a notification are sequential, in whatever unit the client counts."""
    with pytest.MonkeyPatch.context() as short:
        # So that a short text has many pieces, and edits meet their ends.
        short.setattr(pieces, "PIECE_LENGTH_MAX", 4)
        short.setattr(pieces, "PIECE_LENGTH_MIN", 1)
        cut = Pieces(text, encoding)
        for edit in edits:
            cut.replace(*edit)

    assert str(cut) == folded(text, edits, encoding)


def test_pieces_stay_few_and_short_however_many_edits_come() -> None:
    """An edit walks over the number of pieces and copies one: 20,000 edits must make neither grow."""
    draw = random.Random(1)
    cut = Pieces("- [ ] a line of a document\n" * 4_000, Encoding.UTF_16)
    for _ in range(20_000):
        place = (draw.randrange(4_000), draw.randrange(20))
        cut.replace(place, place, "x")
    lengths = [len(piece.text) for piece in cut._pieces]

    assert sum(lengths) == 4_000 * 27 + 20_000
    assert max(lengths) <= PIECE_LENGTH_MAX
    assert len(lengths) <= 4 * sum(lengths) / PIECE_LENGTH_MAX
