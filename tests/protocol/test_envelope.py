"""protocol.md section 1 and JSON-RPC 2.0: what is a message."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from stateward_protocol.envelope import (
    Answer,
    Call,
    encode_call,
    encode_error,
    encode_result,
    read_message,
    request_id,
)
from stateward_protocol.errors import WireError


@pytest.mark.parametrize(
    ("message", "read"),
    [
        ({"jsonrpc": "2.0", "id": 1, "method": "ping"}, Call("ping", {}, 1)),
        ({"jsonrpc": "2.0", "id": "a", "method": "ping", "params": {"x": 1}}, Call("ping", {"x": 1}, "a")),
        ({"jsonrpc": "2.0", "id": 0, "method": "ping", "params": None}, Call("ping", {}, 0)),
        ({"jsonrpc": "2.0", "method": "exit"}, Call("exit", {}, None)),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "extra": 1}, Call("ping", {}, 1)),
        ({"jsonrpc": "2.0", "id": 1, "result": None}, Answer(1, None, None)),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}, Answer(1, None, {"code": 1})),
        ({"jsonrpc": "2.0", "id": None, "error": {"code": 1}}, Answer(None, None, {"code": 1})),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "result": 2}, Call("ping", {}, 1)),
    ],
)
def test_a_message_is_a_call_or_an_answer(message: Any, read: Call | Answer) -> None:
    assert read_message(message) == read


@pytest.mark.parametrize(
    "message",
    [
        [],
        [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
        1,
        None,
        "ping",
        {},
        {"id": 1, "method": "ping"},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": 2.0, "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
        {"jsonrpc": "2.0", "id": 1, "method": None},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
        {"jsonrpc": "2.0", "id": True, "method": "ping"},
        {"jsonrpc": "2.0", "id": {}, "method": "ping"},
    ],
)
def test_anything_else_is_an_invalid_message_with_an_example(message: Any) -> None:
    with pytest.raises(WireError) as refused:
        read_message(message)

    assert (refused.value.category, refused.value.code) == ("invalid_message", -32600)
    assert json.loads(refused.value.data["example"])["method"] == "ping"


@pytest.mark.parametrize("params", [[], [1], "x", 1, False])
def test_params_that_are_no_object_are_refused_as_params(params: Any) -> None:
    message = {"jsonrpc": "2.0", "id": 7, "method": "ping", "params": params}

    with pytest.raises(WireError) as refused:
        read_message(message)

    assert (refused.value.category, refused.value.code) == ("invalid_request", -32602)
    assert request_id(message) == 7


@pytest.mark.parametrize("message", [None, [], {}, {"id": None}, {"id": True}, {"id": 1.0}, {"id": []}])
def test_an_unusable_id_is_no_id(message: Any) -> None:
    assert request_id(message) is None


def test_what_is_encoded_is_read_back() -> None:
    error = WireError("missing_path", "there is no such member", path="cwd.x")

    assert read_message(msgspec.json.decode(encode_call("ping", {"a": 1}, 3))) == Call("ping", {"a": 1}, 3)
    assert read_message(msgspec.json.decode(encode_call("exit", {}))) == Call("exit", {}, None)
    assert read_message(msgspec.json.decode(encode_result(3, None))) == Answer(3, None, None)
    assert read_message(msgspec.json.decode(encode_error(None, error))) == Answer(None, None, error.to_error())


def test_an_error_survives_the_wire() -> None:
    sent = WireError("missing_path", "there is no such member", path="cwd.x")
    received = WireError.from_error(sent.to_error())

    assert (received.category, received.message, received.data) == (sent.category, sent.message, sent.data)
    assert sent.to_error()["code"] == -32010


def test_a_foreign_error_counts_as_an_internal_one() -> None:
    received = WireError.from_error({"code": -1, "message": "no"})

    assert (received.category, received.code) == ("internal", -32603)
