"""Which problems somebody wants to see: comments that set one aside, and rules that switch a code off or re-rank it.

A reason to refuse the document is always shown: without it, nobody could say why there is no projection.
Source: goal-documents section 5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from stateward_engine.goals.codes import CODES, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stateward_engine.goals.lines import Lines
    from stateward_engine.goals.problems import Problem

Level: TypeAlias = Severity | Literal["off"]
LEVELS: Final[tuple[Level, ...]] = ("off", "info", "warning", "error")
# Code to level; a code that is not named keeps its own.
Rules: TypeAlias = Mapping[str, Level]

WORD: Final = "stateward: ignore"
IGNORE: Final = re.compile(r"\s*<!--\s*stateward: ignore\s+(?P<codes>[a-z0-9_]+(?:[\s,]+[a-z0-9_]+)*)\s*-->\s*")


def unsuppressed(lines: Lines, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the problems that no comment on the line above sets aside."""
    ignored = _ignored(lines) if WORD in lines.text else {}
    for found in problems:
        codes = ignored.get(lines.index_at(found.span[0])) if ignored else None
        if not codes or found.code not in codes or CODES[found.code].refuses:
            yield found


def ruled(problems: Iterable[Problem], rules: Rules) -> Iterator[Problem]:
    """Yield the problems that are not switched off, with the severities that the rules give them."""
    for found in problems:
        level = rules.get(found.code)
        if level is None or CODES[found.code].refuses:
            yield found
        elif level != "off":
            yield found._replace(severity=level)


def _ignored(lines: Lines) -> dict[int, frozenset[str]]:
    """Return which codes are set aside on which lines, by index."""
    comments = ((index, IGNORE.fullmatch(text)) for index, text in enumerate(lines.texts) if WORD in text)
    return {index + 1: frozenset(re.split(r"[\s,]+", comment["codes"])) for index, comment in comments if comment}
