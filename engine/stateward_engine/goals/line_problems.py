"""What is wrong with lines that belong to no row: boxes that are none, metadata that nobody reads, merges, fences.

Source: goal-documents section 5.
"""

from __future__ import annotations

import re
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Final

from stateward_engine.goals.conflicts import find_conflicts
from stateward_engine.goals.lines import indent_of
from stateward_engine.goals.passages import SECTION_START
from stateward_engine.goals.problems import Edit, Fix, Problem, problem
from stateward_engine.goals.regions import is_marker
from stateward_engine.goals.row_problems import as_metadata, is_sound, sounds_like_metadata
from stateward_engine.goals.todo_codec import INDENT, STATUS_OF_MARKER, LineKind, MetadataLine, TaskLine, read_metadata
from stateward_engine.goals.visible import COMMENT_END, COMMENT_START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_engine.goals.lines import Span
    from stateward_engine.goals.parts import Parts

RULE: Final = re.compile(r"---[ \t]*")
KEY_LINE: Final = re.compile(r"[A-Za-z_][\w.-]*:(?:\s.*)?")
# Longer than that, a block between two rules is prose with a colon here and there.
BLOCK_LINES_MAX: Final = 64
BOX: Final = re.compile(r"(?P<bullet>[-*+]|[0-9]+[.)])(?P<gap>\s*)\[(?P<marker>[^\]]{0,2})\](?P<text>.*)", re.DOTALL)
BULLETS: Final = ("-", "*")


def line_problems(parts: Parts) -> Iterator[Problem]:
    """Yield what is wrong with lines that belong to no row."""
    yield from _conflicts(parts)
    yield from _second_blocks(parts)
    yield from _unclosed(parts)
    if parts.regions:
        sections = _sections(parts)
        # Where the regions of a refused document end, nobody knows.
        if not parts.faults:
            yield from _outside(parts)
        for first, end in sections:
            yield from _section_problems(parts, first, end)
        yield from _wrapped(parts, sections)


def _sections(parts: Parts) -> list[tuple[int, int]]:
    """Return first and end index of each section that has a region: up to the next heading of level two."""
    ends = [*(h.at for h in parts.headings if parts.lines.texts[h.at].startswith(SECTION_START)), len(parts.lines)]
    following = dict(pairwise(ends))
    return [(region.first, max(following.get(region.first, region.end), region.end)) for region in parts.regions]


def _section_problems(parts: Parts, first: int, end: int) -> Iterator[Problem]:
    """Yield what is wrong with the lines of a section, given whether a row is open at each."""
    is_open = False
    follows_box = False
    for index in range(first + 1, end):
        reading = parts.readings[index]
        if isinstance(reading, TaskLine):
            is_open, follows_box = True, False
        elif isinstance(reading, MetadataLine):
            if not (reading.indented and (is_open or follows_box)) and not is_marker(parts.lines.texts[index]):
                yield _ownerless(parts, index, is_open=is_open)
        elif reading is LineKind.CHECKBOX_LIKE:
            yield _no_marker(parts, index)
            is_open, follows_box = False, True
        elif reading is LineKind.HIDDEN:
            is_open = False


def _no_marker(parts: Parts, index: int) -> Problem:
    text, span = parts.lines.texts[index], parts.lines.span(index)
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


def _ownerless(parts: Parts, index: int, *, is_open: bool) -> Problem:
    span = parts.lines.span(index)
    if not is_open:
        return problem("metadata_not_indented", "no row stands above this metadata, so nobody reads it", span)
    message = "metadata is indented below its row; at the start of a line nobody reads it"
    fix = Fix("indent the metadata", (Edit((span[0], span[0]), "  "),), safe=_surely_meant(parts, index, index))
    return problem("metadata_not_indented", message, span, fix=fix)


def _surely_meant(parts: Parts, first: int, index: int) -> bool:
    """Whether the metadata of the line at `index`, or of the lines from `first`, surely belongs to the row above.

    That is so when nothing stands in between, and it gives the row no second id.
    """
    comment = as_metadata(_inside(parts, first, index + 1)) or ""
    if not is_sound(comment):
        return False
    todo_id = read_metadata(comment).get("todo_id")
    for reading in reversed(parts.readings[:first]):
        if isinstance(reading, TaskLine):
            return todo_id is None or all(todo.todo_id != todo_id for todo in parts.todos)
        if isinstance(reading, MetadataLine):
            if todo_id and "todo_id" in reading.fields:
                return False
        elif reading is not LineKind.INDENTED:
            return False
    return False


