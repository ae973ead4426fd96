"""protocol.md section 4: the types of params, in the words that the protocol page and refusals share."""

from __future__ import annotations

import pytest

from stateward_protocol.methods import METHODS
from stateward_protocol.schema import methods_page, type_words

WORDS: list[tuple[str, tuple[str, ...], str]] = [
    ("configure", ("history_limit",), "integer from 0 to 100"),
    ("attach", ("mode",), '"active" | "passive" | "off"'),
    ("attach", ("wanted",), 'list of "global" | "cwd" | "session"'),
    ("attach", ("wanted", "0"), '"global" | "cwd" | "session"'),
    ("attach", ("cwd",), "string, or null"),
    ("attach", ("session",), "string of letters, digits and . _ : - (at most 128), or null"),
    ("attach", ("client",), "object of name (string of at least one character), maybe version (string)"),
    ("attach", ("client", "name"), "string of at least one character"),
    ("read_state", ("path",), "string"),
    ("read_state", ("paths",), "list of string, at least 1"),
    ("patch_state", ("idempotency_key",), "string of 1 to 128 characters, or null"),
    ("patch_state", ("patch",), "object of scopes, each an object of planes, each an object of keys"),
    ("patch_state", ("no_such_member", "deeper"), "any JSON value"),
]


@pytest.mark.parametrize(("method", "place", "words"), WORDS)
def test_a_param_has_a_type_in_words(method: str, place: tuple[str, ...], words: str) -> None:
    assert type_words(METHODS[method].params, *place) == words


def test_every_param_of_the_table_has_one() -> None:
    for method in METHODS.values():
        for name in method.params.__struct_fields__:
            assert type_words(method.params, name) not in ("", "object")


def test_the_page_shows_types_beside_defaults() -> None:
    assert r'| `mode` | `"active"` \| `"passive"` \| `"off"` | no | `"active"` |' in methods_page()
