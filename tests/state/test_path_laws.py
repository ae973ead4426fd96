"""Laws of paths, searched for counterexamples."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward_engine.errors import MalformedPath
from stateward_engine.state.paths import NAME, NUMBER, ROOTS, Index, Member, Path, Range, parse, render
from stateward_engine.state.view import PLANES

pytestmark = pytest.mark.property

searching: Final = settings(max_examples=25, derandomize=True, deadline=None)

GRAMMAR: Final = re.compile(
    r"(?:(?:effective|global|cwd|session)(?:\[{n}\])?(?:\.{name}{selectors})?"
    r"|(?:intents|strategy|tactics|artifacts|response|lazy){selectors})".format(
        n=f"(?:{NUMBER.pattern})",
        name=NAME.pattern,
        selectors=rf"(?:\.{NAME.pattern}|\[(?:{NUMBER.pattern})\]"
        rf"|\[(?:{NUMBER.pattern})(?::|\.\.)(?:{NUMBER.pattern})\](?!\.))*",
    )
)
names = st.sampled_from(["lazy", "a", "_", "$", "a-b_$9", "length"])
numbers = st.sampled_from(["0", "1", "10", "9" * 30])
selectors = st.builds(Member, names) | st.builds(Index, numbers) | st.builds(Range, numbers, numbers)
crumbs = st.sampled_from(
    [
        "effective",
        "cwd",
        "lazy",
        "tactics",
        ".",
        ".",
        "a",
        "-",
        "[",
        "]",
        "[",
        "]",
        "0",
        "01",
        "10",
        ":",
        "..",
        "é",
        " ",
        "\n",
        "\ud83d",
        "٣",
    ]
)


@st.composite
def paths(draw: st.DrawFn) -> Path:
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
    @given(paths())
    def test_a_rendered_path_parses_to_itself(self, path: Path) -> None:
        assert parse(render(path)) == path
        assert parse(render(path)).indexed == path.indexed

    @settings(searching, max_examples=150)
    @given(st.lists(crumbs, max_size=9).map("".join) | st.text())
    def test_any_text_is_a_path_or_says_where_it_is_not(self, text: str) -> None:
        if GRAMMAR.fullmatch(text):
            assert parse(text).source == text
            assert render(parse(text)) == text.replace("..", ":")
        else:
            with pytest.raises(MalformedPath) as caught:
                parse(text)
            assert caught.value.source == text
            assert 0 <= caught.value.at <= len(text)
