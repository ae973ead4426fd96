"""Conflict markers: the lines that an unfinished merge in Git leaves behind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.goals.todo_codec import LineKind, Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stateward_engine.goals.lines import Lines

# A line of equals signs alone is a heading's underline, unless one of these has opened a conflict.
MARKER: Final = re.compile(r"(?P<sign>[<|>])(?P=sign){6}(?: .*)?")
SEPARATOR: Final = "======="
SIGNS: Final = ("<<<<<<<", ">>>>>>>")


class Conflict(NamedTuple):
    """One unfinished merge: the indices of its lines, from its first marker to its last."""

    markers: tuple[int, ...]


def find_conflicts(lines: Lines, readings: Sequence[Reading]) -> tuple[Conflict, ...]:
    """Return the conflicts in the visible lines of a document; a lone marker is one, too.

    Source: goal-documents 4.3 and section 5.
    """
    if not any(sign in lines.text for sign in SIGNS):
        return ()
    conflicts: list[Conflict] = []
    opened: list[int] = []
    for index, text in enumerate(lines.texts):
        if readings[index] is LineKind.HIDDEN:
            continue
        marker = MARKER.fullmatch(text)
        if marker and marker["sign"] == "<" and opened:
            conflicts.append(Conflict(tuple(opened)))
            opened = []
        if marker or (opened and text == SEPARATOR):
            opened.append(index)
        if marker and marker["sign"] == ">":
            conflicts.append(Conflict(tuple(opened)))
            opened = []
    return (*conflicts, Conflict(tuple(opened))) if opened else tuple(conflicts)
