"""All problems of one document, in its order."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from stateward_engine.goals.document_problems import document_problems
from stateward_engine.goals.id_problems import duplicate_ids
from stateward_engine.goals.line_problems import line_problems
from stateward_engine.goals.problems import in_order
from stateward_engine.goals.reference_problems import reference_problems
from stateward_engine.goals.suppression import unsuppressed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_engine.goals.layout import Layout
    from stateward_engine.goals.parts import Parts
    from stateward_engine.goals.problems import Problem
    from stateward_engine.goals.todos import Todo


def find_problems(parts: Parts) -> tuple[Problem, ...]:
    """Return what is wrong with a document, sorted by place and code.

    Three kinds are looked for apart, because an edit touches them differently: what one row says depends on its own
    lines, and is kept with them; what lies between rows is noted with their passages; and the rest depends on small
    tables over all rows.
    Source: goal-documents 1.10 and section 5.
    """
    found = [
        *document_problems(parts),
        *line_problems(parts),
        *reference_problems(parts),
        *_duplicate_ids(parts),
        *_row_problems(parts),
    ]
    layout = parts.layout
    return tuple(in_order(unsuppressed(_cautious(layout, found), layout.ignored(), layout.line_at)))


def _row_problems(parts: Parts) -> Iterator[Problem]:
    newline = parts.layout.newline
    for rows, offset, _ in parts.placed("is_loud"):
        yield from rows.problems(offset, newline)


def _duplicate_ids(parts: Parts) -> Iterator[Problem]:
    groups: dict[str, list[Todo]] = {todo_id: [] for todo_id in parts.tables.ids.repeated}
    for rows, offset, region in parts.placed("ids") if groups else ():
        if not groups.keys().isdisjoint(rows.ids):
            for index, todo_id in enumerate(rows.ids):
                if todo_id in groups:
                    groups[todo_id].append(rows.todo(index, offset, region))
    for group in groups.values():
        yield from duplicate_ids(group, parts.tables.ids)


def _cautious(layout: Layout, found: list[Problem]) -> list[Problem]:
    """Return the problems, and no safe fix that gives an id to a row below which metadata lies that nobody reads.

    That metadata may hold the id which the author has given the row.
    """
    lost = [problem.span[0] for problem in found if problem.code in ("metadata_not_indented", "metadata_wrapped")]
    if not lost:
        return found
    starts = sorted(problem.span[0] for problem in found if problem.code == "implicit_todo_ids")
    above = ((starts[at - 1], start) for start in lost if (at := bisect_right(starts, start)))
    rows = {row for row, start in above if not any(layout.task_lines(layout.line_at(row) + 1, layout.line_at(start)))}
    return [
        problem._replace(fix=problem.fix._replace(safe=False))
        if problem.fix and problem.code == "implicit_todo_ids" and problem.span[0] in rows
        else problem
        for problem in found
    ]
