"""Priorities: the `[Pn]` in front of a todo's text."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

# The projection takes plain labels alone; summaries, archives and the renderer's parity check take decorated ones too.
PLAIN: Final = re.compile(r"\[(?P<label>[Pp][0-4])\]\s+(?P<title>\S.*)", re.DOTALL)
DECORATED: Final = re.compile(r"\s*\[(?P<label>[Pp][0-4](?:[-\s][^\]]*)?)\]\s*(?P<title>.*)", re.DOTALL)
# Behind P4 and before nothing: a row without a label is not urgent.
RANK_WITHOUT_LABEL: Final = 50


class Priority(NamedTuple):
    """A label in upper case, and the text without it."""

    label: str
    title: str


def read_priority(text: str) -> Priority | None:
    """Return the priority of a row as the projection shows it.

    Source: goal-documents 1.6, structured projection.

    >>> read_priority("[p2] Watch x")
    Priority(label='P2', title='Watch x')
    """
    return _priority(PLAIN, text)


def read_decorated_priority(text: str) -> Priority | None:
    """Return the priority of a row as summaries and archives show it.

    Source: goal-documents 1.6, shared decoder.

    >>> read_decorated_priority("[P1-urgent] x")
    Priority(label='P1-URGENT', title='x')
    """
    return _priority(DECORATED, text)


def priority_rank(label: str | None) -> int:
    """Return the number that a label sorts by: that of its leading `Pn`."""
    return int(label[1]) if label else RANK_WITHOUT_LABEL


def _priority(pattern: re.Pattern[str], text: str) -> Priority | None:
    match = pattern.fullmatch(text)
    return Priority(match["label"].upper(), match["title"]) if match else None
