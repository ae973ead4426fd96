"""What is wrong with lines that belong to no row: boxes that are none, metadata that nobody reads, merges, fences.

Source: goal-documents section 5.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from stateward_engine.goals.conflicts import find_conflicts
from stateward_engine.goals.lines import indent_of
from stateward_engine.goals.noted import NOTHING_ABOVE
from stateward_engine.goals.passages import SECTION_START
from stateward_engine.goals.problems import Edit, Fix, Problem, problem
from stateward_engine.goals.row_problems import as_metadata, is_sound, sounds_like_metadata
from stateward_engine.goals.todo_codec import INDENT, STATUS_OF_MARKER, read_metadata
from stateward_engine.goals.visible import COMMENT_END, COMMENT_START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_engine.goals.fields import Fields
    from stateward_engine.goals.layout import Layout
    from stateward_engine.goals.lines import Span
    from stateward_engine.goals.noted import Above, Noted
    from stateward_engine.goals.parts import Parts

RULE: Final = re.compile(r"---[ \t]*")
KEY_LINE: Final = re.compile(r"[A-Za-z_][\w.-]*:(?:\s.*)?")
# Longer than that, a block between two rules is prose with a colon here and there.
BLOCK_LINES_MAX: Final = 64
BOX: Final = re.compile(r"(?P<bullet>[-*+]|[0-9]+[.)])(?P<gap>\s*)\[(?P<marker>[^\]]{0,2})\](?P<text>.*)", re.DOTALL)
# Each edit asks again whether metadata that nobody reads is sound, and the answer is in its text.
KEPT_COMMENTS_MAX: Final = 256
BULLETS: Final = ("-", "*")


def line_problems(parts: Parts) -> Iterator[Problem]:
    """Yield what is wrong with lines that belong to no row."""
    yield from _unclosed(parts.layout)
    # Where the regions of a refused document end, nobody knows.
    if parts.tables.sections and not parts.faults:
        yield from _outside(parts)
    # Nearly all passages hold rows and nothing else.
    if any(passage.noted for _, passage in parts.layout.mixed_passages()):
        yield from _conflicts(parts.layout)
        yield from _second_blocks(parts)
        for section in parts.tables.sections:
            yield from _section_problems(parts, parts.layout.passage_of_line(section.region.first))


def _section_problems(parts: Parts, first: int) -> Iterator[Problem]:
    """Yield what is wrong with the lines of the section that begins at a passage."""
    layout, above = parts.layout, NOTHING_ABOVE
    for index in range(first, len(layout.passages)):
        passage, start = layout.passages[index], layout.starts[index]
        if index > first and passage.section is not None:
            return
        for noted in passage.noted:
            if noted.kind == "box":
                yield _no_marker(layout, start + noted.first)
            elif noted.kind == "metadata":
                yield from _ownerless(parts, start + noted.first, noted.above.below(above))
            elif noted.kind == "wrapped":
                yield from _wrapped(parts, index, noted, noted.above.below(above))
        above = passage.above.below(above)


def _no_marker(layout: Layout, index: int) -> Problem:
    text, span = layout.line(index).text, layout.span(index)
    box = BOX.fullmatch(text.strip())
    message = f"this is no todo: {_box_fault(box) if box else 'a row begins with `- [ ] `'}"
    return problem("not_a_todo_marker", message, span, fix=_box_fix(text, box, span) if box else None)


def _box_fault(box: re.Match[str]) -> str:
    if box["bullet"] not in BULLETS:
        return f"a row begins with `- ` or `* `, and this line with `{box['bullet']}`"
    if not box["gap"]:
        return f"write a space between `{box['bullet']}` and the box"
    if box["marker"] not in STATUS_OF_MARKER:
        return f"`[{box['marker']}]` is no box; write `[ ]` for open, `[x]` for done or `[-]` for deferred"
    return "write a space behind the box" if box["text"] else "a row says something behind its box"


def _box_fix(text: str, box: re.Match[str], span: Span) -> Fix | None:
    """Return the repair of a box; what another mark in it means is not guessed."""
    marker = box["marker"].strip() or " "
    if marker not in STATUS_OF_MARKER or not box["text"].strip():
        return None
    bullet = box["bullet"] if box["bullet"] in BULLETS else "-"
    indent = indent_of(text)
    return Fix("make it a todo", (Edit(span, f"{indent}{bullet} [{marker}] {box['text'].strip()}"),))


def _ownerless(parts: Parts, index: int, above: Above) -> Iterator[Problem]:
    text, span = parts.layout.line(index).text, parts.layout.span(index)
    if text.startswith(INDENT) and (above.is_open or above.follows_box):
        return
    if not above.is_open:
        yield problem("metadata_not_indented", "no row stands above this metadata, so nobody reads it", span)
        return
    message = "metadata is indented below its row; at the start of a line nobody reads it"
    safe = _surely_meant(parts, _inside(text), above)
    fix = Fix("indent the metadata", (Edit((span[0], span[0]), "  "),), safe=safe)
    yield problem("metadata_not_indented", message, span, fix=fix)


def _surely_meant(parts: Parts, inside: str, above: Above) -> bool:
    """Whether metadata surely belongs to the row above it.

    That is so when nothing else stands in between, and it gives the row no second id.
    """
    fields = _sound_fields(inside) if above.is_near else {}
    todo_id = fields.get("todo_id")
    return bool(fields) and (todo_id is None or (not above.has_id and todo_id not in parts.tables.ids))


@lru_cache(maxsize=KEPT_COMMENTS_MAX)
def _sound_fields(inside: str) -> Fields:
    """Return the fields of the inside of a comment, none when not all of it could be read as it is written."""
    comment = as_metadata(inside) or ""
    return read_metadata(comment) if is_sound(comment) else {}


def _inside(*texts: str) -> str:
    """Return the inside of the comment that is all that some lines say."""
    return " ".join(texts).strip().removeprefix(COMMENT_START).removesuffix(COMMENT_END)


def _wrapped(parts: Parts, index: int, noted: Noted, above: Above) -> Iterator[Problem]:
    layout, start = parts.layout, parts.layout.starts[index]
    texts = layout.passages[index].lines.texts[noted.first : noted.end]
    inside = _inside(*texts)
    if not sounds_like_metadata(inside):
        return
    indent = indent_of(texts[0]) if texts[0].startswith(INDENT) else "  "
    # A comment without an end, or with two, is another matter.
    instead = as_metadata(inside) if COMMENT_END in texts[-1] and COMMENT_END not in inside else None
    safe = instead is not None and _surely_meant(parts, inside, above)
    span = layout.start(start + noted.first), layout.end(start + noted.end - 1)
    fix = Fix("join the lines of the comment", (Edit(span, f"{indent}{instead}"),), safe) if instead else None
    message = "metadata is one line; a comment of several lines hides what it says"
    yield problem("metadata_wrapped", message, span, fix=fix)


def _outside(parts: Parts) -> Iterator[Problem]:
    """Yield the rows outside of every region; a document without a region is another kind of document."""
    layout, index = parts.layout, 0
    for first, end in [*((region.first, region.end) for region in parts.regions), (layout.starts[-1],) * 2]:
        for at in layout.task_lines(index, first):
            message = "this row stands outside of every todo section, so nobody tracks it; move it into one"
            yield problem("todo_outside_region", message, layout.span(at))
        index = end


def _conflicts(layout: Layout) -> Iterator[Problem]:
    for conflict in find_conflicts(layout):
        first, *others = map(layout.span, conflict.markers)
        message = "an unresolved merge: keep the lines of one side, or what is right of both, and remove the markers"
        yield problem("conflict_marker", message, first, [(span, "of the same merge") for span in others])


def _second_blocks(parts: Parts) -> Iterator[Problem]:
    layout = parts.layout
    # A block in front is read.
    behind = body = parts.frontmatter.line_count
    for first in layout.noted("rule"):
        if first >= behind and (end := _block_end(layout, first, body)):
            span = layout.start(first), layout.end(end - 1)
            message = (
                "this looks like frontmatter, and is not read: only a block at the very start is; move its keys there"
            )
            yield problem("second_frontmatter_block", message, span)
            behind = end


def _block_end(layout: Layout, first: int, body: int) -> int | None:
    """Return the index behind a block of keys between two rules, or `None` when none begins at `first`.

    Args:
        layout: The document.
        first: Index of the line where it could begin.
        body: Index of the line behind the frontmatter.
    """
    if not RULE.fullmatch(layout.line(first).text):
        return None
    # Below a line of text three dashes make a heading of it.
    if first > body and layout.line(first - 1).text.strip():
        return None
    below = (layout.line(at).text for at in range(first + 1, min(first + 1 + BLOCK_LINES_MAX, layout.starts[-1])))
    end = first + 1 + sum(1 for _ in takewhile(KEY_LINE.fullmatch, below))
    return end + 1 if first + 1 < end < layout.starts[-1] and RULE.fullmatch(layout.line(end).text) else None


def _unclosed(layout: Layout) -> Iterator[Problem]:
    if not layout.passages or not (hidden := layout.passages[-1].hidden) or hidden[-1].closed:
        return
    # Nothing stands behind a block that never closes.
    kind, start, last = hidden[-1].kind, layout.starts[-2], layout.starts[-1] - 1
    index = start + hidden[-1].first
    first = layout.line(index).text.strip()
    closing = first[: len(first) - len(first.lstrip(first[0]))] if kind == "fence" else COMMENT_END
    wanted = "the same characters" if kind == "fence" else f"`{COMMENT_END}`"
    message = f"this {kind} never closes, and everything below it is hidden; close it with {wanted} below it"
    texts = layout.passages[-1].lines.texts
    before = next((at for at in range(index + 1, last + 1) if texts[at - start].startswith(SECTION_START)), None)
    at = layout.end(last) if before is None else layout.start(before)
    text = f"{layout.newline}{closing}" if before is None else f"{closing}{layout.newline}"
    where = "at the end" if before is None else f"in front of line {before + 1}"
    fix = Fix(f"close the {kind} {where}", (Edit((at, at), text),))
    yield problem(f"unclosed_{kind}", message, layout.span(index), fix=fix)
