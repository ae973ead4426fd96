"""Frontmatter: the block of `key: value` lines between two delimiter lines at the very start of a document."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.goals.lines import AT_LINE_START, lines_in, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OPENING: Final = re.compile(r"---[ \t]*(?:\r\n|\n|\r)")
CLOSING: Final = re.compile(rf"{AT_LINE_START}(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
# JSON can spell half a character, which no UTF-8 answer could carry.
SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Frontmatter(NamedTuple):
    """What a document says in front.

    Attributes:
        values: Key to value, in document order; empty when there is no block or when it never closes.
        end: Offset behind the block, both delimiters included; 0 when there is no block or it has no end.
        line_count: How many lines the block has.
        closed: False when a block opens and never closes, which makes the document unsafe.
    """

    values: Mapping[str, str]
    end: int
    line_count: int
    closed: bool


def read_frontmatter(text: str, start: int) -> Frontmatter:
    """Return the frontmatter of a document. One rule serves for reading it and for hiding it.

    Args:
        text: The document.
        start: Where its first line begins: behind the byte-order mark, if there is one.

    Source: goal-documents 1.1.
    """
    opening = OPENING.match(text, start)
    if not opening:
        return Frontmatter({}, 0, 0, closed=True)
    closing = CLOSING.search(text, opening.end())
    if not closing:
        return Frontmatter({}, 0, 0, closed=False)
    block = split_lines(text[opening.end() : closing.start()], mark="")
    line_count = lines_in(text, start, closing.end())
    return Frontmatter(_read_values(block.texts), closing.end(), line_count, closed=True)


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
