"""Reading: a whole text into passages, and after an edit again as much of it as the edit can influence."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from stateward_engine.goals.frontmatter import CLOSING, Frontmatter, read_frontmatter
from stateward_engine.goals.layout import Layout, lay_out
from stateward_engine.goals.lines import mark_of
from stateward_engine.goals.passages import Passage, frontmatter_passage, read_passages

if TYPE_CHECKING:
    from collections.abc import Mapping


class Read(NamedTuple):
    """A text as it was read: what it says in front, and its passages."""

    frontmatter: Frontmatter
    layout: Layout


def read_text(text: str) -> Read:
    """Read a whole text."""
    mark = mark_of(text)
    frontmatter = read_frontmatter(text, len(mark))
    passages, _ = _read_until(text, len(mark), frontmatter.end, {})
    return Read(frontmatter, lay_out(mark, passages))


def read_again(read: Read, start: int, end: int, text: str) -> Read:
    """Read what becomes of a text when `text` replaces its characters from `start` up to `end`.

    Reading resumes at a passage whose first line the edit leaves as it is, and stops as soon as it meets the start of
    an old passage behind the edit: from there on it would find the same again.
    Source: goal-documents section 6.
    """
    layout, count = read.layout, len(read.layout.passages)
    first, last = _resume(layout, start), layout.passage_at(end)
    # One passage more than the edit touches, and twice as many each time the reading meets nothing.
    reach = last + 2
    while True:
        reach = min(reach, count)
        base = layout.offsets[first] if first else 0
        before = layout.text(first, reach)
        after = before[: start - base] + text + before[end - base :]
        if first and not read.frontmatter.closed and CLOSING.search(after):
            # What opened in front and never closed may close now.
            first, reach = 0, count
            continue
        mark = "" if first else mark_of(after)
        frontmatter = read.frontmatter if first else read_frontmatter(after, len(mark))
        behind = range(max(bisect_left(layout.offsets, end), first + 1), reach)
        stops = {layout.offsets[index] - base + len(text) - (end - start): index for index in behind}
        passages, met = _read_until(after, len(mark), 0 if first else frontmatter.end, stops)
        if reach == count or (met is not None and (first or frontmatter.closed)):
            end = count if met is None else met
            if first:
                return Read(frontmatter, layout.replace(first, end, passages))
            return Read(frontmatter, lay_out(mark, [*passages, *layout.passages[end:]]))
        reach += reach - last


def _resume(layout: Layout, start: int) -> int:
    """Return the index of the passage at which to begin: an edit of a first line may join it to the passage above."""
    index = layout.passage_at(start)
    touches_first_line = index > 0 and start <= layout.offsets[index] + len(layout.passages[index].lines.texts[0])
    return index - touches_first_line


def _read_until(
    text: str, start: int, frontmatter_end: int, stops: Mapping[int, int]
) -> tuple[list[Passage], int | None]:
    """Return the passages of a text up to the first stop that can be one, and what is said of that stop."""
    passages = [frontmatter_passage(text, start, frontmatter_end)] if frontmatter_end else []
    at = frontmatter_end or start
    reading = read_passages(text, at, sorted(stop for stop in stops if stop > at))
    while at not in stops and (passage := next(reading, None)):
        passages.append(passage)
        at += passage.size
    return passages, stops.get(at)
