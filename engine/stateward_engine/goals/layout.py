"""Layout: where the passages of a document stand, in characters and in lines."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.goals.lines import Span, mark_of
from stateward_engine.goals.passages import REFERENCE_SIGN
from stateward_engine.goals.todo_codec import LineKind, read_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from stateward_engine.goals.lines import Line
    from stateward_engine.goals.noted import NotedKind
    from stateward_engine.goals.passages import Passage
    from stateward_engine.goals.todo_codec import Reading

_SIZE: Final[Callable[[Passage], int]] = attrgetter("size")
_LINE_COUNT: Final[Callable[[Passage], int]] = attrgetter("line_count")


class Layout(NamedTuple):
    """The passages of a document, one behind the other.

    Attributes:
        mark: The byte-order mark in front of the first one, or nothing.
        passages: All of them.
        offsets: Where each begins in the text, and the end of the text.
        starts: Index of the first line of each, and the number of all lines.
        mixed: Indices of the passages that hold more than rows.
    """

    mark: str
    passages: Sequence[Passage]
    offsets: Sequence[int]
    starts: Sequence[int]
    mixed: Sequence[int]

    def replace(self, first: int, end: int, passages: Sequence[Passage]) -> Layout:
        """Return the layout in which others stand in the place of the passages from index `first` up to `end`."""
        before, behind = bisect_left(self.mixed, first), bisect_left(self.mixed, end)
        by = first + len(passages) - end
        return Layout(
            self.mark,
            [*self.passages[:first], *passages, *self.passages[end:]],
            _spliced(self.offsets, first, end, map(_SIZE, passages)),
            _spliced(self.starts, first, end, map(_LINE_COUNT, passages)),
            [*self.mixed[:before], *_moved(_mixed(passages), first), *_moved(self.mixed[behind:], by)],
        )

    def text(self, first: int, end: int) -> str:
        """Return the text of the passages from index `first` up to `end`; a mark belongs to the first one of all."""
        mark = "" if first else self.mark
        return mark + "".join(passage.text for passage in self.passages[first:end])

    def between(self, start: int, end: int) -> str:
        """Return the characters from one offset up to another, which costs the passages that hold them."""
        first = self.passage_at(start)
        base = self.offsets[first] if first else 0
        return self.text(first, self.passage_at(end) + 1)[start - base : end - base]

    @property
    def newline(self) -> str:
        """What ends the first line; what is added to the document ends alike."""
        return (self.line(0).terminator if self.passages else "") or "\n"

    def line(self, line: int) -> Line:
        """Return the line at an index, with the number and the offset that it has in the document."""
        index = self.passage_of_line(line)
        found = self.passages[index].lines[line - self.starts[index]]
        return found._replace(number=line + 1, start=self.offsets[index] + found.start)

    def reading(self, line: int) -> Reading:
        """Return what the line at an index is."""
        index = self.passage_of_line(line)
        passage, within = self.passages[index], line - self.starts[index]
        return LineKind.HIDDEN if passage.is_hidden(within) else read_line(passage.lines.texts[within])

    def start(self, line: int) -> int:
        """Return where a line begins, by its index; behind the last line that is the end of the text."""
        return self.line(line).start if line < self.starts[-1] else self.offsets[-1]

    def end(self, line: int) -> int:
        """Return the offset behind the text of a line, in front of its terminator."""
        return self.span(line)[1]

    def span(self, line: int) -> Span:
        """Return where the text of a line stands, by its index; an empty document has an empty first line."""
        return self.line(line).span if self.passages else (len(self.mark), len(self.mark))

    def line_at(self, offset: int) -> int:
        """Return the index of the line that holds an offset; the last line also holds what follows it."""
        if not self.passages:
            return 0
        index = self.passage_at(offset)
        return self.starts[index] + self.passages[index].lines.index_at(offset - self.offsets[index])

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

    def noted(self, kind: NotedKind) -> Iterator[int]:
        """Yield the indices of the lines of one kind that are noted, wherever they stand."""
        for start, passage in self.mixed_passages():
            yield from (start + noted.first for noted in passage.noted if noted.kind == kind)

    def ignored(self) -> dict[int, frozenset[str]]:
        """Return which codes comments set aside on which lines, by their indices."""
        return {
            start + ignored.line: ignored.codes
            for start, passage in self.mixed_passages()
            for ignored in passage.ignored
        }

    def task_lines(self, first: int, end: int) -> Iterator[int]:
        """Yield the indices of the lines from `first` up to `end` that begin a row."""
        for index in range(self.passage_of_line(first), len(self.passages)):
            passage, start = self.passages[index], self.starts[index]
            if start >= end:
                return
            if first < start + passage.tasks_end:
                yield from (start + row.first for row in passage.rows if first <= start + row.first < end)

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

    def lines_with_reference_sign(self) -> Iterator[Line]:
        """Yield the visible lines in which a reference into the state can stand, in their places."""
        for index, passage in enumerate(self.passages):
            if passage.has_reference_sign:
                for within, text in enumerate(passage.lines.texts):
                    if REFERENCE_SIGN in text and not passage.is_hidden(within):
                        yield self.line(self.starts[index] + within)

    def mixed_passages(self) -> Iterator[tuple[int, Passage]]:
        """Yield the passages that hold more than rows, with the indices of their first lines."""
        for index in self.mixed:
            yield self.starts[index], self.passages[index]


def lay_out(mark: str, passages: Sequence[Passage]) -> Layout:
    """Return the layout of passages behind a byte-order mark or nothing."""
    offsets = accumulate(map(_SIZE, passages), initial=len(mark))
    starts = accumulate(map(_LINE_COUNT, passages), initial=0)
    return Layout(mark, passages, list(offsets), list(starts), _mixed(passages))


def _mixed(passages: Sequence[Passage]) -> list[int]:
    return [index for index, passage in enumerate(passages) if not passage.is_bare]


def _spliced(sums: Sequence[int], first: int, end: int, sizes: Iterable[int]) -> list[int]:
    """Return the sums up to each of some sizes, where others stand in the place of those from `first` up to `end`."""
    middle = list(accumulate(sizes, initial=sums[first]))
    return [*sums[:first], *middle, *_moved(sums[end + 1 :], middle[-1] - sums[end])]


def _moved(numbers: Sequence[int], by: int) -> Iterable[int]:
    return map(by.__add__, numbers) if by else numbers
