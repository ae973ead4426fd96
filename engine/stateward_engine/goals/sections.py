"""Headings, and the sections of prose that are read: Next Action and Objective."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.goals.compact import clip, compact
from stateward_engine.goals.todo_codec import INDENT, HeadingLine, LineKind, Reading
from stateward_engine.goals.visible import COMMENT_START

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from stateward_engine.goals.lines import Lines, Span

BULLET: Final = re.compile(r"\s*(?:[-*]|[0-9]+[.)])\s+(?P<text>\S.*)", re.DOTALL)
QUOTE: Final = "> "
SECTION_LEVEL: Final = 2
# An entry is a line in a status view; the document keeps its whole text.
ENTRY_CHARACTERS_MAX: Final = 220


@dataclass(frozen=True, slots=True)
class Heading:
    """One visible ATX heading.

    Attributes:
        level: Count of its `#`.
        text: What it says, trailing `#` included; it may be nothing.
        at: Index of its line, from 0.
        span: Where its line stands.
    """

    level: int
    text: str
    at: int
    span: Span


class NextAction(NamedTuple):
    """What is to be done next.

    Attributes:
        heading: The heading of the section, or `None` when there is none.
        entries: One text per entry, compacted and clipped to `ENTRY_CHARACTERS_MAX`.
    """

    heading: Heading | None
    entries: tuple[str, ...]


def find_headings(lines: Lines, readings: Sequence[Reading]) -> tuple[Heading, ...]:
    """Return the visible headings of every level, in document order.

    Source: goal-documents 1.2.
    """
    return tuple(
        Heading(reading.level, reading.text, index, lines.span(index))
        for index, reading in enumerate(readings)
        if isinstance(reading, HeadingLine)
    )


def read_next_action(lines: Lines, readings: Sequence[Reading], headings: Iterable[Heading]) -> NextAction:
    """Return the entries of the first Next Action section; later sections of that name are ignored.

    Source: goal-documents 1.3.
    """
    heading, texts = _section("next action", lines, readings, headings)
    entries = (clip(compact(entry), ENTRY_CHARACTERS_MAX) for entry in _entries(texts))
    return NextAction(heading, tuple(filter(None, entries)))


def read_objective(lines: Lines, readings: Sequence[Reading], headings: Iterable[Heading]) -> str | None:
    """Return the objective as one compacted text, or `None` without such a section.

    New documents quote each line and escape `&`, `<` and `>`, so that nothing in an objective acts as structure; older
    ones say it plainly.
    Source: goal-documents 1.1.
    """
    heading, texts = _section("objective", lines, readings, headings)
    if heading is None:
        return None
    written = [text for text in texts if text.strip()]
    if all(text.startswith(QUOTE) for text in written):
        return compact(" ".join(unescape(text.removeprefix(QUOTE)) for text in written))
    plain = (text.strip() for text in written)
    return compact(" ".join(text.removeprefix("- ") for text in plain if not text.startswith(COMMENT_START)))


def _section(
    title: str, lines: Lines, readings: Sequence[Reading], headings: Iterable[Heading]
) -> tuple[Heading | None, list[str]]:
    """Return the first heading of that title, and the visible lines up to the next heading of level two or more."""
    sections = [heading for heading in headings if heading.level >= SECTION_LEVEL and heading.text]
    for heading, following in pairwise([*sections, None]):
        if heading and heading.text.lower() == title:
            end = following.at if following else len(lines)
            visible = (index for index in range(heading.at + 1, end) if readings[index] is not LineKind.HIDDEN)
            return heading, [lines.texts[index] for index in visible]
    return None, []


def _entries(texts: Iterable[str]) -> Iterator[str]:
    """Yield one text per entry, continuations joined."""
    open_entry = ""
    for text in texts:
        stripped = text.strip()
        if stripped.startswith(COMMENT_START):
            continue
        bullet = BULLET.match(text)
        if not bullet and open_entry and text.startswith(INDENT):
            open_entry += f" {stripped}"
            continue
        if open_entry:
            yield open_entry
        open_entry = bullet["text"] if bullet else ""
        if not bullet:
            yield stripped
    yield open_entry
