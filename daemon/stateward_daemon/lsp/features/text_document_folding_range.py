"""`textDocument/foldingRange`: sections, machine regions, what is hidden, and rows with more than one line."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias

from lsprotocol import types as lsp

from stateward_daemon.lsp.by_passage import by_passage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_daemon.lsp.session import LspSession
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.passages import Passage

# Indices of the first and the last line, and what they are.
Fold: TypeAlias = tuple[int, int, lsp.FoldingRangeKind | None]


def handle(session: LspSession, params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
    """Return the ranges in order, by whole lines; where a client takes only so many, rows are left out first."""
    reading = session.reading(params.text_document.uri)
    if reading is None:
        return []
    document = reading.goal
    folds = chain(_sections(document), _regions(document), _hidden(document), _rows(document))
    found = islice((fold for fold in folds if fold[0] < fold[1]), session.client.foldings_max)
    return [lsp.FoldingRange(first, last, kind=kind) for first, last, kind in sorted(found, key=lambda fold: fold[:2])]


def _sections(document: GoalDocument) -> Iterator[Fold]:
    """Yield each section up to the next one that is not inside of it, without the blank lines at its end."""
    layout = document.layout
    around: list[tuple[int, int]] = []

    def closed(level: int, end: int) -> Iterator[Fold]:
        while around and around[-1][0] >= level:
            first, last = around.pop()[1], end - 1
            while last > first and not layout.line(last).text.strip():
                last -= 1
            yield first, last, None

    for heading in document.headings:
        yield from closed(heading.level, heading.at)
        around.append((heading.level, heading.at))
    yield from closed(0, layout.starts[-1])


def _regions(document: GoalDocument) -> Iterator[Fold]:
    for region in document.regions:
        if region.marked:
            # From the begin marker below the heading, which itself begins a section.
            yield region.first + 1, region.end - 1, lsp.FoldingRangeKind.Region


def _hidden(document: GoalDocument) -> Iterator[Fold]:
    for block in document.hidden:
        yield block.first, block.end - 1, lsp.FoldingRangeKind.Comment if block.kind == "comment" else None


def _rows(document: GoalDocument) -> Iterator[Fold]:
    """Yield the rows, whose metadata is what folds away."""
    for start, (passage, held) in zip(document.layout.starts, document.stretches(), strict=False):
        for first, last in _long_rows(passage):
            if first < held:
                yield start + first, start + last, lsp.FoldingRangeKind.Comment


@by_passage
def _long_rows(passage: Passage) -> list[tuple[int, int]]:
    return [(row.first, row.last) for row in passage.rows if row.first < row.last]
