"""Problems: findings in a document, each with a place, a code, a severity and a sentence that helps to mend it."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from stateward_engine.goals.codes import CODES, Severity
from stateward_engine.goals.lines import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

# Other places that belong to a problem, each with a message.
Related: TypeAlias = tuple[tuple[Span, str], ...]
# A problem of several rows is told on each, and points at the others, which makes a group of n rows n² pointers.
RELATED_MAX: Final = 16


class Edit(NamedTuple):
    """One replacement: the characters of a span by a text. An empty span inserts."""

    span: Span
    text: str


class Fix(NamedTuple):
    """A mechanical repair.

    Attributes:
        title: What it does, as a command in lower case.
        edits: The replacements, which do not overlap; all of them or none.
        safe: Whether it may be made unasked: it says what the author has surely meant, and loses nothing.
    """

    title: str
    edits: tuple[Edit, ...]
    safe: bool = False


class Problem(NamedTuple):
    """One finding.

    Attributes:
        code: A key of `CODES`.
        severity: How grave it is.
        message: What is wrong and what to do, in lower case without a full stop.
        span: Where, in code points of the text.
        related: Other places that belong to it, each with a message.
        fix: What would mend it, or `None` when that takes a person.
    """

    code: str
    severity: Severity
    message: str
    span: Span
    related: Related = ()
    fix: Fix | None = None


def problem(
    code: str, message: str, span: Span, related: Iterable[tuple[Span, str]] = (), *, fix: Fix | None = None
) -> Problem:
    """Return a problem of a known code, with the severity of that code."""
    return Problem(code, CODES[code].severity, message, span, tuple(related), fix)


def moved(found: Problem, by: int) -> Problem:
    """Return a problem of a part of a text as it stands in the text, where the part begins at an offset."""
    code, severity, message, span, related, fix = found
    if fix:
        edits = tuple([Edit(shifted(edit.span, by), edit.text) for edit in fix.edits])
        fix = Fix(fix.title, edits, fix.safe)
    return Problem(code, severity, message, shifted(span, by), _all_shifted(related, by), fix)


def _all_shifted(related: Related, by: int) -> Related:
    return tuple([(shifted(span, by), message) for span, message in related])


def shifted(span: Span, by: int) -> Span:
    """Return a span of a part of a text as it stands in the text, where the part begins at an offset."""
    return span[0] + by, span[1] + by


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems in the order in which they are shown: by place, then by code."""
    return sorted(problems, key=attrgetter("span", "code"))