def _inside(parts: Parts, first: int, end: int) -> str:
    """Return the inside of the comment that is all that the lines from `first` up to `end` say."""
    joined = " ".join(parts.lines.texts[first:end]).strip()
    return joined.removeprefix(COMMENT_START).removesuffix(COMMENT_END)


def _wrapped(parts: Parts, sections: list[tuple[int, int]]) -> Iterator[Problem]:
    for block in parts.hidden:
        if block.kind != "comment" or not any(first < block.first < end for first, end in sections):
            continue
        inside = _inside(parts, block.first, block.end)
        if not sounds_like_metadata(inside):
            continue
        span = parts.lines.span(block.first)[0], parts.line_end(block.end - 1)
        text = parts.lines.texts[block.first]
        indent = indent_of(text) if text.startswith(INDENT) else "  "
        instead = as_metadata(inside) if block.closed and COMMENT_END not in inside else None
        safe = instead is not None and _surely_meant(parts, block.first, block.end - 1)
        fix = Fix("join the lines of the comment", (Edit(span, f"{indent}{instead}"),), safe) if instead else None
        message = "metadata is one line; a comment of several lines hides what it says"
        yield problem("metadata_wrapped", message, span, fix=fix)


def _outside(parts: Parts) -> Iterator[Problem]:
    """Yield the rows outside of every region; a document without a region is another kind of document."""
    index = 0
    for first, end in [*((region.first, region.end) for region in parts.regions), (len(parts.lines),) * 2]:
        for at in range(index, first):
            if isinstance(parts.readings[at], TaskLine):
                message = "this row stands outside of every todo section, so nobody tracks it; move it into one"
                yield problem("todo_outside_region", message, parts.lines.span(at))
        index = end


def _conflicts(parts: Parts) -> Iterator[Problem]:
    for conflict in find_conflicts(parts.lines, parts.readings):
        first, *others = (parts.lines.span(at) for at in conflict.markers)
        message = "an unresolved merge: keep the lines of one side, or what is right of both, and remove the markers"
        yield problem("conflict_marker", message, first, [(span, "of the same merge") for span in others])


def _second_blocks(parts: Parts) -> Iterator[Problem]:
    texts, index = parts.lines.texts, parts.frontmatter.line_count
    if index == len(texts) or parts.lines.text.find("---", parts.lines.starts[index]) < 0:
        return
    while index < len(texts):
        end = _block_end(parts, index)
        if end:
            span = parts.lines.span(index)[0], parts.line_end(end - 1)
            message = (
                "this looks like frontmatter, and is not read: only a block at the very start is; move its keys there"
            )
            yield problem("second_frontmatter_block", message, span)
        index = end or index + 1


def _block_end(parts: Parts, first: int) -> int | None:
    """Return the index behind a block of keys between two rules, or `None` when none begins at `first`."""
    texts = parts.lines.texts
    if (
        not texts[first].startswith("---")
        or parts.readings[first] is LineKind.HIDDEN
        or not RULE.fullmatch(texts[first])
    ):
        return None
    # Below a line of text three dashes make a heading of it.
    if first > parts.frontmatter.line_count and texts[first - 1].strip():
        return None
    keys = takewhile(KEY_LINE.fullmatch, texts[first + 1 : first + 1 + BLOCK_LINES_MAX])
    end = first + 1 + sum(1 for _ in keys)
    return end + 1 if end > first + 1 and end < len(texts) and RULE.fullmatch(texts[end]) else None


def _unclosed(parts: Parts) -> Iterator[Problem]:
    for block in parts.hidden:
        if block.closed:
            continue
        first = parts.lines.texts[block.first].strip()
        closing = first[: len(first) - len(first.lstrip(first[0]))] if block.kind == "fence" else COMMENT_END
        wanted = "the same characters" if block.kind == "fence" else f"`{COMMENT_END}`"
        message = f"this {block.kind} never closes, and everything below it is hidden; close it with {wanted} below it"
        heads = (at for at in range(block.first + 1, block.end) if parts.lines.texts[at].startswith(SECTION_START))
        before = next(heads, None)
        at = parts.line_end(block.end - 1) if before is None else parts.lines.starts[before]
        text = f"{parts.newline}{closing}" if before is None else f"{closing}{parts.newline}"
        where = "at the end" if before is None else f"in front of line {before + 1}"
        fix = Fix(f"close the {block.kind} {where}", (Edit((at, at), text),))
        yield problem(f"unclosed_{block.kind}", message, parts.lines.span(block.first), fix=fix)
