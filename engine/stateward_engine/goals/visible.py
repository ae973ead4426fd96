"""The visible document: what frontmatter, fences and comments of several lines hide from every reader and editor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from stateward_engine.goals.frontmatter import Frontmatter
    from stateward_engine.goals.lines import Lines

# CommonMark: the info string of a backtick fence holds no backtick, else one line of inline code would hide a document.
FENCE: Final = re.compile(r" {0,3}(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})")
COMMENT_START: Final = "<!--"
COMMENT_END: Final = "-->"
OPENINGS: Final = frozenset({"```", "~~~", COMMENT_START[:3]})


class HiddenBlock(NamedTuple):
    """Consecutive lines that supply nothing: no heading, no row, no marker.

    Attributes:
        kind: What hides them.
        first: Index of the first line, from 0.
        end: Index after the last line.
        closed: False when nothing ends the block, so that it hides the rest of the document.
    """

    kind: Literal["frontmatter", "fence", "comment"]
    first: int
    end: int
    closed: bool


def find_hidden(lines: Lines, frontmatter: Frontmatter) -> tuple[HiddenBlock, ...]:
    """Return the hidden blocks in document order. A fence means nothing in a comment, and a comment nothing in a fence.

    Source: goal-documents 2.1.
    """
    blocks = []
    index = frontmatter.line_count
    if index:
        blocks.append(HiddenBlock("frontmatter", 0, index, closed=True))
    # Three characters tell nearly every line that opens nothing, at a fraction of the cost of the patterns.
    candidates = [at for at, text in enumerate(lines.texts) if text.lstrip()[:3] in OPENINGS]
    for candidate in candidates:
        if candidate >= index and (block := _block_from(lines.texts, candidate)):
            blocks.append(block)
            index = block.end
    return tuple(blocks)


def _block_from(texts: list[str], index: int) -> HiddenBlock | None:
    if opening := FENCE.match(texts[index]):
        return _fence(texts, index, opening["fence"])
    if COMMENT_END not in texts[index] and texts[index].lstrip().startswith(COMMENT_START):
        return _comment(texts, index)
    return None


def _fence(texts: list[str], first: int, fence: str) -> HiddenBlock:
    closing = re.compile(rf" {{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*")
    for index in range(first + 1, len(texts)):
        if closing.fullmatch(texts[index]):
            return HiddenBlock("fence", first, index + 1, closed=True)
    return HiddenBlock("fence", first, len(texts), closed=False)


def _comment(texts: list[str], first: int) -> HiddenBlock:
    for index in range(first + 1, len(texts)):
        if COMMENT_END in texts[index]:
            return HiddenBlock("comment", first, index + 1, closed=True)
    return HiddenBlock("comment", first, len(texts), closed=False)
