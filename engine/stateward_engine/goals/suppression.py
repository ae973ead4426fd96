"""Which problems somebody wants to see: comments that set one aside, and rules that switch a code off or re-rank it.

A reason to refuse the document is always shown: without it, nobody could say why there is no projection.
Source: goal-documents section 5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from stateward_engine.goals.codes import CODES, Severity
from stateward_engine.goals.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from stateward_engine.goals.problems import Problem

Level: TypeAlias = Severity | Literal["off"]
LEVELS: Final[tuple[Level, ...]] = ("off", "info", "warning", "error")
# Code to level; a code that is not named keeps its own.
Rules: TypeAlias = Mapping[str, Level]

WORD: Final = "stateward: ignore"
IGNORE: Final = re.compile(r"\s*<!--\s*stateward: ignore\s+(?P<codes>[a-z0-9_]+(?:[\s,]+[a-z0-9_]+)*)\s*-->\s*")
_GAP: Final = re.compile(r"[\s,]+")


class Ignored(NamedTuple):
    """Codes that a comment sets aside for one line, by its index."""

    line: int
    codes: frozenset[str]


def read_ignored(text: str, start: int, end: int) -> list[Ignored]:
    """Return what the comments set aside that stand in a text from one offset up to another, at borders of lines.

    Indices count from the line at `start`; a comment on the last line is about the line behind it.
    """
    if text.find(WORD, start, end) < 0:
        return []
    comments = ((index, IGNORE.fullmatch(line)) for index, line in enumerate(split_lines(text[start:end], "").texts, 1))
    return [Ignored(index, frozenset(_GAP.split(comment["codes"]))) for index, comment in comments if comment]


def unsuppressed(
    problems: Iterable[Problem], ignored: Mapping[int, Collection[str]], line_at: Callable[[int], int]
) -> Iterable[Problem]:
    """Return the problems that no comment on the line above sets aside.

    Args:
        problems: Any problems of a document.
        ignored: Which codes are set aside on which lines, by their indices.
        line_at: Gives the index of the line that holds an offset.
    """
    if not ignored:
        return problems
    return [found for found in problems if not _is_ignored(found, ignored.get(line_at(found.span[0]), ()))]


def _is_ignored(found: Problem, codes: Collection[str]) -> bool:
    return found.code in codes and not CODES[found.code].refuses


def ruled(problems: Iterable[Problem], rules: Rules) -> Iterator[Problem]:
    """Yield the problems that are not switched off, with the severities that the rules give them."""
    for found in problems:
        level = rules.get(found.code)
        if level is None or CODES[found.code].refuses:
            yield found
        elif level != "off":
            yield found._replace(severity=level)
