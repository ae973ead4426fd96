"""Write scopes: patterns of paths that a todo needs to write, and whether two of them can meet."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_DEEP: Final = "**"
_RUN: Final = "*"
_ANY: Final = "?"
# A class such as `[a-z]` is one character; which one is not looked at.
_TOKEN: Final = re.compile(r"\[!?\]?[^\]]*\]|.", re.DOTALL)


def overlapping(left: Iterable[str], right: Iterable[str]) -> list[str]:
    """Return those of the scopes `left` that overlap with one of `right`.

    Two scopes overlap when some path can lie in both. A scope is a path relative to the repository, and holds that
    path and all below it. In a segment `*` stands for any characters, `?` and a class in brackets for any one; the
    segment `**` stands for any segments, none included. Letters in either case are one, as some file systems have it.
    Where this is wider than what a tool takes the pattern for, two todos wait for each other that need not.

    >>> overlapping(["src/*.py", "docs"], ["src/lens.py", "src/**/test_*"])
    ['src/*.py']
    >>> overlapping(["src/*.py"], ["src/*.md", "src2/", "test"])
    []
    """
    others = [_segments(scope) for scope in right]
    return [scope for scope in left if any(_meet(_segments(scope), other, _DEEP, _alike) for other in others)]


def _segments(scope: str) -> list[str]:
    return [*(part for part in scope.casefold().split("/") if part not in {"", "."}), _DEEP]


def _alike(left: str, right: str) -> bool:
    """Tell whether some name fits two patterns of a segment."""
    return left == right or _meet(_characters(left), _characters(right), _RUN, _same)


def _characters(segment: str) -> list[str]:
    return [_ANY if len(token) > 1 else token for token in _TOKEN.findall(segment)]


def _same(left: str, right: str) -> bool:
    return left == right or _ANY in (left, right)


def _meet(left: Sequence[str], right: Sequence[str], run: str, fits: Callable[[str, str], bool]) -> bool:
    """Tell whether something fits two rows of tokens, where `run` stands for any number of tokens, none included.

    It goes from the ends to the beginnings, because a recursion would go as deep as a scope is long.
    """
    # For the rest of `left` from the current token on: whether it meets the rest of `right` from each index on.
    row = [all(token == run for token in right[start:]) for start in range(len(right) + 1)]
    for token in reversed(left):
        below, row = row, [token == run and row[-1]] * (len(right) + 1)
        for index in range(len(right) - 1, -1, -1):
            if run in (token, right[index]):
                row[index] = below[index] or row[index + 1]
            else:
                row[index] = below[index + 1] and fits(token, right[index])
    return row[0]
