"""Headings, and the sections of prose that are read: Next Action and Objective."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.goals.compact import clip, compact
from stateward_engine.goals.todo_codec import INDENT
from stateward_engine.goals.visible import COMMENT_START

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stateward_engine.goals.layout import Layout
    from stateward_engine.goals.lines import Span

BULLET: Final = re.compile(r"\s*(?:[-*]|[0-9]+[.)])\s+(?P<text>\S.*)", re.DOTALL)
QUOTE: Final = "> "
SECTION_LEVEL: Final = 2
# An entry is a line in a status view; the document keeps its whole text.
ENTRY_CHARACTERS_MAX: Final = 220


class Heading(NamedTuple):
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


def find_headings(layout: Layout) -> tuple[Heading, ...]:
    """Return the visible headings of every level, in document order.

    Source: goal-documents 1.2.
    """
    return tuple(
        Heading(heading.level, heading.text, start + line, layout.span(start + line))
        for start, passage in layout.mixed_passages()
        for line, heading in passage.headings
    )


def read_next_action(layout: Layout, headings: Iterable[Heading]) -> NextAction:
    """Return the entries of the first Next Action section; later sections of that name are ignored.

    Source: goal-documents 1.3.
    """
    heading, texts = _section("next action", layout, headings)
    entries = (clip(compact(entry), ENTRY_CHARACTERS_MAX) for entry in _entries(texts))
    return NextAction(heading, tuple(filter(None, entries)))


def read_objective(layout: Layout, headings: Iterable[Heading]) -> str | None:
    """Return the objective as one compacted text, or `None` without such a section.

    New documents quote each line and escape `&`, `<` and `>`, so that nothing in an objective acts as structure; older
    ones say it plainly.
    Source: goal-documents 1.1.
    """
    heading, texts = _section("objective", layout, headings)
    if heading is None:
        return None
    written = [text for text in texts if text.strip()]
    if all(text.startswith(QUOTE) for text in written):
        return compact(" ".join(unescape(text.removeprefix(QUOTE)) for text in written))
    plain = (text.strip() for text in written)
    return compact(" ".join(text.removeprefix("- ") for text in plain if not text.startswith(COMMENT_START)))


def _section(title: str, layout: Layout, headings: Iterable[Heading]) -> tuple[Heading | None, list[str]]:
    """Return the first heading of that title, and the visible lines up to the next heading of level two or more."""
    sections = [heading for heading in headings if heading.level >= SECTION_LEVEL and heading.text]
    for heading, following in pairwise([*sections, None]):
        if heading and heading.text.lower() == title:
            end = following.at if following else layout.starts[-1]
            return heading, list(layout.visible_texts(heading.at + 1, end))
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
