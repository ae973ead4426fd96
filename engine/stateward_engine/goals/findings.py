"""All problems of one document, in its order."""

from __future__ import annotations

from bisect import bisect
from typing import TYPE_CHECKING

from stateward_engine.goals.document_problems import document_problems
from stateward_engine.goals.line_problems import line_problems
from stateward_engine.goals.problems import in_order
from stateward_engine.goals.reference_problems import reference_problems
from stateward_engine.goals.row_problems import row_problems
from stateward_engine.goals.suppression import unsuppressed

if TYPE_CHECKING:
    from stateward_engine.goals.parts import Parts
    from stateward_engine.goals.problems import Problem


def find_problems(parts: Parts) -> tuple[Problem, ...]:
    """Return what is wrong with a document, sorted by place and code.

    Three kinds are looked for apart, because an edit touches them differently: what one row says depends on its own
    lines, what lies between rows on its section, and the rest on small tables over all rows.
    Source: goal-documents 1.10 and section 5.
    """
    found = [*document_problems(parts), *line_problems(parts), *reference_problems(parts.lines, parts.todos)]
    for todo in parts.todos:
        if todo.odd:
            found += row_problems(parts.row_text(todo), todo.extent[0], parts.newline)
    kept = unsuppressed(parts.lines, _cautious(parts, found))
    return tuple(in_order(kept))


def _cautious(parts: Parts, found: list[Problem]) -> list[Problem]:
    """Return the problems, and no safe fix that gives an id to a row below which metadata lies that nobody reads.

    That metadata may hold the id which the author has given the row.
    """
    lost = [problem.span[0] for problem in found if problem.code in ("metadata_not_indented", "metadata_wrapped")]
    if not lost:
        return found
    starts = [todo.extent[0] for todo in parts.todos]
    rows = {starts[at - 1] for start in lost if (at := bisect(starts, start))}
    return [
        problem._replace(fix=problem.fix._replace(safe=False))
        if problem.fix and problem.code == "implicit_todo_ids" and problem.span[0] in rows
        else problem
        for problem in found
    ]
