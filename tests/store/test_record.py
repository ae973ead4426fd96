"""The record codec, on bytes alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward_engine.store import record
from stateward_engine.store.record import HEADER_BYTES, MAGIC_PREFIX, Kind, decode, encode, encode_group
from stateward_engine.store.scan import entries

if TYPE_CHECKING:
    from stateward_engine.store.record import Record

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
groups = st.lists(st.dictionaries(st.text(), json_values, max_size=3), min_size=1, max_size=4)


def encoded(sequence: int, group: list[dict[str, Any]]) -> bytes:
    return encode_group(sequence, [json.dumps(entry, ensure_ascii=False).encode() for entry in group])


def decoded(data: bytes, start: int = 0) -> Record | None:
    return decode(memoryview(data), start)


@pytest.mark.property
class TestRecordLaws:
    """Payload = all entries of the group, as JSON, under one checksum (store.md section 2)."""

    @given(st.integers(1, 2**63), groups, st.binary(max_size=40), st.binary(max_size=40))
    @settings(max_examples=40, deadline=None)
    def test_what_was_encoded_is_decoded_wherever_it_stands(
        self, sequence: int, group: list[dict[str, Any]], before: bytes, after: bytes
    ) -> None:
        data = encoded(sequence, group)

        found = decoded(before + data + after, len(before))

        assert found is not None
        assert (found.kind, found.sequence, found.count) == (Kind.GROUP, sequence, len(group))
        assert (found.start, found.end) == (len(before), len(before) + len(data))
        assert entries(found, file="x") == group

    @given(st.integers(1, 2**63), groups, st.data())
    @settings(max_examples=40, deadline=None)
    def test_a_record_with_one_wrong_bit_is_none(
        self, sequence: int, group: list[dict[str, Any]], draw: st.DataObject
    ) -> None:
        data = bytearray(encoded(sequence, group))
        bit = draw.draw(st.integers(0, len(data) * 8 - 1))
        data[bit // 8] ^= 1 << bit % 8

        assert decoded(bytes(data)) is None

    @given(st.integers(1, 2**63), groups, st.data())
    @settings(max_examples=40, deadline=None)
    def test_a_record_that_was_cut_is_none(
        self, sequence: int, group: list[dict[str, Any]], draw: st.DataObject
    ) -> None:
        data = encoded(sequence, group)

        assert decoded(data[: draw.draw(st.integers(0, len(data) - 1))]) is None

    @given(json_values)
    @settings(max_examples=40, deadline=None)
    def test_no_stored_text_contains_the_start_of_a_record(self, value: Any) -> None:
        assert MAGIC_PREFIX not in json.dumps(value, ensure_ascii=False).encode()


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_is_told_apart_by_its_magic(kind: Kind) -> None:
    found = decoded(encode(kind, 7, 0, b"{}"))

    assert found is not None
    assert (found.kind, found.next_sequence) == (kind, 7)


def test_the_next_sequence_comes_after_all_entries_of_a_group() -> None:
    found = decoded(encoded(7, [{}, {}, {}]))

    assert found is not None
    assert found.next_sequence == 10


@pytest.mark.parametrize("length", [2**32 - 1, record.PAYLOAD_BYTES_MAX + 1, 3])
def test_a_length_that_the_data_does_not_have_is_no_record_and_nothing_is_allocated_for_it(length: int) -> None:
    """store.md section 2: lengths are checked before allocation."""
    data = bytearray(encode(Kind.GROUP, 1, 1, b"{}"))
    data[4:8] = length.to_bytes(4, "little")

    assert decoded(bytes(data)) is None


def test_a_payload_longer_than_any_record_is_not_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "PAYLOAD_BYTES_MAX", 9)

    with pytest.raises(ValueError, match="longer"):
        encode(Kind.GROUP, 1, 1, b"0123456789")


def test_a_record_longer_than_any_is_none_even_if_its_checksum_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encode(Kind.GROUP, 1, 1, b"0123456789")
    monkeypatch.setattr(record, "PAYLOAD_BYTES_MAX", 9)

    assert decoded(data) is None


def test_the_header_has_the_length_that_the_format_page_states() -> None:
    assert HEADER_BYTES == 24
