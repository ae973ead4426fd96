"""Positions: what an editor counts, and what the engine counts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward_daemon.positions import Encoding, LineIndex, code_points_in, units_in

# Everything that counts differently somewhere: surrogate pairs, two and three bytes, all terminators, and what Python
# alone takes for one.
CHARACTERS = st.sampled_from("ab 🌊𐐀核é\r\n\v\f\x1c\x85\u2028\u2029")
TEXTS = st.text(CHARACTERS, max_size=40)
ENCODINGS = st.sampled_from(list(Encoding))

WAVES = "- [ ] [P1] 🌊🌊 核对 port list"


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 36), ("utf-16", 28), ("utf-32", 26)])
def test_a_line_is_as_long_as_its_encoding_makes_it(encoding: str, units: int) -> None:
    index = LineIndex(f"one\n{WAVES}\n")

    assert index.position(4 + len(WAVES), Encoding(encoding)) == (1, units)
    assert index.offset(1, units, Encoding(encoding)) == 4 + len(WAVES)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("a\nb\r\nc\rd", [1, 3, 6, 8]),
        ("\r\n\n\r", [0, 2, 3, 4]),
        ("a\vb\x85c\u2028d", [7]),
        ("", [0]),
    ],
)
def test_lines_end_at_lf_crlf_and_cr_alone(text: str, ends: list[int]) -> None:
    index = LineIndex(text)

    assert [index.offset(line, 99) for line in range(len(ends))] == ends


def test_a_place_outside_is_clamped_to_the_near_end() -> None:
    index = LineIndex("ab\r\ncd")

    assert index.offset(0, 2**40) == 2
    assert index.offset(2**40, 0) == index.offset(99, 99) == 6
    assert index.offset(-1, 5) == 0
    assert index.offset(1, -5) == 4
    assert index.position(99) == (1, 2)
    assert index.position(-5) == (0, 0)
    # Between CR and LF there is no place, and behind the last character of the line there is one.
    assert index.position(3) == (0, 2)


@pytest.mark.parametrize(("encoding", "inside"), [("utf-16", [1]), ("utf-8", [1, 2, 3])])
def test_a_place_inside_a_character_is_before_it(encoding: str, inside: list[int]) -> None:
    index = LineIndex("🌊x")

    assert [index.offset(0, units, Encoding(encoding)) for units in inside] == [0] * len(inside)


def test_the_mark_of_a_file_is_not_counted() -> None:
    index = LineIndex("\ufeffab\nc", start=1)

    assert index.position(0) == index.position(1) == (0, 0)
    assert index.position(4) == (1, 0)
    assert index.offset(0, 1) == 2


@settings(max_examples=150, derandomize=True)
@given(TEXTS, ENCODINGS)
def test_a_place_between_characters_survives_the_way_there_and_back(text: str, encoding: Encoding) -> None:
    index = LineIndex(text)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] != "\r\n":
            assert index.offset(*index.position(offset, encoding), encoding) == offset


@settings(max_examples=150, derandomize=True)
@given(TEXTS, ENCODINGS, st.integers(0, 12), st.integers(0, 12))
def test_every_place_rounds_down(text: str, encoding: Encoding, line: int, character: int) -> None:
    index = LineIndex(text)

    offset = index.offset(line, character, encoding)
    assert 0 <= offset <= len(text)
    assert index.position(offset, encoding) <= (line, character)


@settings(max_examples=150, derandomize=True)
@given(TEXTS, ENCODINGS, st.integers(0, 60))
def test_units_and_code_points_count_the_same_prefixes(text: str, encoding: Encoding, units: int) -> None:
    fitting = [length for length in range(len(text) + 1) if units_in(text[:length], encoding) <= units]

    assert code_points_in(text, units, encoding) == max(fitting)
