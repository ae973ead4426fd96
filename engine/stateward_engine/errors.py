"""Every way in which the engine says no.

::

    EngineError
    ├── RequestError              the call was wrong; nothing was touched
    │   ├── InvalidRequest        its members, its wanted list, a setting
    │   ├── MalformedPath         a path outside the grammar (draws the place)
    │   ├── MissingPath           no such member
    │   ├── WrongKind             an array selector on something else
    │   ├── OutOfBounds           an index or range outside the array
    │   ├── HistoryUnavailable    a boundary that is not kept
    │   ├── UnwantedOwner         an owner that this client did not select
    │   ├── InvalidPatch          shape, syntax, null, numbers, depth
    │   ├── NoOp                  an empty patch object
    │   ├── StaleBasis            `if_revision` is no longer current
    │   ├── IdempotencyConflict   the same key with another patch
    │   ├── Refused               a decision against it; `reason_code` says which
    │   │   ├── NotPublished      a document that was not written
    │   │   │   └── Overtaken     because others write to it; try again
    │   │   └── RenderRejected    records that a document cannot show and give back
    │   ├── TooLarge              a size bound was reached
    │   ├── Busy                  a queue bound was reached; try again
    │   └── UnsafeDocument        a document that cannot be read without guessing
    └── StoreError                the store or its disk; the call may have been right
        ├── CorruptStore          stored evidence contradicts itself
        └── StoreUnavailable      outage, full disk, poisoned or closed writer

Messages are lower case, without a full stop, and say what to do when there is something to do.
They never quote stored values or file contents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Fact: TypeAlias = "str | int | bool | list[str] | tuple[int, ...] | Mapping[str, str | int]"
Outcome: TypeAlias = Literal["refused", "unknown"]


class EngineError(Exception):
    """The root of all refusals.

    Attributes:
        category: One word of the closed list in the protocol page.
        retryable: Whether the same call can succeed later without being changed.
        facts: What a caller needs to mend the call: `path`, `got`, `wanted`, `example`, `limit` and the like.
            `example` is what would be right, as JSON text. Members that are `None` are left out.
    """

    category: ClassVar[str]
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **facts: Fact | None) -> None:
        super().__init__(message)
        self.facts: dict[str, Fact] = {name: fact for name, fact in facts.items() if fact is not None}


class RequestError(EngineError):
    """The call was wrong, and nothing was touched."""


class InvalidRequest(RequestError):
    """Members, wanted list or a setting that the method does not take."""

    category = "invalid_request"


class MalformedPath(RequestError):
    """A path that the grammar does not accept.

    Attributes:
        source: The whole path, as the caller wrote it.
        at: Offset of the first bad character, in code points from 0; `len(source)` when the path ended too early.
        expected: What the grammar wanted there, as a noun phrase.
    """

    category = "malformed_path"

    def __init__(self, source: str, at: int, expected: str) -> None:
        self.source, self.at, self.expected = source, at, expected
        super().__init__(
            f"expected {expected} at character {at}",
            path=source,
            at=at,
            wanted=expected,
            example='{"path": "effective.lazy.memory[0]"}',
        )


class MissingPath(RequestError):
    """A member that is not there."""

    category = "missing_path"


class WrongKind(RequestError):
    """An index or range on something that is no array."""

    category = "wrong_kind"


class OutOfBounds(RequestError):
    """An index or range outside the array."""

    category = "out_of_bounds"


class HistoryUnavailable(RequestError):
    """A boundary before the origin or outside the kept window."""

    category = "history_unavailable"


class UnwantedOwner(RequestError):
    """An owner that this client did not select."""

    category = "unwanted_owner"


class InvalidPatch(RequestError):
    """A patch that no state could take: shape, syntax, null, numbers or depth."""

    category = "invalid_patch"


class NoOp(RequestError):
    """An empty object where planes or members were due."""

    category = "no_op"


class StaleBasis(RequestError):
    """`if_revision` names a state that is no longer current."""

    category = "stale_basis"


class IdempotencyConflict(RequestError):
    """An idempotency key that was used for another patch."""

    category = "idempotency_conflict"


class Refused(RequestError):
    """A decision against a well-formed call; the fact `reason_code` says which."""

    category = "refused"


class NotPublished(Refused):
    """A document that was not written.

    The fact `outcome` is `refused` when the document is as others left it. It is `unknown` when the new bytes may
    stand there, whole, but a crash could still bring the old ones back: publishing again finds out and makes it sure.
    The fact `kept` names files beside the document that hold what somebody wrote and no document holds.

    `reason_code` is one of `document_missing`, `document_exists`, `document_is_link`, `document_is_no_file`,
    `document_has_links`, `document_outside_workspace`, `document_owner`, `document_too_large`, `document_write_failed`,
    which has the system's name of the error in `error_code`, and those of `Overtaken`.
    """

    def __init__(self, message: str, *, reason_code: str, outcome: Outcome = "refused", **facts: Fact | None) -> None:
        super().__init__(message, reason_code=reason_code, outcome=outcome, **facts)


class Overtaken(NotPublished):
    """A document that others write to or move; the same call can succeed later.

    `reason_code` is one of `document_buffer_dirty`, `document_changing`, `document_locked`, `document_moved`.
    """

    retryable = True


class RenderRejected(Refused):
    """Records that a goal document cannot show and give back; nothing was rendered.

    Attributes:
        kind: Which rule is broken, for example `unknown_field`; the fact `reason_code` is the same.
        todo_id: Of the record, or `None` where it has no valid one or none is meant.
        field: Name of the field, or `None`.
    """

    def __init__(
        self, message: str, *, kind: str, todo_id: str | None = None, field: str | None = None, **facts: Fact | None
    ) -> None:
        self.kind, self.todo_id, self.field = kind, todo_id, field
        super().__init__(message, reason_code=kind, todo_id=todo_id, field=field, **facts)


class TooLarge(RequestError):
    """A size bound was reached; the fact `limit` says which."""

    category = "too_large"


class Busy(RequestError):
    """A queue bound was reached; the fact `limit` says which."""

    category = "busy"
    retryable = True


class UnsafeDocument(RequestError):
    """A document that cannot be read, or rendered onto, without guessing; it stays untouched.

    Attributes:
        kind: Which rule it breaks, for example `unterminated_frontmatter`.
        line: Line number from 1.
        byte_offset: Offset of that line's first byte in the file, from 0; for `not_utf8`, of the first bad byte.
    """

    category = "unsafe_document"

    def __init__(self, message: str, *, kind: str, line: int, byte_offset: int) -> None:
        self.kind, self.line, self.byte_offset = kind, line, byte_offset
        super().__init__(message, kind=kind, line=line, byte_offset=byte_offset)


class StoreError(EngineError):
    """The store or its disk failed; the call may have been right."""


class CorruptStore(StoreError):
    """Stored evidence contradicts itself; its bytes are kept as they are."""

    category = "corrupt_store"


class StoreUnavailable(StoreError):
    """The store cannot take or answer the call.

    `outcome` tells a writer what became of its mutation: `refused` (nothing was written) or `unknown`
    (a write or sync failed after it began; repeat it with the same idempotency key).
    """

    category = "store_unavailable"
    retryable = True

    def __init__(self, message: str, *, outcome: Outcome = "refused", **facts: Fact | None) -> None:
        super().__init__(message, outcome=outcome, **facts)
