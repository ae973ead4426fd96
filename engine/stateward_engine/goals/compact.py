"""The two ways in which text is brought into shape: whitespace compacted, length clipped."""

from __future__ import annotations

from typing import Final

ELLIPSIS: Final = "\u2026"


def compact(text: str) -> str:
    r"""Return `text` stripped, with each run of Unicode whitespace replaced by one space.

    Source: goal-documents section 0. `str.split` has the very set of characters that the section lists.

    >>> compact("  one\u3000 two\n")
    'one two'
    """
    return " ".join(text.split())


def clip(compacted: str, limit: int) -> str:
    """Return compacted text bounded to `limit` code points; what is cut ends in an ellipsis.

    The result can be shorter than `limit`, since whitespace before the ellipsis is dropped.
    Source: goal-documents section 0.

    >>> clip("one two", 5)
    'one…'
    """
    if len(compacted) <= limit:
        return compacted
    return compacted[: limit - 1].rstrip() + ELLIPSIS
