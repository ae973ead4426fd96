"""One goal document as one answer sees it: what its text says, and where that stands for the client who asks."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from lsprotocol import types as lsp

from stateward_daemon.positions import LineIndex

if TYPE_CHECKING:
    from stateward_daemon.positions import Encoding
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.lines import Span
    from stateward_engine.goals.passages import Passage


class Reading:
    """A document with its places in the positions of one client.

    Attributes:
        goal: What the text says; its spans are code points.
        version: Of the buffer that was read; `None` for a file, which has none.
        encoding: How the client counts characters.
        indices: Where the lines of its passages start, of those in which a place was looked for.
    """

    def __init__(
        self, goal: GoalDocument, encoding: Encoding, version: int | None, before: Reading | None = None
    ) -> None:
        """Look at a document.

        Args:
            goal: The document.
            encoding: How the client counts characters.
            version: Of its buffer. Positions in a buffer count every character that the client sent; those in a file do
                not count a byte-order mark, because editors take it off.
            before: Of the same buffer, with most of its passages.
        """
        self.goal, self.version, self.encoding = goal, version, encoding
        self._mark = len(goal.layout.mark) if version is None else 0
        # By passage, so that a place is found without a walk through a long document, and is found again after an edit.
        self.indices: WeakKeyDictionary[Passage, LineIndex] = before.indices if before else WeakKeyDictionary()

    def range(self, span: Span) -> lsp.Range:
        """Return the range of a span."""
        return lsp.Range(self._position(span[0]), self._position(span[1]))

    def offset(self, position: lsp.Position) -> int:
        """Return the code-point offset of a position."""
        layout = self.goal.layout
        passage = layout.passage_of_line(position.line)
        line = position.line - layout.starts[passage]
        return self._base(passage) + self._index(passage).offset(line, position.character, self.encoding)

    def _position(self, offset: int) -> lsp.Position:
        passage = self.goal.layout.passage_at(offset)
        line, character = self._index(passage).position(offset - self._base(passage), self.encoding)
        return lsp.Position(self.goal.layout.starts[passage] + line, character)

    def _base(self, passage: int) -> int:
        return self.goal.layout.offsets[passage] if passage else 0

    def _index(self, passage: int) -> LineIndex:
        layout = self.goal.layout
        if not layout.passages:
            return LineIndex(layout.mark, start=self._mark)
        index = self.indices.get(layout.passages[passage])
        if index is None:
            index = LineIndex(layout.text(passage, passage + 1), start=0 if passage else self._mark)
            self.indices[layout.passages[passage]] = index
        return index


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hexadecimal: what `Documents.digest` gives for a file of that text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
