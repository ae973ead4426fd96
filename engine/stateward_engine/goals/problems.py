"""Problems: findings in a document, each with a place, a code, a severity and a sentence that helps to mend it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from stateward_engine.goals.lines import Lines, Span
    from stateward_engine.goals.regions import Fault, Region
    from stateward_engine.goals.sections import NextAction
    from stateward_engine.goals.todos import Todo

Severity: TypeAlias = Literal["error", "warning", "info"]

# Every row of a group points at the others, which makes a group of n rows n² pointers.
RELATED_MAX: Final = 16


class Code(NamedTuple):
    """What is known of a kind of problem.

    Attributes:
        severity: How grave it is.
        meaning: What it means, in one line.
        refuses: Whether a document with it has no projection.
    """

    severity: Severity
    meaning: str
    refuses: bool = False


# Source: goal-documents 1.10 and the refusals of section 2.
CODES: Final[dict[str, Code]] = {
    "missing_frontmatter": Code("warning", "the document does not start with frontmatter"),
    "missing_next_action": Code("warning", "nothing is said about what to do next"),
    "missing_todo_sections": Code("warning", "there is no row for a user or an agent"),
    "implicit_todo_ids": Code("warning", "a row has a generated id, which changes when the row moves"),
    "duplicate_todo_ids": Code("error", "one id stands on several rows, archived ones included"),
    "not_utf8": Code("error", "the bytes of the file are no UTF-8", refuses=True),
    "unterminated_frontmatter": Code("error", "the frontmatter opens and never closes", refuses=True),
    "orphan_region_marker": Code("error", "a region marker stands outside of every todo section", refuses=True),
    "nested_or_mismatched_region_marker": Code(
        "error", "a region marker stands where another one is due, or none", refuses=True
    ),
    "unterminated_region": Code("error", "a marked region has no end marker", refuses=True),
    "foreign_content_in_marked_region": Code("error", "a line in a marked region is no generated line", refuses=True),
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding.

    Attributes:
        code: A key of `CODES`.
        severity: How grave it is.
        message: What is wrong and what to do, in lower case without a full stop.
        span: Where, in code points of the text.
        related: Other places that belong to it, each with a message.
    """

    code: str
    severity: Severity
    message: str
    span: Span
    related: tuple[tuple[Span, str], ...] = ()


def problem(code: str, message: str, span: Span, related: Iterable[tuple[Span, str]] = ()) -> Problem:
    """Return a problem of a known code, with the severity of that code."""
    return Problem(code, CODES[code].severity, message, span, tuple(related))


def fault_problems(lines: Lines, faults: Iterable[Fault]) -> Iterator[Problem]:
    """Yield one problem for each reason to refuse the document."""
    for fault in faults:
        yield problem(fault.kind, fault.message, lines.span(fault.at))


def missing_frontmatter(lines: Lines) -> Problem:
    """Return the problem of a document without frontmatter, on its first line."""
    message = "this document has no frontmatter; start it with `key: value` lines between two lines of three dashes"
    return problem("missing_frontmatter", message, lines.span(0))


def next_action_problems(lines: Lines, next_action: NextAction) -> Iterator[Problem]:
    """Yield the problem of a document without entries, on the heading of the empty section or on the first line."""
    if next_action.entries:
        return
    if next_action.heading:
        message = "this section has no entry; write the next step below it as a list item"
        yield problem("missing_next_action", message, next_action.heading.span)
    else:
        message = "nothing is said about what to do next; add a `## Next Action` section with a list item"
        yield problem("missing_next_action", message, lines.span(0))


def section_problems(lines: Lines, regions: Iterable[Region], todos: Iterable[Todo]) -> Iterator[Problem]:
    """Yield the problem of a document without active rows, on the first section for them or on the first line."""
    if not all(todo.archived for todo in todos):
        return
    section = next((region for region in regions if region.role != "archive"), None)
    if section:
        message = "no section of this document has a row; write one as `- [ ] ` and a text"
        yield problem("missing_todo_sections", message, lines.span(section.first))
    else:
        message = "this document has no todos; add a `## User Todo` or an `## Agent Todo` section with a row"
        yield problem("missing_todo_sections", message, lines.span(0))


def implicit_problems(todos: Iterable[Todo]) -> Iterator[Problem]:
    """Yield one problem for each active row with a generated id."""
    for todo in todos:
        if todo.id_line is None and not todo.archived:
            message = (
                "this row has no id of its own, and the generated one changes when a row above it comes or goes; "
                f"add the indented line `<!-- loopx:todo todo_id={todo.todo_id} -->` below it"
            )
            yield problem("implicit_todo_ids", message, todo.span)


def duplicate_problems(todos: Iterable[Todo]) -> Iterator[Problem]:
    """Yield one problem for each row whose id stands on another row too, archived rows included."""
    groups: dict[str, list[Todo]] = defaultdict(list)
    for todo in todos:
        groups[todo.todo_id].append(todo)
    for group in groups.values():
        if len(group) > 1:
            yield from _duplicates(group)


def _duplicates(group: Sequence[Todo]) -> Iterator[Problem]:
    places = [(todo.id_span or todo.span, _place(todo)) for todo in group]
    todo_id = group[0].todo_id
    message = (
        f"{todo_id} stands on {len(group)} rows; give each row an id of its own, and keep an archived one as it is"
    )
    shown = places[: RELATED_MAX + 1]
    for span, place in places:
        others = [other for other in shown if other != (span, place)]
        yield problem("duplicate_todo_ids", message, span, others[:RELATED_MAX])


def _place(todo: Todo) -> str:
    where = "in the archive" if todo.archived else f"for the {todo.role}"
    return f"the same id, {where}"
