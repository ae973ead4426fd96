"""Encoded values: a value that is served again is not encoded again, and never are old bytes served for a new value."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from stateward_daemon.encoded import KEPT_BYTES_MAX, VALUE_BYTES_MIN, EncodedValues
from stateward_protocol.errors import WireError


def large(mark: str = "x") -> dict[str, str]:
    return {"body": mark * VALUE_BYTES_MIN}


def test_the_same_value_is_encoded_once() -> None:
    encoded, value = EncodedValues(), large()
    first = encoded.encode(value)

    assert json.loads(first) == value
    assert encoded.encode(value) is first
    # An equal one is another one; nobody compares megabytes.
    assert encoded.encode(large()) is not first


def test_no_value_is_served_the_bytes_of_one_that_is_gone() -> None:
    """The memory of a value that is gone is given to the next; what is kept is held, so that it is not gone."""
    encoded = EncodedValues()
    for n in range(300):
        value = large(chr(ord("a") + n % 26))
        assert json.loads(encoded.encode(value)) == value
        del value


def test_small_values_are_not_kept_and_large_ones_up_to_a_bound() -> None:
    encoded, small = EncodedValues(), {"a": 1}
    assert encoded.encode(small) is not encoded.encode(small)

    size = len(encoded.encode(large()))
    values = [large() for _ in range(KEPT_BYTES_MAX // size + 3)]
    kept = [encoded.encode(value) for value in values]
    # The newest are there, the oldest are not.
    assert encoded.encode(values[-1]) is kept[-1]
    assert encoded.encode(values[0]) is not kept[0]
    assert sum(len(body) for _, body in encoded._kept.values()) == encoded._kept_bytes <= KEPT_BYTES_MAX
    huge = ["x" * KEPT_BYTES_MAX]
    assert encoded.encode(huge) is not encoded.encode(huge)


@pytest.mark.parametrize(
    "answer", [{"value": [1, {"a": None}]}, {"value": None, "hint": [{"paths": []}]}, {"patch": {}}]
)
def test_an_answer_is_the_same_json(answer: dict[str, Any]) -> None:
    encoded = EncodedValues().answer(answer, batch=False, limit=10**6)

    assert json.loads(msgspec.json.encode(encoded)) == answer
    assert list(encoded) == list(answer)


def test_a_batch_is_refused_before_it_is_put_together() -> None:
    value = large()
    encoded = EncodedValues()
    answer = encoded.answer({"value": [value, value]}, batch=True, limit=3 * VALUE_BYTES_MIN)
    assert json.loads(msgspec.json.encode(answer)) == {"value": [value, value]}

    with pytest.raises(WireError) as refused:
        encoded.answer({"value": [value] * 10_000}, batch=True, limit=3 * VALUE_BYTES_MIN)
    assert refused.value.category == "too_large"
    assert refused.value.data["got"] < 5 * VALUE_BYTES_MIN
