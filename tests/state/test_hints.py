"""The bounds of the reverse search, and its agreement with the grammar of paths."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.drawn import WHO, searching
from stateward_engine.errors import MalformedPath, MissingPath
from stateward_engine.state.paths import parse
from stateward_engine.state.read import ReadRequest, read
from stateward_engine.state.references import mentions
from stateward_engine.state.view import Scope, View

VISITED_MAX: Final = 10_000


def asked(planes: Any) -> Any:
    view = View(scopes={WHO.identity("cwd"): Scope(planes, 1)})
    return read(view, WHO, ReadRequest(("cwd.lazy.gone",)))


class TestBounds:
    """state.md, section 6: "stop after 3 distinct reported paths or 10,000 visited nodes (every JSON value is one)"."""

    @pytest.mark.parametrize("kind", [list, dict])
    def test_the_last_node_within_the_bound_is_seen(self, kind: type) -> None:
        # The plane and its one container are nodes too.
        fillers = ["x"] * (VISITED_MAX - 3)
        texts = [*fillers, "$cwd.lazy.gone"]
        container: Any = texts if kind is list else {f"k{at:05}": text for at, text in enumerate(texts)}

        assert asked({"tactics": {"many": container}})["hint"][0]["paths"]

    def test_the_node_after_it_is_not(self) -> None:
        with pytest.raises(MissingPath):
            asked({"tactics": {"many": [*["x"] * (VISITED_MAX - 2), "$cwd.lazy.gone"]}})


class TestMentions:
    """state.md, section 5: the examples of its rule (SF-045)."""

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("see $cwd.lazy.x.", ["cwd.lazy.x"]),
            ("($cwd.lazy.x)", ["cwd.lazy.x"]),
            ("$cwd.lazy.x[0]", ["cwd.lazy.x[0]"]),
            ("$lazy.m[0:2].x", ["lazy.m[0:2]"]),
            ("US$cwd.lazy.x", []),
            ("$$cwd.lazy.x", []),
            ("$cwd.lazy.x[oops]", []),
            ("$cwd.lazy.x$", ["cwd.lazy.x$"]),
            ("$cwd[1][0]", []),
        ],
    )
    def test_a_mention_is_the_longest_path_or_nothing(self, text: str, found: list[str]) -> None:
        assert [path.source for path in mentions(text)] == found


pieces = st.sampled_from(
    ["$", "cwd", "lazy", "effective", ".", "a", "[", "]", "0", "1", ":", "..", "-", " ", "é", "[0]", "[1:2]", ".b"]
)


@pytest.mark.property
class TestMentionLaws:
    """state.md, section 5: "take the longest path that matches the grammar there"."""

    @searching
    @given(st.lists(pieces, max_size=14).map(lambda parts: "$lazy" + "".join(parts)))
    def test_a_mention_is_the_longest_path_with_clean_edges(self, text: str) -> None:
        expected = []
        for at, character in enumerate(text):
            if character == "$" and not (at and (ascii_name(text[at - 1]) or text[at - 1] in ".[]:")):
                ends = [end for end in range(len(text), at + 1, -1) if is_path(text[at + 1 : end])]
                if ends and not (ascii_name(text[ends[0] : ends[0] + 1]) or text[ends[0] : ends[0] + 1] == "["):
                    expected.append(text[at + 1 : ends[0]])

        assert [path.source for path in mentions(text)] == expected


def ascii_name(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character in tuple("_$-"))


def is_path(text: str) -> bool:
    try:
        parse(text)
    except MalformedPath:
        return False
    return True
