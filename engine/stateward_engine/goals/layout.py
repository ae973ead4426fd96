"""Layout: where the passages of a document stand, in characters and in lines."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from stateward_engine.goals.lines import Span, mark_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stateward_engine.goals.passages import Passage


class Layout:
    """The passages of a document, one behind the other.

    Attributes:
        mark: The byte-order mark in front of the first one, or nothing.
        passages: All of them.
        offsets: Where each begins in the text, and the end of the text.
        starts: Index of the first line of each, and the number of all lines.
    """

    __slots__ = ("mark", "offsets", "passages", "starts")

    def __init__(self, mark: str, passages: Sequence[Passage]) -> None:
        self.mark = mark
        self.passages = passages
        self.offsets: list[int] = list(accumulate((passage.size for passage in passages), initial=len(mark)))
        self.starts: list[int] = list(accumulate((passage.line_count for passage in passages), initial=0))

    def text(self, first: int, end: int) -> str:
        """Return the text of the passages from index `first` up to `end`; a mark belongs to the first one of all."""
        mark = "" if first else self.mark
        return mark + "".join(passage.text for passage in self.passages[first:end])

    def start(self, line: int) -> int:
        """Return where a line begins, by its index; behind the last line that is the end of the text."""
        if line >= self.starts[-1]:
            return self.offsets[-1]
        index = self.passage_of_line(line)
        return self.offsets[index] + self.passages[index].lines.starts[line - self.starts[index]]

    def span(self, line: int) -> Span:
        """Return where the text of a line stands, by its index; an empty document has an empty first line."""
        if not self.passages:
            return len(self.mark), len(self.mark)
        index = self.passage_of_line(line)
        start, end = self.passages[index].lines.span(line - self.starts[index])
        return self.offsets[index] + start, self.offsets[index] + end

    def passage_at(self, offset: int) -> int:
        """Return the index of the passage that holds an offset; the last one also holds the end of the text."""
        return max(min(bisect_right(self.offsets, offset), len(self.passages)) - 1, 0)

    def passage_of_line(self, line: int) -> int:
        """Return the index of the passage that holds a line, by its index; the last one also holds those behind it."""
        return max(min(bisect_right(self.starts, line), len(self.passages)) - 1, 0)

    def difference(self, text: str) -> tuple[int, int, str]:
        """Return one edit that makes another text of this one: start, end, and what stands there instead."""
        if mark_of(text) != self.mark:
            return 0, self.offsets[-1], text
        first, behind, end = 0, len(self.passages), len(text)
        while first < behind and text.startswith(self.passages[first].text, self.offsets[first]):
            first += 1
        start = self.offsets[first]
        while behind > first and text.endswith(self.passages[behind - 1].text, start, end):
            behind -= 1
            end -= self.passages[behind].size
        return start, self.offsets[behind], text[start:end]

    def visible_texts(self, first: int, end: int) -> Iterator[str]:
        """Yield what the visible lines from index `first` up to `end` say."""
        index = self.passage_of_line(first)
        while index < len(self.passages) and self.starts[index] < end:
            passage, start = self.passages[index], self.starts[index]
            hidden = {line for block in passage.hidden for line in range(block.first, block.end)}
            for line in range(max(first - start, 0), min(end - start, passage.line_count)):
                if line not in hidden:
                    yield passage.lines.texts[line]
            index += 1
