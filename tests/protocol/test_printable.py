"""Security rows 23 and 24: what reaches a terminal or a message is harmless, and still says what it was."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.printable import printable, printable_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, 工作, \N{GRINNING FACE}", "plain text, 工作, \N{GRINNING FACE}"),
        ("\x1b]0;title\x07", "\\u001b]0;title\\u0007"),
        ("\x9b2J", "\\u009b2J"),
        ("a\nb\r\tc\x7f\0", "a\\u000ab\\u000d\\u0009c\\u007f\\u0000"),
        ("user\u202enimda", "user\\u202enimda"),
        ("\u2066x\u2069\u200e\u200f\u061c", "\\u2066x\\u2069\\u200e\\u200f\\u061c"),
        ("one\u2028two\u2029", "one\\u2028two\\u2029"),
        ("half \ud83d", "half \\ud83d"),
    ],
)
def test_what_a_terminal_would_obey_is_spelled_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_lines_of_our_own_layout_stay_lines() -> None:
    assert printable_lines("a\x1b\nb\r") == "a\\u001b\nb\\u000d"


@pytest.mark.property
class TestPrintableLaws:
    """Security row 24: escape C0, C1, DEL and bidi at display, in every path."""

    @settings(max_examples=80, derandomize=True)
    @given(st.text(alphabet=st.characters()))
    def test_nothing_that_controls_comes_through(self, text: str) -> None:
        shown = printable(text)

        assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
        assert not [c for c in shown if unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF")]
        assert not [c for c in shown if unicodedata.bidirectional(c) in ("LRI", "RLI", "FSI", "PDI")]

    @settings(max_examples=80, derandomize=True)
    @given(st.dictionaries(st.text(), st.text()))
    def test_escaped_json_has_the_same_value(self, value: dict[str, str]) -> None:
        assert json.loads(printable_lines(json.dumps(value, ensure_ascii=False, indent=2))) == value
