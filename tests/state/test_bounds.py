"""Bounds of a read: what a call may ask for at most, each with its name and its number."""

from __future__ import annotations

import pytest

from stateward_engine.errors import TooLarge
from stateward_engine.state.read import PATH_LENGTH_MAX, PATHS_MAX, parse_request


def test_a_path_has_a_length() -> None:
    longest = "cwd." + "a" * (PATH_LENGTH_MAX - len("cwd."))
    assert parse_request({"path": longest}).paths == (longest,)

    for members, place in (
        ({"path": longest + "a"}, "$.params.path"),
        ({"paths": [longest + "a"]}, "$.params.paths[0]"),
    ):
        with pytest.raises(TooLarge) as caught:
            parse_request(members)
        assert caught.value.facts["limit"] == "max_path_length"
        assert caught.value.facts["path"] == place
        assert str(PATH_LENGTH_MAX) in str(caught.value)


def test_a_batch_has_a_length() -> None:
    assert len(parse_request({"paths": ["cwd"] * PATHS_MAX}).paths) == PATHS_MAX

    with pytest.raises(TooLarge) as caught:
        parse_request({"paths": ["cwd"] * (PATHS_MAX + 1)})
    assert caught.value.facts == {
        "limit": "max_paths",
        "path": "$.params.paths",
        "wanted": f"at most {PATHS_MAX} paths",
    }
