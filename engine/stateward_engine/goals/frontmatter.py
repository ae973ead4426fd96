"""Frontmatter: the block of `key: value` lines between two delimiter lines at the very start of a document."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stateward_engine.goals.lines import Lines

OPENING: Final = re.compile(r"---[ \t]*")
CLOSING: Final = re.compile(r"(?:---|\.\.\.)[ \t]*")
# JSON can spell half a character, which no UTF-8 answer could carry.
SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What a document says in front.

    Attributes:
        values: Key to value, in document order; empty when there is no block or when it never closes.
        line_count: Lines of the block, both delimiters included; 0 when it has no end.
        closed: False when a block opens and never closes, which makes the document unsafe.
    """

    values: Mapping[str, str]
    line_count: int
    closed: bool


def read_frontmatter(lines: Lines) -> Frontmatter:
    """Return the frontmatter of a document. One rule serves for reading it and for hiding it.

    Source: goal-documents 1.1.
    """
    if not (lines.texts and lines.terminators[0] and OPENING.fullmatch(lines.texts[0])):
        return Frontmatter({}, 0, closed=True)
    for index in range(1, len(lines)):
        if CLOSING.fullmatch(lines.texts[index]):
            return Frontmatter(_read_values(lines.texts[1:index]), index + 1, closed=True)
    return Frontmatter({}, 0, closed=False)


def _read_values(texts: Iterable[str]) -> dict[str, str]:
    pairs = (text.split(":", 1) for text in texts if ":" in text)
    return {key.strip(): _read_value(value.strip()) for key, value in pairs}


def _read_value(value: str) -> str:
    if value.startswith('"'):
        try:
            decoded = json.loads(value)
        except ValueError:
            decoded = None
        if isinstance(decoded, str) and not SURROGATE.search(decoded):
            return decoded
    # Documents from before the JSON rule put quotation marks around values without escaping anything.
    return value.strip('"')
