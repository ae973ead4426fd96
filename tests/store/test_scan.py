"""What the bytes of a journal prove."""

from __future__ import annotations

import pytest

from stateward_engine.errors import CorruptStore
from stateward_engine.store.catalogue import FRESH_JOURNAL
from stateward_engine.store.record import Kind, encode, encode_group
from stateward_engine.store.scan import entries, scan

FIRST = encode_group(1, [b'{"n":1}', b'{"n":2}'])
SECOND = encode_group(3, [b'{"n":3}'])
THIRD = encode_group(4, [b'{"n":4}'])
CLOSING = encode(Kind.CLOSING, 4, 0, b"{}")


def sequences(data: bytes) -> list[int]:
    return [group.sequence for group in scan(data, file="j").groups]


def test_a_fresh_journal_is_empty_and_expects_entry_one() -> None:
    found = scan(FRESH_JOURNAL, file="j")

    assert (found.groups, found.end, found.next_sequence, found.sealed) == ((), len(FRESH_JOURNAL), 1, False)


def test_groups_are_found_in_order_with_all_their_entries() -> None:
    found = scan(FRESH_JOURNAL + FIRST + SECOND, file="j")

    assert [entries(group, file="j") for group in found.groups] == [[{"n": 1}, {"n": 2}], [{"n": 3}]]
    assert found.next_sequence == 4


def test_a_journal_is_sealed_if_nothing_came_after_the_closing_record() -> None:
    closed = FRESH_JOURNAL + FIRST + SECOND + CLOSING

    assert scan(closed, file="j").sealed
    assert scan(closed + bytes(5000), file="j").sealed
    assert not scan(closed + bytes(5000) + b"x", file="j").sealed
    assert not scan(closed[:-1], file="j").sealed


def test_the_end_is_that_of_the_last_group_whatever_follows() -> None:
    groups = FRESH_JOURNAL + FIRST + SECOND

    assert {scan(groups + tail, file="j").end for tail in (b"", CLOSING, CLOSING + b"torn", CLOSING[:9])} == {
        len(groups)
    }


@pytest.mark.parametrize("cut", list(range(len(SECOND))))
@pytest.mark.parametrize("fill", [b"", b"\0", b"\xa5"])
def test_a_last_record_cut_at_any_byte_is_a_torn_tail(cut: int, fill: bytes) -> None:
    whole = FRESH_JOURNAL + FIRST
    tail = SECOND[:cut] + fill * (len(SECOND) - cut)

    found = scan(whole + tail, file="j")

    assert (found.end, found.next_sequence, len(found.groups)) == (len(whole), 3, 1)


def test_a_last_record_without_its_beginning_is_a_torn_tail() -> None:
    """Sectors of one write may reach the disk in any order."""
    assert sequences(FRESH_JOURNAL + FIRST + bytes(20) + SECOND[20:]) == [1]


@pytest.mark.parametrize("after", [THIRD, THIRD + b"torn"])
@pytest.mark.parametrize("at", list(range(len(SECOND))))
def test_a_damaged_record_before_a_valid_one_is_refused(at: int, after: bytes) -> None:
    """SF-192: canonical corruption fails closed rather than giving partial authority."""
    damaged = bytearray(SECOND)
    damaged[at] ^= 0x10
    whole = FRESH_JOURNAL + FIRST

    with pytest.raises(CorruptStore) as refusal:
        scan(whole + damaged + after, file="journal/000001.log")

    assert refusal.value.facts == {"file": "journal/000001.log", "offset": len(whole)}


def test_a_damaged_last_group_of_a_clean_run_is_refused_and_not_cut() -> None:
    damaged = bytearray(SECOND)
    damaged[-2] ^= 1

    with pytest.raises(CorruptStore, match="before a valid one"):
        scan(FRESH_JOURNAL + FIRST + damaged + CLOSING, file="j")


@pytest.mark.parametrize(
    ("data", "what", "offset"),
    [
        pytest.param(b"", "damaged", 0, id="empty file"),
        pytest.param(FRESH_JOURNAL[:-1], "damaged", 0, id="half a catalogue"),
        pytest.param(FIRST, "does not know", 0, id="no catalogue"),
        pytest.param(encode(Kind.CATALOGUE, 1, 0, b'{"format":2}'), "version that wrote it", 0, id="unknown version"),
        pytest.param(encode(Kind.CATALOGUE, 1, 0, b'{"format":1,"more":[]}'), "does not know", 0, id="unknown member"),
        pytest.param(FRESH_JOURNAL + FRESH_JOURNAL, "second catalogue", len(FRESH_JOURNAL), id="second catalogue"),
        pytest.param(FRESH_JOURNAL + SECOND, "sequence 3 where 1", len(FRESH_JOURNAL), id="gap"),
        pytest.param(
            FRESH_JOURNAL + FIRST + FIRST, "sequence 1 where 3", len(FRESH_JOURNAL + FIRST), id="same group twice"
        ),
        pytest.param(
            FRESH_JOURNAL + FIRST + SECOND + CLOSING + THIRD,
            "after the closing",
            len(FRESH_JOURNAL + FIRST + SECOND + CLOSING),
            id="group after a closing record",
        ),
        pytest.param(
            FRESH_JOURNAL + FIRST + CLOSING, "sequence 4 where 3", len(FRESH_JOURNAL + FIRST), id="closing after a gap"
        ),
    ],
)
def test_what_no_crash_explains_is_refused_naming_the_byte(data: bytes, what: str, offset: int) -> None:
    with pytest.raises(CorruptStore, match=what) as refusal:
        scan(data, file="j")

    assert refusal.value.facts == {"file": "j", "offset": offset}


@pytest.mark.parametrize("payload", [b"{}", b"[1]", b"[{}", b"[{},{}]", b"\xff", b"[" * 5000])
def test_a_payload_that_is_no_array_of_so_many_entries_is_refused(payload: bytes) -> None:
    (group,) = scan(FRESH_JOURNAL + encode(Kind.GROUP, 1, 1, payload), file="j").groups

    with pytest.raises(CorruptStore):
        entries(group, file="j")


def test_an_entry_may_nest_as_deep_as_a_stored_value_and_more() -> None:
    """state.md section 2: 256 containers in a plane; the entry adds a few around it."""
    deep = b'{"a":' * 300 + b"1" + b"}" * 300

    (group,) = scan(FRESH_JOURNAL + encode_group(1, [deep]), file="j").groups

    assert len(entries(group, file="j")) == 1
