"""What is wrong with a document as a whole: what is missing, what refuses it, which ids and headings stand twice.

Source: goal-documents 1.10, section 2 and section 5.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING

from stateward_engine.goals.lines import indent_of
from stateward_engine.goals.problems import RELATED_MAX, Edit, Fix, Problem, problem
from stateward_engine.goals.regions import marker
from stateward_engine.goals.todo_codec import METADATA_WORD, TODO_WORD, LineKind, metadata_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from stateward_engine.goals.parts import Parts
    from stateward_engine.goals.regions import Fault, Region
    from stateward_engine.goals.todos import Todo


def document_problems(parts: Parts) -> Iterator[Problem]:
    """Yield what is wrong with the document as a whole."""
    yield from _faults(parts)
    yield from _missing_frontmatter(parts)
    yield from _missing_next_action(parts)
    yield from _missing_sections(parts)
    yield from _duplicate_sections(parts)
    yield from _implicit_ids(parts)
    yield from _duplicate_ids(parts)


# -- what refuses it ---------------------------------------------------------------------------------------------------


def _faults(parts: Parts) -> Iterator[Problem]:
    for fault in parts.faults:
        yield problem(fault.kind, fault.message, parts.lines.span(fault.at), fix=_fault_fix(parts, fault))


def _fault_fix(parts: Parts, fault: Fault) -> Fix | None:
    match fault.kind:
        case "unterminated_frontmatter":
            return _close_frontmatter(parts)
        case "orphan_region_marker":
            return Fix("remove the marker", (_without_lines(parts, fault.at),))
        case "unterminated_region":
            region = next(region for region in parts.regions if region.first == fault.at - 1)
            return _end_region(parts, region)
        case "foreign_content_in_marked_region":
            region = next(region for region in parts.regions if region.first < fault.at < region.end)
            return _move_below(parts, region, fault.at)
    return None


def _close_frontmatter(parts: Parts) -> Fix | None:
    end = next((at for at in range(1, len(parts.lines)) if ":" not in parts.lines.texts[at]), None)
    if end is None:
        return None
    at = parts.lines.starts[end]
    return Fix(f"close the frontmatter in front of line {end + 1}", (Edit((at, at), f"---{parts.newline}"),))


def _end_region(parts: Parts, region: Region) -> Fix:
    rows = [todo for todo in parts.todos if todo.region is region]
    at = rows[-1].extent[1] if rows else parts.line_end(region.first + 1)
    return Fix("end the region below its last row", (Edit((at, at), parts.newline + marker(region.role, "end")),))


def _move_below(parts: Parts, region: Region, at: int) -> Fix | None:
    # What a fence or a comment hides would come apart if one line of it moved.
    if parts.readings[at] is LineKind.HIDDEN:
        return None
    below = parts.line_end(region.end - 1)
    text = f"{parts.newline * 2}{parts.lines.texts[at].strip()}"
    return Fix("move the line below the end marker", (_without_lines(parts, at), Edit((below, below), text)))


def _without_lines(parts: Parts, at: int) -> Edit:
    start, end = parts.lines.span(at)
    return Edit((start, end + len(parts.lines.terminators[at])), "")


# -- what is missing ---------------------------------------------------------------------------------------------------


def _missing_frontmatter(parts: Parts) -> Iterator[Problem]:
    if parts.frontmatter.values or not parts.frontmatter.closed:
        return
    message = "this document has no frontmatter; start it with `key: value` lines between two lines of three dashes"
    at = len(parts.lines.mark)
    fix = None
    if not parts.frontmatter.line_count:
        fix = Fix("add frontmatter", (Edit((at, at), parts.newline.join(["---", "status: active", "---", ""])),))
    yield problem("missing_frontmatter", message, parts.lines.span(0), fix=fix)


def _missing_next_action(parts: Parts) -> Iterator[Problem]:
    if parts.next_action.entries:
        return
    heading = parts.next_action.heading
    entry = "- Say what comes next."
    if heading:
        message = "this section has no entry; write the next step below it as a list item"
        at = heading.span[1]
        fix = Fix("add an entry", (Edit((at, at), f"{parts.newline * 2}{entry}"),))
        yield problem("missing_next_action", message, heading.span, fix=fix)
    else:
        message = "nothing is said about what to do next; add a `## Next Action` section with a list item"
        added = _at_the_end(parts, "add a Next Action section", "## Next Action", "", entry)
        yield problem("missing_next_action", message, parts.lines.span(0), fix=added)


def _missing_sections(parts: Parts) -> Iterator[Problem]:
    if not all(todo.archived for todo in parts.todos):
        return
    section = next((region for region in parts.regions if region.role != "archive"), None)
    if section:
        message = "no todo section has a row yet; write the first one below this heading, as `- [ ] ` and a text"
        yield problem("missing_todo_sections", message, parts.lines.span(section.first))
    else:
        message = "this document has no todos; add a `## User Todo` or an `## Agent Todo` section with a row"
        todo_id = _free_id("todo_first", {todo.todo_id for todo in parts.todos})
        row = ("- [ ] Say what is to be done.", metadata_line({"todo_id": todo_id}))
        fix = _at_the_end(parts, "add Todo sections", "## User Todo", "", "## Agent Todo", "", *row)
        yield problem("missing_todo_sections", message, parts.lines.span(0), fix=fix)


def _at_the_end(parts: Parts, title: str, *lines: str) -> Fix | None:
    # Behind a block that never closes nobody would see it.
    if not parts.frontmatter.closed or any(not block.closed for block in parts.hidden):
        return None
    end = len(parts.lines.text)
    gap = "" if not parts.lines else "\n" if parts.lines.terminators[-1] else "\n\n"
    text = gap + "\n".join([*lines, ""])
    return Fix(title, (Edit((end, end), text.replace("\n", parts.newline)),))


# -- headings ----------------------------------------------------------------------------------------------------------


def _duplicate_sections(parts: Parts) -> Iterator[Problem]:
    firsts: dict[str, Region] = {}
    for region in parts.regions:
        first = firsts.setdefault(region.role, region)
        if first is not region:
            message = f"this is another section for the {region.role}; move its rows into the first one"
            related = [(parts.lines.span(first.first), "the first section for the same role")]
            yield problem("duplicate_todo_section", message, parts.lines.span(region.first), related)


# -- ids ---------------------------------------------------------------------------------------------------------------


def _implicit_ids(parts: Parts) -> Iterator[Problem]:
    for todo in parts.todos:
        if todo.id_line is None and not todo.archived:
            message = (
                "this row has no id of its own, and the generated one changes when a row above it comes or goes; "
                f"add the indented line `<!-- loopx:todo todo_id={todo.todo_id} -->` below it"
            )
            yield problem("implicit_todo_ids", message, todo.span, fix=_own_id(parts, todo))


def _own_id(parts: Parts, todo: Todo) -> Fix:
    text = parts.lines.text[slice(*todo.extent)]
    # An id that could not be read, or that stands in the wrong place: the author knows another one.
    safe = "todo_id" not in text
    token = f"todo_id={todo.todo_id}"
    lead = f"{METADATA_WORD}{TODO_WORD}"
    if todo.fields and lead in text:
        at = todo.extent[0] + text.rindex(lead) + len(lead)
        edit = Edit((at, at), f" {token}")
    else:
        at = todo.extent[1]
        indent = indent_of(text)
        edit = Edit((at, at), f"{parts.newline}{indent}  <!-- {lead} {token} -->")
    return Fix("give the row its id", (edit,), safe)


def _duplicate_ids(parts: Parts) -> Iterator[Problem]:
    groups: dict[str, list[Todo]] = defaultdict(list)
    for todo in parts.todos:
        groups[todo.todo_id].append(todo)
    if len(groups) == len(parts.todos):
        return
    for group in groups.values():
        if len(group) > 1:
            yield from _duplicates(group, groups.keys())


def _duplicates(group: Sequence[Todo], ids: Collection[str]) -> Iterator[Problem]:
    places = [(todo.id_span or todo.span, _place(todo)) for todo in group]
    todo_id = group[0].todo_id
    message = (
        f"{todo_id} stands on {len(group)} rows; give each row an id of its own, and keep an archived one as it is"
    )
    shown = places[: RELATED_MAX + 1]
    # The archive and the first row keep the id.
    keeper = next((todo for todo in group if todo.archived), group[0])
    for todo, (span, place) in zip(group, places, strict=True):
        others = [other for other in shown if other != (span, place)]
        fix = None
        if todo is not keeper and not todo.archived and todo.id_span:
            free = _free_id(todo_id, ids)
            fix = Fix(f"give this row the id {free}", (Edit(todo.id_span, free),))
        yield problem("duplicate_todo_ids", message, span, others[:RELATED_MAX], fix=fix)


def _place(todo: Todo) -> str:
    where = "in the archive" if todo.archived else f"for the {todo.role}"
    return f"the same id, {where}"


def _free_id(wanted: str, taken: Collection[str]) -> str:
    """Return an id that no row has: the wanted one, or else one that begins like it."""
    candidates = (f"{wanted[:60]}_{number}" for number in count(2))
    return wanted if wanted not in taken else next(candidate for candidate in candidates if candidate not in taken)
