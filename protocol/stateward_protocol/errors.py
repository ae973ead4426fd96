"""The error contract: categories, their JSON-RPC codes, and the one exception that carries an error answer.

A category is the word that programs branch on; a code is where JSON-RPC and LSP put it. Every answer has both.
"""

from __future__ import annotations

from typing import Any, Final

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

CODES: Final[dict[str, int]] = {
    "parse_error": PARSE_ERROR,
    "invalid_message": INVALID_REQUEST,
    "unknown_method": METHOD_NOT_FOUND,
    "invalid_request": INVALID_PARAMS,
    "malformed_path": INVALID_PARAMS,
    "invalid_patch": INVALID_PARAMS,
    "no_op": INVALID_PARAMS,
    "internal": INTERNAL_ERROR,
    "not_attached": NOT_ATTACHED,
    "missing_path": NOT_READABLE,
    "wrong_kind": NOT_READABLE,
    "out_of_bounds": NOT_READABLE,
    "history_unavailable": NOT_READABLE,
    "unwanted_owner": NOT_READABLE,
    "stale_basis": REFUSED,
    "idempotency_conflict": REFUSED,
    "refused": REFUSED,
    "corrupt_store": UNAVAILABLE,
    "store_unavailable": UNAVAILABLE,
    "unsafe_document": UNAVAILABLE,
    "busy": BOUND_REACHED,
    "too_large": BOUND_REACHED,
    "shutting_down": BOUND_REACHED,
    "cancelled": REQUEST_CANCELLED,
}


class WireError(Exception):
    """An error answer: raised by whoever answers a request, and by the client library when it receives one.

    Attributes:
        category: A key of `CODES`.
        message: One sentence for people: what was wrong and what to do.
        data: Members of `error.data` beside `category`: `path`, `got`, `wanted`, `example`, `retryable` and the like.
    """

    def __init__(self, category: str, message: str, **data: Any) -> None:  # noqa: ANN401 - any JSON value
        super().__init__(message)
        self.category, self.message, self.data = category, message, data

    @property
    def code(self) -> int:
        """The JSON-RPC code of the category."""
        return CODES.get(self.category, INTERNAL_ERROR)

    def to_error(self) -> dict[str, Any]:
        """Return the JSON-RPC error object."""
        return {"code": self.code, "message": self.message, "data": {"category": self.category, **self.data}}

    @classmethod
    def from_error(cls, error: dict[str, Any]) -> WireError:
        """Return the exception for a received error object; a foreign one gets the category `internal`."""
        data = dict(error.get("data") or {})
        category = data.pop("category", "internal")
        return cls(category, str(error.get("message", "")), **data)
