"""The store's only clocks; whoever needs a time is given one."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def utc_now() -> str:
    """Return the wall clock's time as RFC 3339 text in UTC, in microseconds, always of the same width.

    >>> len(utc_now()) == len("2026-12-01T12:00:00.000000Z")
    True
    """
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def elapsed_s() -> float:
    """Return seconds since some moment, in a clock that nobody sets: for deadlines and back-off."""
    return time.monotonic()
