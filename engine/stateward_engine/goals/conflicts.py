"""Conflict markers: the lines that an unfinished merge in Git leaves behind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_engine.goals.layout import Layout

# A line of equals signs alone is a heading's underline, unless one of these has opened a conflict.
MARKER: Final = re.compile(r"(?P<sign>[<|>])(?P=sign){6}(?: .*)?")
SEPARATOR: Final = "======="


class Conflict(NamedTuple):
    """One unfinished merge: the indices of its lines, from its first marker to its last."""

    markers: tuple[int, ...]


def find_conflicts(layout: Layout) -> Iterator[Conflict]:
    """Yield the conflicts in the visible lines of a document; a lone marker is one, too.

    Source: goal-documents 4.3 and section 5.
    """
    opened: list[int] = []
    for index in layout.noted("merge"):
        text = layout.line(index).text
        marker = MARKER.fullmatch(text)
        if marker and marker["sign"] == "<" and opened:
            yield Conflict(tuple(opened))
            opened = []
        if marker or (opened and text == SEPARATOR):
            opened.append(index)
        if marker and marker["sign"] == ">":
            yield Conflict(tuple(opened))
            opened = []
    if opened:
        yield Conflict(tuple(opened))
