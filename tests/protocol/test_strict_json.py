"""protocol.md section 1: what makes a frame unreadable, and what makes a readable one unusable."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward_protocol.errors import WireError
from stateward_protocol.strict_json import DEPTH_MAX, Unsendable, decode, find_unsendable

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def stack_of_a_daemon() -> Iterator[None]:
    """Room for the deepest message, as the daemon makes it when it starts."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    yield
    sys.setrecursionlimit(before)


READABLE = [
    (b'{"a":[1,2.5,"x",true,false,null]}', {"a": [1, 2.5, "x", True, False, None]}),
    (b'"\\ud83d\\ude00"', "\N{GRINNING FACE}"),
    ('"\N{GRINNING FACE}"'.encode(), "\N{GRINNING FACE}"),
    (b'" \\u0000"', " \0"),
    (b'{"a":{"x":1},"b":{"x":1}}', {"a": {"x": 1}, "b": {"x": 1}}),
    (b'{"jsonrpc":"2.0","params":{"jsonrpc":"no message"}}', {"jsonrpc": "2.0", "params": {"jsonrpc": "no message"}}),
    (b" [] ", []),
    (b"1e308", 1e308),
]


@pytest.mark.parametrize(("body", "value"), READABLE)
def test_json_text_in_utf8_is_readable(body: bytes, value: Any) -> None:
    assert decode(body) == value


def test_a_text_of_exactly_the_depth_bound_is_readable() -> None:
    assert len(decode(b"[" * DEPTH_MAX + b"]" * DEPTH_MAX)) == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"{}{}", "not JSON"),
        (b"{'a':1}", "not JSON"),
        (b"[1,]", "not JSON"),
        (b'"\x01"', "not JSON"),
        (b'"a\tb"', "not JSON"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b'"\xc0\xaf"', "not UTF-8"),
        (b'"\xed\xa0\x80"', "not UTF-8"),
        ('{"a":1}'.encode("utf-16-le"), "not JSON"),
        ('{"a":1}'.encode("utf-32"), "not UTF-8"),
        (b'{"a":1,"a":2}', "two members"),
        (b'{"a":1,"\\u0061":2}', "two members"),
        (b'{"p":{"a":1e999,"a":2}}', "two members"),
        (b"[" * (DEPTH_MAX + 2) + b"]" * (DEPTH_MAX + 2), "deeper"),
        (b"[" * 100_000, "deeper"),
        (b'{"a":' * 100_000, "deeper"),
    ],
)
def test_anything_else_is_a_parse_error_that_says_what(body: bytes, said: str) -> None:
    with pytest.raises(WireError, match=said) as refused:
        decode(body)

    assert refused.value.category == "parse_error"


@pytest.mark.parametrize(("member", "got"), [(b"a", "a"), (b"\\ud800", "\N{REPLACEMENT CHARACTER}")])
def test_a_name_that_comes_twice_is_told(member: bytes, got: str) -> None:
    with pytest.raises(WireError) as refused:
        decode(b'{"b":1,"%b":1,"%b":2}' % (member, member))

    assert refused.value.to_error()["data"]["got"] == got


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b'{"id":1,"params":{"patch":{"cwd":{"x":NaN}}}}', "$.params.patch.cwd.x"),
        (b'{"id":1,"params":[Infinity]}', "$.params[0]"),
        (b'{"id":1,"params":{"n":-Infinity}}', "$.params.n"),
        (b'{"id":1,"params":{"n":1e999}}', "$.params.n"),
        (b'{"id":1,"params":{"n":' + b"9" * 100_000 + b"}}", "$.params.n"),
        (b'{"id":1,"params":{"s":"\\ud800"}}', "$.params.s"),
        (b'{"id":1,"params":{"s":"\\uDFFF!"}}', "$.params.s"),
        (b'{"id":1,"params":{"s":{"\\udc00":1}}}', "$.params.s"),
    ],
)
def test_what_json_text_cannot_carry_is_named_with_its_place_and_its_message(body: bytes, path: str) -> None:
    """So that the request can be answered by its id."""
    with pytest.raises(Unsendable) as refused:
        decode(body)

    assert refused.value.path == path
    assert refused.value.message["id"] == 1


def test_a_backslash_before_a_harmless_u_escape_costs_nothing() -> None:
    assert decode(b'"\\\\ud800"') == "\\ud800"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.property
class TestStrictJsonLaws:
    """Section 1: what is JSON is read, whatever spelling it has."""

    @settings(max_examples=60, derandomize=True)
    @given(json_values, st.booleans())
    def test_what_an_encoder_wrote_is_read_back(self, value: Any, ascii_only: bool) -> None:
        assert decode(json.dumps(value, ensure_ascii=ascii_only).encode()) == value
        assert find_unsendable(value) is None

    @settings(max_examples=50, derandomize=True)
    @given(json_values, st.sampled_from([math.nan, math.inf, -math.inf, "\ud800", "x\udfff"]))
    def test_an_unsendable_leaf_is_found_wherever_it_hides(self, value: Any, leaf: Any) -> None:
        assert find_unsendable([value, {"deep": [value, leaf]}]) is not None

    @settings(max_examples=100, derandomize=True)
    @given(st.binary(max_size=80))
    def test_no_bytes_do_more_than_decode_or_be_refused(self, body: bytes) -> None:
        with contextlib.suppress(WireError, Unsendable):
            decode(body)
