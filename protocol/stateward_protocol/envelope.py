"""The JSON-RPC 2.0 envelope: what surrounds the params of a call and the result of an answer."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from stateward_protocol.errors import WireError, shortened

RequestId: TypeAlias = "int | str"

_ENCODER: Final = msgspec.json.Encoder()
_EXAMPLE: Final = '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}'


class Call(NamedTuple):
    """A request (with an id, to be answered exactly once) or a notification (without, never answered).

    Attributes:
        method: The method's name, as sent.
        params: Its params; an absent member is the empty object.
        id: `None` for a notification.
    """

    method: str
    params: dict[str, Any]
    id: RequestId | None


class Answer(NamedTuple):
    """What the other side answered to a request of ours."""

    id: RequestId | None
    result: Any
    error: dict[str, Any] | None


def request_id(message: Any) -> RequestId | None:  # noqa: ANN401 - any JSON value
    """Return the id by which a message can be answered, or `None` when it has none that is usable."""
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def is_notification(message: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Tell whether a message, right or wrong, is one that is never answered."""
    return isinstance(message, dict) and isinstance(message.get("method"), str) and "id" not in message


def read_message(message: Any) -> Call | Answer:  # noqa: ANN401 - any JSON value
    """Return the call or answer that a decoded frame is.

    Raises:
        WireError: `invalid_message` for anything else, batches included; `invalid_request` for params that are no
            object.

    >>> read_message({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    Call(method='ping', params={}, id=1)
    """
    if isinstance(message, list):
        raise WireError("invalid_message", "batches are not served; send one message per frame", example=_EXAMPLE)
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise WireError("invalid_message", 'a message is an object with "jsonrpc": "2.0"', example=_EXAMPLE)
    if "method" not in message and ("result" in message or "error" in message):
        return Answer(request_id(message), message.get("result"), message.get("error"))
    method, identifier = message.get("method"), request_id(message)
    if not isinstance(method, str):
        raise WireError("invalid_message", "a message needs a method, by name", example=_EXAMPLE)
    if "id" in message and identifier is None:
        raise WireError("invalid_message", "a request id is a number or a string", path="$.id", example=_EXAMPLE)
    params = message.get("params")
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise WireError(
            "invalid_request",
            "params is a JSON string; send the object itself"
            if isinstance(params, str)
            else "params are an object with named members",
            path="$.params",
            got=shortened(params) if isinstance(params, str) else "no object",
            wanted="object",
            example=_EXAMPLE,
        )
    return Call(method, params, identifier)


def encode_call(method: str, params: Any, identifier: RequestId | None = None) -> bytes:  # noqa: ANN401 - any JSON value
    """Return the body of a request, or of a notification when there is no id."""
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return _ENCODER.encode(message if identifier is None else {**message, "id": identifier})


def encode_result(identifier: RequestId, result: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Return the body of a successful answer."""
    return _ENCODER.encode({"jsonrpc": "2.0", "id": identifier, "result": result})


def encode_error(identifier: RequestId | None, error: WireError) -> bytes:
    """Return the body of an error answer; an unreadable request is answered with the id `null`."""
    return _ENCODER.encode({"jsonrpc": "2.0", "id": identifier, "error": error.to_error()})
