"""The error contract: categories, their JSON-RPC codes, and the one exception that carries an error answer.

A category is the word that programs branch on; a code is where JSON-RPC and LSP put it. Every answer has both.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
NOT_ATTACHED: Final = -32002
NOT_READABLE: Final = -32010
REFUSED: Final = -32011
UNAVAILABLE: Final = -32012
BOUND_REACHED: Final = -32013
REQUEST_CANCELLED: Final = -32800


class Category(NamedTuple):
    """One word that programs branch on, with its code and what it tells them."""

    code: int
    meaning: str


CATEGORIES: Final[dict[str, Category]] = {
    "parse_error": Category(PARSE_ERROR, "the frame is not readable: no UTF-8, no JSON, a member twice, too deep"),
    "invalid_message": Category(INVALID_REQUEST, "JSON, but no message; or a message at a wrong time"),
    "unknown_method": Category(METHOD_NOT_FOUND, "nobody serves this name; `did_you_mean` is the nearest one"),
    "invalid_request": Category(INVALID_PARAMS, "params, wanted list or setting that the method does not take"),
    "malformed_path": Category(INVALID_PARAMS, "a state path outside the grammar"),
    "invalid_patch": Category(INVALID_PARAMS, "a patch that no state could take: shape, null, numbers, depth"),
    "no_op": Category(INVALID_PARAMS, "an empty patch object"),
    "internal": Category(INTERNAL_ERROR, "a mistake of the daemon; `incident` names the line of its log"),
    "not_attached": Category(NOT_ATTACHED, "attach (or initialize) comes first"),
    "missing_path": Category(NOT_READABLE, "there is no such member, or no such file"),
    "wrong_kind": Category(NOT_READABLE, "an array selector on something that is no array"),
    "out_of_bounds": Category(NOT_READABLE, "an index or range outside the array"),
    "history_unavailable": Category(NOT_READABLE, "a boundary that is not kept"),
    "unwanted_owner": Category(NOT_READABLE, "an owner that this connection did not select"),
    "stale_basis": Category(REFUSED, "`if_revision` is no longer current; nothing was written"),
    "idempotency_conflict": Category(REFUSED, "the key was used for another patch"),
    "refused": Category(REFUSED, "a decision against a well-formed call; `reason_code` says which"),
    "corrupt_store": Category(UNAVAILABLE, "stored evidence contradicts itself; its bytes are kept"),
    "store_unavailable": Category(
        UNAVAILABLE, "the store or its daemon cannot serve; `outcome` tells a write its fate"
    ),
    "unsafe_document": Category(UNAVAILABLE, "the document cannot be read without guessing; it stays untouched"),
    "busy": Category(BOUND_REACHED, "a queue bound was reached; try again"),
    "too_large": Category(BOUND_REACHED, "a size bound was reached; `limit` says which"),
    "shutting_down": Category(BOUND_REACHED, "the daemon is ending; repeat on a new connection"),
    "cancelled": Category(REQUEST_CANCELLED, "taken back before it was committed"),
}


# What a client sent is repeated to it so that it finds the place, not so that the log and the terminal fill up.
GOT_CHARACTERS_MAX: Final = 128


def shortened(text: str) -> str:
    """Return as much of what a client sent as an error repeats."""
    return text[:GOT_CHARACTERS_MAX]


def explained(complaint: str, root: str) -> tuple[str, str]:
    """Return what a complaint of msgspec says, in our style, and the place below `root` that it is about.

    >>> explained("Expected `int`, got `str` - at `$.history_limit`", "$.params")
    ('expected int, got str', '$.params.history_limit')
    """
    message, _, place = complaint.partition(" - at `$")
    return message[:1].lower() + message[1:].replace("`", ""), root + place.removesuffix("`")


class WireError(Exception):
    """An error answer: raised by whoever answers a request, and by the client library when it receives one.

    Attributes:
        category: A key of `CATEGORIES`.
        message: One sentence for people: what was wrong and what to do.
        data: Members of `error.data` beside `category`: `path`, `got`, `wanted`, `example`, `retryable` and the like.
    """

    def __init__(self, category: str, message: str, /, **data: Any) -> None:  # noqa: ANN401 - any JSON value
        super().__init__(message)
        self.category, self.message, self.data = category, message, data

    @property
    def code(self) -> int:
        """The JSON-RPC code of the category."""
        return CATEGORIES[self.category].code if self.category in CATEGORIES else INTERNAL_ERROR

    def to_error(self) -> dict[str, Any]:
        """Return the JSON-RPC error object."""
        return {"code": self.code, "message": self.message, "data": {"category": self.category, **self.data}}

    @classmethod
    def from_error(cls, error: dict[str, Any]) -> WireError:
        """Return the exception for a received error object; a foreign one gets the category `internal`."""
        data = error.get("data")
        facts = dict(data) if isinstance(data, dict) else {}
        category = facts.pop("category", "internal")
        return cls(category if isinstance(category, str) else "internal", str(error.get("message", "")), **facts)


# Who reads a traceback, or looks for what to catch, finds the name that users import.
WireError.__module__, WireError.__name__, WireError.__qualname__ = "stateward", "StatewardError", "StatewardError"
