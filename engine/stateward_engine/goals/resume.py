"""Resume conditions: the grammar of `resume_when`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

RESUME_AT: Final = "resume_at:"
# Stricter than `datetime.fromisoformat`, which also takes week dates, spaces and longer fractions.
TIMESTAMP: Final = re.compile(
    r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,3})?"
    r"(?:Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))"
)
CONDITION: Final = re.compile(
    r"pr_merged:(?:[a-z0-9_.-]{1,80}/[a-z0-9_.-]{1,100})?#[1-9][0-9]{0,8}"
    r"|[a-z][a-z0-9_-]{0,31}(?::[a-z0-9_.:@-]{1,96})?"
)
# As the grammar: a year of four digits that does not start with 0.
YEAR_MIN: Final = 1000


def read_resume_when(value: str) -> str | None:
    """Return a resume condition in its one spelling, or `None` when it is none.

    A time becomes UTC, with milliseconds only when there are some. Kinds that nobody knows are kept; to write them is
    another matter.
    Source: goal-documents 3.4.

    >>> read_resume_when("resume_at:2026-07-01T08:00:00.5+08:00")
    'resume_at:2026-07-01T00:00:00.500Z'
    """
    lowered = value.lower()
    if lowered.startswith(RESUME_AT):
        moment = _utc(value[len(RESUME_AT) :])
        return RESUME_AT + moment if moment else None
    return lowered if CONDITION.fullmatch(lowered) else None


def _utc(timestamp: str) -> str | None:
    if not TIMESTAMP.fullmatch(timestamp):
        return None
    try:
        moment = datetime.fromisoformat(timestamp).astimezone(UTC)
    except (ValueError, OverflowError):  # no such day, or beyond the last year once it is UTC
        return None
    if moment.year < YEAR_MIN:
        return None
    return moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds").replace("+00:00", "Z")
