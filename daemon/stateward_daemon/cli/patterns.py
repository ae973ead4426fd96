"""File patterns as shells have them, with `**` for any number of directories; no link leads them astray."""

from __future__ import annotations

import glob
import os
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ANY_DEPTH: Final = "**"
WILDCARD: Final = re.compile(r"[*?[]")


def is_directory(name: str) -> bool:
    """Whether a name is one of a directory; one that no file can have is none."""
    return os.path.isdir(name)  # noqa: PTH112 - `Path.is_dir` raises for a name that is too long


def matches_of(pattern: str) -> list[str]:
    """Return the files that a pattern matches, in order; none for a name without a wildcard.

    What stands in front of the first wildcard may lead over links. Below it no link to a directory is followed: two
    that lead back would give one file names without number. A hidden name is matched by what begins with a dot.
    """
    wildcard = WILDCARD.search(pattern)
    if wildcard is None:
        return []
    head = pattern[: pattern.rfind("/", 0, wildcard.start()) + 1]
    parts = [part for part in pattern[len(head) :].split("/") if part]
    # The same twice says nothing more, and would be looked at once for each directory.
    parts = [parts[0], *(part for before, part in pairwise(parts) if not before == part == ANY_DEPTH)]
    return sorted({match for match in _matches(head, parts) if not is_directory(match)})


def _matches(directory: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield what the parts of a pattern match in a directory, whose name is empty or ends in a slash."""
    part, *others = parts
    if part == ANY_DEPTH:
        for below in _tree(directory):
            yield from _matches(below, others or ["*"])
    elif others:
        for below in _directories(directory, part):
            yield from _matches(below, others)
    else:
        yield from (directory + name for name in _names(directory, part))


def _tree(directory: str) -> Iterator[str]:
    due = [directory]
    while due:
        yield (directory := due.pop())
        due += _directories(directory, "*")


def _directories(directory: str, part: str) -> Iterator[str]:
    for name in _names(directory, part):
        path = directory + name
        if is_directory(path) and not os.path.islink(path):  # noqa: PTH114 - as above
            yield f"{path}/"


def _names(directory: str, part: str) -> list[str]:
    return glob.glob(part, root_dir=directory or None)  # noqa: PTH207 - `Path.glob` finds hidden names as well
