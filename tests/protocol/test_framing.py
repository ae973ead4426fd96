"""protocol.md section 1, framing: bytes to bodies and back."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward_protocol.errors import WireError
from stateward_protocol.framing import (
    HEADER_BYTES_MAX,
    FrameReader,
    Framing,
    Waiting,
    content_length,
    frame,
)


def bodies_of(stream: bytes, *, message_bytes_max: int = 1024) -> list[bytes]:
    reader = FrameReader(message_bytes_max)
    reader.feed(stream)
    return list(iter(reader.next_body, None))


@pytest.mark.parametrize(
    ("header", "length"),
    [
        (b"Content-Length: 12", 12),
        (b"content-length:12", 12),
        (b"CONTENT-LENGTH:   12  ", 12),
        (b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 12", 12),
        (b"Content-Length: 0", 0),
        (b"Content-Length: 007", 7),
    ],
)
def test_a_header_block_announces_a_length_however_it_is_spelled(header: bytes, length: int) -> None:
    assert content_length(header) == length


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"Content-Type: text",
        b"Content-Length: 1\r\nContent-Length: 1",
        b"Content-Length: 1\r\ncontent-length: 2",
        b"Content-Length: -1",
        b"Content-Length: +1",
        b"Content-Length: 0x10",
        b"Content-Length: 1_000",
        b"Content-Length: 1 2",
        b"Content-Length: 1.0",
        b"Content-Length:",
        "Content-Length: ٤".encode(),
        b"Content-Length: " + b"9" * 30,
        b"no colon here",
    ],
)
def test_headers_that_give_no_length_are_a_parse_error(header: bytes) -> None:
    with pytest.raises(WireError) as refused:
        bodies_of(header + b"\r\n\r\n")

    assert refused.value.category == "parse_error"


def test_a_header_block_over_its_bound_is_refused_before_it_ends() -> None:
    reader = FrameReader()
    reader.feed(b"X" * (HEADER_BYTES_MAX + 1))

    with pytest.raises(WireError, match="header block") as refused:
        reader.next_body()

    assert refused.value.category == "parse_error"


def test_a_header_block_of_exactly_its_bound_is_taken() -> None:
    header = b"Content-Length: 2\r\nX-Filling: "
    header += b"x" * (HEADER_BYTES_MAX - len(header))

    assert bodies_of(header + b"\r\n\r\n{}") == [b"{}"]


def test_a_body_over_the_bound_is_refused_before_it_is_read() -> None:
    with pytest.raises(WireError) as refused:
        bodies_of(b"Content-Length: 1025\r\n\r\n")

    assert (refused.value.category, refused.value.data) == ("too_large", {"got": 1025, "limit": 1024})


def test_a_body_of_exactly_the_bound_is_taken() -> None:
    assert bodies_of(frame(b"x" * 1024, Framing.HEADERS)) == [b"x" * 1024]


def test_a_line_over_the_bound_is_refused_before_it_ends() -> None:
    with pytest.raises(WireError) as refused:
        bodies_of(b"{" + b" " * 1024)

    assert refused.value.category == "too_large"


def test_a_line_of_exactly_the_bound_is_taken() -> None:
    line = b"{" + b" " * 1022 + b"}"

    assert bodies_of(line + b"\n") == [line]


def test_a_first_byte_of_an_object_means_lines_both_ways() -> None:
    reader = FrameReader()
    reader.feed(b'{"a":1}\r\n\n  \n{"b":2}\n')

    assert list(iter(reader.next_body, None)) == [b'{"a":1}', b'{"b":2}']
    assert reader.framing is Framing.LINES
    assert frame(b"{}", Framing.LINES) == b"{}\n"


def test_anything_else_first_means_headers() -> None:
    reader = FrameReader()
    reader.feed(b"C")

    assert reader.framing is Framing.HEADERS
    assert frame(b"{}", Framing.HEADERS) == b"Content-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize(
    ("stream", "waiting"),
    [
        (b"", Waiting.NOTHING),
        (b"Content-Le", Waiting.HEADER),
        (b"Content-Length: 5\r\n\r\n", Waiting.BODY),
        (b"Content-Length: 5\r\n\r\n12", Waiting.BODY),
        (b"Content-Length: 2\r\n\r\n{}", Waiting.NOTHING),
        (b"Content-Length: 2\r\n\r\n{}Con", Waiting.HEADER),
        (b'{"half"', Waiting.BODY),
        (b"{}\n", Waiting.NOTHING),
    ],
)
def test_a_reader_tells_what_has_begun_and_is_not_complete(stream: bytes, waiting: Waiting) -> None:
    """Each state has its own deadline."""
    reader = FrameReader()
    reader.feed(stream)
    while reader.next_body() is not None:
        pass

    assert reader.waiting is waiting


def split(stream: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    return [stream[start:end] for start, end in itertools.pairwise(edges)]


@pytest.mark.property
class TestFramingLaws:
    """Section 1: a frame is its header and its body, however the network cuts it."""

    @settings(max_examples=100, derandomize=True)
    @given(st.lists(st.binary(max_size=60), max_size=5), st.lists(st.integers(0, 10_000), max_size=12))
    def test_any_split_of_a_stream_gives_the_same_bodies(self, bodies: list[bytes], cuts: list[int]) -> None:
        reader = FrameReader()
        found = []
        for chunk in split(b"".join(frame(body, Framing.HEADERS) for body in bodies), cuts):
            reader.feed(chunk)
            found += list(iter(reader.next_body, None))

        assert found == bodies
        assert reader.waiting is Waiting.NOTHING

    @settings(max_examples=100, derandomize=True)
    @given(
        st.lists(st.binary(max_size=40).map(lambda inner: b"{" + inner.replace(b"\n", b" ") + b"}"), max_size=5),
        st.lists(st.integers(0, 10_000), max_size=12),
    )
    def test_any_split_of_lines_gives_the_same_bodies(self, bodies: list[bytes], cuts: list[int]) -> None:
        reader = FrameReader()
        found = []
        for chunk in split(b"".join(frame(body, Framing.LINES) for body in bodies), cuts):
            reader.feed(chunk)
            found += list(iter(reader.next_body, None))

        assert found == bodies

    @settings(max_examples=100, derandomize=True)
    @given(st.binary(max_size=200))
    def test_no_bytes_do_more_than_give_bodies_or_a_typed_refusal(self, stream: bytes) -> None:
        with contextlib.suppress(WireError):
            bodies_of(stream)
