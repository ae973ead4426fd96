"""One goal document as one answer sees it: what its text says, and where that stands for the client who asks."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.positions import Encoding, LineIndex

if TYPE_CHECKING:
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.lines import Span


@dataclass(frozen=True, slots=True)
class Reading:
    """A document with its places in the positions of one client.

    Attributes:
        goal: What the text says; its spans are code points.
        index: The lines of the same text.
        encoding: How the client counts characters.
        version: Of the buffer that was read; `None` for a file, which has none.
    """

    goal: GoalDocument
    index: LineIndex
    encoding: Encoding
    version: int | None

    def range(self, span: Span) -> lsp.Range:
        """Return the range of a span."""
        return lsp.Range(self._position(span[0]), self._position(span[1]))

    def offset(self, position: lsp.Position) -> int:
        """Return the code-point offset of a position."""
        return self.index.offset(position.line, position.character, self.encoding)

    def _position(self, offset: int) -> lsp.Position:
        return lsp.Position(*self.index.position(offset, self.encoding))


def read_buffer(goal: GoalDocument, encoding: Encoding, version: int) -> Reading:
    """Return the reading of a buffer: positions count every character that the client sent."""
    return Reading(goal, LineIndex(goal.lines.text), encoding, version)


def read_file(goal: GoalDocument, encoding: Encoding) -> Reading:
    """Return the reading of a file: positions do not count a byte-order mark, because editors take it off."""
    return Reading(goal, LineIndex(goal.lines.text, start=len(goal.lines.mark)), encoding, None)


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hexadecimal: what `Documents.digest` gives for a file of that text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
