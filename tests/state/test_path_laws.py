"""Laws of paths, searched for counterexamples."""

from __future__ import annotations

import re
import string
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.drawn import search, searching
from state.grammar import read_ebnf
from stateward_engine.errors import MalformedPath
from stateward_engine.state import paths
from stateward_engine.state.paths import ROOTS, Index, Member, Path, Range, parse, render
from stateward_engine.state.view import PLANES

pytestmark = pytest.mark.property

# The docstring of the parser is its contract; what it leaves undefined is ASCII.
EBNF: Final = (paths.__doc__ or "").partition("::\n")[2].rpartition(";")[0] + ";"
GRAMMAR: Final = read_ebnf(
    EBNF,
    {"letter": string.ascii_letters, "digit": string.digits, "nonzero": string.digits[1:]},
)
derived = GRAMMAR.texts("path")
# "A member MUST NOT directly follow a range": the one thing that the rules do not say.
MAPS_OVER_ELEMENTS: Final = re.compile(r"\[[0-9]+(?::|\.\.)[0-9]+\]\.")
names = st.sampled_from(["lazy", "a", "_", "$", "a-b_$9", "length"])
numbers = st.sampled_from(["0", "1", "10", "9" * 30])
selectors = st.builds(Member, names) | st.builds(Index, numbers) | st.builds(Range, numbers, numbers)
crumbs = st.sampled_from(
    ["effective", "cwd", "lazy", "tactics", ".", ".", "a", "-", "[", "]", "[", "]", "0", "01", "10", ":", "..", "é",
     " ", "\n", "\ud83d", "٣"]
)  # fmt: skip
STRAYS: Final = [*"[]:.,*+-_$\"' \n\t0aZé٣²", "..", "[0]", ".a", "\ud83d", "ſ"]  # noqa: RUF001 - letters, but not of ASCII


@st.composite
def drawn_paths(draw: st.DrawFn) -> Path:
    rest = draw(st.lists(selectors, max_size=4))
    chain: list[Member | Index | Range] = [Member(draw(st.sampled_from(PLANES)))]
    for selector in rest:
        if not (isinstance(chain[-1], Range) and isinstance(selector, Member)):
            chain.append(selector)
    root = draw(st.none() | st.sampled_from(ROOTS))
    if root is None:
        return Path(None, "0", tuple(chain))
    offset = draw(st.none() | numbers)
    return Path(root, offset or "0", tuple(chain) if draw(st.booleans()) else (), indexed=offset is not None)


class TestPathLaws:
    """state.md, section 3: "The whole string must match", and everything else is `malformed_path` (SF-131)."""

    @searching
    @given(drawn_paths())
    def test_a_rendered_path_parses_to_itself(self, path: Path) -> None:
        assert parse(render(path)) == path
        assert parse(render(path)).indexed == path.indexed

    @search(150)
    @given(st.lists(crumbs, max_size=9).map("".join) | st.text())
    def test_any_text_is_a_path_or_says_where_it_is_not(self, text: str) -> None:
        check_against_the_grammar(text)

    @search(150)
    @given(derived)
    def test_what_the_grammar_derives_is_a_path(self, text: str) -> None:
        """SF-128, SF-130, SF-134, SF-199."""
        assert GRAMMAR.accepts("path", text)
        check_against_the_grammar(text)

    @search(300)
    @given(st.data())
    def test_one_character_more_less_or_other_is_judged_alike(self, data: st.DataObject) -> None:
        text = data.draw(derived)
        at = data.draw(st.integers(0, len(text)))
        kept = at + data.draw(st.integers(0, 1))
        check_against_the_grammar(text[:at] + data.draw(st.sampled_from(["", *STRAYS])) + text[kept:])

    @pytest.mark.parametrize("text", ["cwd[10].lazy.a-b[0:5][7]", "lazy", "session.tactics[0..9]"])
    def test_every_single_change_of_a_path_is_judged_alike(self, text: str) -> None:
        """SF-131, SF-199: each character removed, replaced by each stray one, or preceded by it."""
        for at in range(len(text) + 1):
            for stray in ["", *STRAYS]:
                check_against_the_grammar(text[:at] + stray + text[at:])
                check_against_the_grammar(text[:at] + stray + text[at + 1 :])


def check_against_the_grammar(text: str) -> None:
    if GRAMMAR.accepts("path", text) and not MAPS_OVER_ELEMENTS.search(text):
        assert parse(text).source == text
        assert render(parse(text)) == text.replace("..", ":")
    else:
        with pytest.raises(MalformedPath) as caught:
            parse(text)
        assert caught.value.source == text
        assert 0 <= caught.value.at <= len(text)
