"""What is wrong with a document as a whole: what is missing, what refuses it, which sections stand twice.

Source: goal-documents 1.10, section 2 and section 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.goals.id_problems import free_id
from stateward_engine.goals.problems import Edit, Fix, Problem, problem
from stateward_engine.goals.regions import marker
from stateward_engine.goals.todo_codec import LineKind, metadata_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_engine.goals.parts import Parts
    from stateward_engine.goals.placed_rows import Section
    from stateward_engine.goals.regions import Fault, Region


def document_problems(parts: Parts) -> Iterator[Problem]:
    """Yield what is wrong with the document as a whole."""
    yield from _faults(parts)
    yield from _missing_frontmatter(parts)
    yield from _missing_next_action(parts)
    yield from _missing_sections(parts)
    yield from _duplicate_sections(parts)


# -- what refuses it ---------------------------------------------------------------------------------------------------


def _faults(parts: Parts) -> Iterator[Problem]:
    for fault in parts.faults:
        yield problem(fault.kind, fault.message, parts.layout.span(fault.at), fix=_fault_fix(parts, fault))


def _fault_fix(parts: Parts, fault: Fault) -> Fix | None:
    match fault.kind:
        case "unterminated_frontmatter":
            return _close_frontmatter(parts)
        case "orphan_region_marker":
            return Fix("remove the marker", (_without_lines(parts, fault.at),))
        case "unterminated_region":
            section = next(section for section in parts.tables.sections if section.region.first == fault.at - 1)
            return _end_region(parts, section)
        case "foreign_content_in_marked_region":
            region = next(region for region in parts.regions if region.first < fault.at < region.end)
            return _move_below(parts, region, fault.at)
    return None


def _close_frontmatter(parts: Parts) -> Fix | None:
    layout = parts.layout
    end = next((at for at in range(1, layout.starts[-1]) if ":" not in layout.line(at).text), None)
    if end is None:
        return None
    at = layout.start(end)
    return Fix(f"close the frontmatter in front of line {end + 1}", (Edit((at, at), f"---{layout.newline}"),))


def _end_region(parts: Parts, section: Section) -> Fix:
    layout, region = parts.layout, section.region
    last = section.last_line(layout)
    at = layout.end(region.first + 1 if last is None else last)
    return Fix("end the region below its last row", (Edit((at, at), layout.newline + marker(region.role, "end")),))


def _move_below(parts: Parts, region: Region, at: int) -> Fix | None:
    # What a fence or a comment hides would come apart if one line of it moved.
    layout = parts.layout
    if layout.reading(at) is LineKind.HIDDEN:
        return None
    below = layout.end(region.end - 1)
    text = f"{layout.newline * 2}{layout.line(at).text.strip()}"
    return Fix("move the line below the end marker", (_without_lines(parts, at), Edit((below, below), text)))


def _without_lines(parts: Parts, at: int) -> Edit:
    start, end = parts.layout.span(at)
    return Edit((start, end + len(parts.layout.line(at).terminator)), "")


# -- what is missing ---------------------------------------------------------------------------------------------------


def _missing_frontmatter(parts: Parts) -> Iterator[Problem]:
    if parts.frontmatter.values or not parts.frontmatter.closed:
        return
    message = "this document has no frontmatter; start it with `key: value` lines between two lines of three dashes"
    at, newline = len(parts.layout.mark), parts.layout.newline
    fix = None
    if not parts.frontmatter.line_count:
        fix = Fix("add frontmatter", (Edit((at, at), newline.join(["---", "status: active", "---", ""])),))
    yield problem("missing_frontmatter", message, parts.layout.span(0), fix=fix)


def _missing_next_action(parts: Parts) -> Iterator[Problem]:
    if parts.next_action.entries:
        return
    heading = parts.next_action.heading
    entry = "- Say what comes next."
    if heading:
        message = "this section has no entry; write the next step below it as a list item"
        at = heading.span[1]
        fix = Fix("add an entry", (Edit((at, at), f"{parts.layout.newline * 2}{entry}"),))
        yield problem("missing_next_action", message, heading.span, fix=fix)
    else:
        message = "nothing is said about what to do next; add a `## Next Action` section with a list item"
        added = _at_the_end(parts, "add a Next Action section", "## Next Action", "", entry)
        yield problem("missing_next_action", message, parts.layout.span(0), fix=added)


def _missing_sections(parts: Parts) -> Iterator[Problem]:
    if any(region.role != "archive" for _, _, region in parts.placed("ids")):
        return
    section = next((region for region in parts.regions if region.role != "archive"), None)
    if section:
        message = "no todo section has a row yet; write the first one below this heading, as `- [ ] ` and a text"
        yield problem("missing_todo_sections", message, parts.layout.span(section.first))
    else:
        message = "this document has no todos; add a `## User Todo` or an `## Agent Todo` section with a row"
        todo_id = free_id("todo_first", parts.tables.ids)
        row = ("- [ ] Say what is to be done.", metadata_line({"todo_id": todo_id}))
        fix = _at_the_end(parts, "add Todo sections", "## User Todo", "", "## Agent Todo", "", *row)
        yield problem("missing_todo_sections", message, parts.layout.span(0), fix=fix)


def _at_the_end(parts: Parts, title: str, *lines: str) -> Fix | None:
    # Behind a block that never closes nobody would see it.
    if not parts.closed:
        return None
    layout = parts.layout
    end, newline = layout.offsets[-1], layout.newline
    gap = "" if not layout.passages else "\n" if layout.line(layout.starts[-1] - 1).terminator else "\n\n"
    text = gap + "\n".join([*lines, ""])
    return Fix(title, (Edit((end, end), text.replace("\n", newline)),))


# -- headings ----------------------------------------------------------------------------------------------------------


def _duplicate_sections(parts: Parts) -> Iterator[Problem]:
    firsts: dict[str, Region] = {}
    for region in parts.regions:
        first = firsts.setdefault(region.role, region)
        if first is not region:
            message = f"this is another section for the {region.role}; move its rows into the first one"
            related = [(parts.layout.span(first.first), "the first section for the same role")]
            yield problem("duplicate_todo_section", message, parts.layout.span(region.first), related)
