"""The visible document: what frontmatter, fences and comments of several lines hide from every reader and editor."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple, TypeAlias

from stateward_engine.goals.lines import AT_LINE_END, AT_LINE_START, LINE

# CommonMark: the info string of a backtick fence holds no backtick, else one line of inline code would hide a document.
FENCE: Final = re.compile(r" {0,3}(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})")
COMMENT_START: Final = "<!--"
COMMENT_END: Final = "-->"
OPENINGS: Final = frozenset({"```", "~~~", COMMENT_START[:3]})


HiddenKind: TypeAlias = Literal["frontmatter", "fence", "comment"]


class HiddenBlock(NamedTuple):
    """Consecutive lines that supply nothing: no heading, no row, no marker.

    Attributes:
        kind: What hides them.
        first: Index of the first line, from 0.
        end: Index after the last line.
        closed: False when nothing ends the block, so that it hides the rest of the document.
    """

    kind: HiddenKind
    first: int
    end: int
    closed: bool


class HiddenEnd(NamedTuple):
    """Where a hidden block ends, behind the terminator of its last line."""

    kind: HiddenKind
    at: int
    closed: bool


def find_hidden_end(text: str, line: str, behind: int) -> HiddenEnd | None:
    """Return the end of the hidden block that a visible line opens, or `None` when it opens none.

    A fence means nothing in a comment, and a comment nothing in a fence.

    Args:
        text: The text that the line is of.
        line: What the line says.
        behind: Offset behind the line and its terminator.

    Source: goal-documents 2.1.
    """
    # Three characters tell nearly every line that opens nothing, at a fraction of the cost of the patterns.
    if line.lstrip()[:3] not in OPENINGS:
        return None
    if opening := FENCE.match(line):
        fence = opening["fence"]
        closing = re.compile(rf"{AT_LINE_START} {{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*{AT_LINE_END}")
        return _hidden_until(text, "fence", closing.search(text, behind))
    if COMMENT_END not in line and line.lstrip().startswith(COMMENT_START):
        return _hidden_until(text, "comment", re.compile(COMMENT_END).search(text, behind))
    return None


def _hidden_until(text: str, kind: HiddenKind, closing: re.Match[str] | None) -> HiddenEnd:
    if closing is None:
        return HiddenEnd(kind, len(text), closed=False)
    line = LINE.match(text, closing.end())
    assert line  # noqa: S101 - it matches everywhere
    return HiddenEnd(kind, line.end(), closed=True)
