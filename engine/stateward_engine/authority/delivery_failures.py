"""Why a display was not delivered: a closed list of reasons, and which error is which. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from stateward_engine.errors import EngineError, NotPublished, RenderRejected, UnsafeDocument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FailureReason: TypeAlias = Literal[
    "todo_projection_authority_unavailable",
    "todo_projection_render_rejected",
    "todo_projection_region_edited",
    "todo_projection_write_unavailable",
    "todo_projection_buffer_dirty",
    "todo_projection_target_unavailable",
    "todo_projection_elsewhere",
]

# What a publication says when the document is one that could be written, only not now. For the rest, there is no such
# document.
_WRITE_FAILURES: Final = (
    *("document_write_failed", "document_owner", "document_exists"),
    *("document_changing", "document_locked", "document_moved"),
)


class NotReplaceable(Exception):
    """A document that must not be written now, because somebody's text would be lost.

    Attributes:
        reason_code: Why.
        lines: Numbers (from 1) of the lines that it is about.
    """

    def __init__(self, message: str, reason_code: FailureReason, lines: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.reason_code: FailureReason = reason_code
        self.lines = list(lines)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a display was not delivered. What was committed stands.

    Attributes:
        reason_code: One of the closed list.
        error_class: Name of the error.
        message: What is wrong and what to do; it quotes nothing of the document or the records.
        facts: What else is known: `kind`, `lines` (from 1), `byte_offset`, `todo_id`, `field`, `error_code`, `kept`.
    """

    reason_code: FailureReason
    error_class: str
    message: str
    facts: Mapping[str, Any] = field(default_factory=dict)


def failure_of(error: Exception) -> Failure:
    """Return the failure that an error is which was raised while a display was rendered, written or read back.

    Source: authority.md section 5.
    """
    reason_code: FailureReason = "todo_projection_target_unavailable"
    facts: dict[str, Any] = {}
    match error:
        case NotReplaceable():
            reason_code, facts = error.reason_code, {"lines": error.lines}
        case RenderRejected():
            reason_code = "todo_projection_render_rejected"
            facts = {"kind": error.kind, "lines": [], "todo_id": error.todo_id, "field": error.field}
        case UnsafeDocument(kind="not_utf8"):
            facts = {"kind": error.kind, "lines": [error.line], "byte_offset": error.byte_offset}
        case UnsafeDocument():
            reason_code = "todo_projection_render_rejected"
            facts = {"kind": error.kind, "lines": [error.line]}
        case NotPublished():
            kind = error.facts["reason_code"]
            if kind in _WRITE_FAILURES:
                reason_code = "todo_projection_write_unavailable"
            facts = {"kind": kind, "error_code": error.facts.get("error_code"), "kept": error.facts.get("kept")}
    return _failure(reason_code, error, facts)


def outage_of(error: Exception) -> Failure:
    """Return the failure that an error is which was raised while the authority was read."""
    return _failure("todo_projection_authority_unavailable", error, {})


def _failure(reason_code: FailureReason, error: Exception, facts: Mapping[str, Any]) -> Failure:
    known = {name: fact for name, fact in facts.items() if fact is not None}
    # What other errors say may quote anything.
    is_ours = isinstance(error, EngineError | NotReplaceable)
    message = str(error) if is_ours else "the display could not be worked on; the log of the daemon says more"
    return Failure(reason_code, type(error).__name__, message, known)
