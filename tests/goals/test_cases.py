"""The pages in `cases/`: what each part of a document means, by example."""

from __future__ import annotations

from collections.abc import Callable
from difflib import ndiff
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from literate import load_cases
from stateward_engine.goals.document import GoalDocument, read_document
from stateward_engine.goals.mending import edited, mend
from stateward_engine.goals.row_problems import unreadable_guards

if TYPE_CHECKING:
    from stateward_engine.goals.problems import Problem

View = Callable[[GoalDocument], Any]


def line_of(document: GoalDocument, offset: int) -> int:
    return document.lines.index_at(offset) + 1


def quoted(document: GoalDocument, span: tuple[int, int] | None) -> str | None:
    return None if span is None else document.lines.text[slice(*span)]


def each(name: str) -> View:
    return lambda document: [getattr(todo, name) for todo in document.todos]


def diagnostics(document: GoalDocument) -> Any:
    projection: Any = document.projection
    return {
        key: value if isinstance(value, bool) else [entry["kind"] for entry in value]
        for key, value in projection["diagnostics"].items()
        if key in ("parseable", "migration_ready", "warnings", "errors")
    }


def repeated_ids(document: GoalDocument) -> Any:
    projection: Any = document.projection
    return projection["diagnostics"]["errors"][0]["todo_ids"]


def told(document: GoalDocument) -> list[Problem]:
    return [problem for problem in document.problems if not problem.code.startswith("missing_")]


def fixed_lines(document: GoalDocument) -> list[str]:
    """Return the lines that the fixes write, each made alone."""
    text = document.lines.text
    made = [edited(text, problem.fix.edits) for problem in told(document) if problem.fix]
    return [line for after in made for line in ndiff(text.splitlines(), after.splitlines()) if line[0] == "+"]


# What a page may expect of its document, by name.
VIEWS: dict[str, View] = {
    "frontmatter": lambda document: document.frontmatter,
    "objective": lambda document: document.objective,
    "next_action": lambda document: list(document.next_action.entries),
    "headings": lambda document: [[heading.level, heading.text] for heading in document.headings],
    "hidden_lines": lambda document: list(document.hidden_lines),
    "hidden": lambda document: [[block.kind, block.closed] for block in document.hidden],
    "regions": lambda document: [
        [region.role, region.marked, region.first + 1, region.body_end] for region in document.regions
    ],
    "texts": each("text"),
    "ids": each("todo_id"),
    "id_sources": each("todo_id_source"),
    "id_spans": lambda document: [quoted(document, todo.id_span) for todo in document.todos],
    "extents": lambda document: [[line_of(document, offset) for offset in todo.extent] for todo in document.todos],
    "sections": each("source_section"),
    "ordinals": each("ordinal"),
    "roles": each("role"),
    "statuses": each("status"),
    "done": each("done"),
    "classes": each("task_class"),
    "priorities": lambda document: [todo.priority and list(todo.priority) for todo in document.todos],
    "fields": each("fields"),
    "diagnostics": diagnostics,
    "repeated_ids": repeated_ids,
    "refusal": lambda document: document.refusal and [document.refusal.kind, document.refusal.line],
    "projection": lambda document: document.projection,
    "problems": lambda document: [
        [problem.code, problem.severity, line_of(document, problem.span[0])] for problem in document.problems
    ],
    "told": lambda document: [[problem.code, quoted(document, problem.span)] for problem in told(document)],
    "related_quotes": lambda document: [
        [quoted(document, span) for span, _ in problem.related] for problem in told(document)
    ],
    "fixes": lambda document: [[problem.fix.title, problem.fix.safe] for problem in told(document) if problem.fix],
    "fixed_lines": lambda document: [line[2:] for line in fixed_lines(document) if "todo_id=" not in line],
    "mended": lambda document: mend(document.lines.text, {}).text.split("\n"),
    "unreadable_guards": lambda document: [
        unreadable_guards(document.lines.text[slice(*todo.extent)]) for todo in document.todos
    ],
    "related_lines": lambda document: [
        [line_of(document, span[0]) for span, _ in problem.related] for problem in document.problems
    ],
}


@pytest.mark.parametrize("case", load_cases(Path(__file__).parent / "cases"))
def test_case(case: dict[str, Any]) -> None:
    """Each page states one part of the contract.

    Rows LX-016, LX-017, LX-019, LX-020, LX-021, LX-022, LX-023, LX-024, LX-025, LX-026, LX-027, LX-028, LX-029,
    LX-030, LX-031, LX-032, LX-033, LX-041, LX-042, LX-043, LX-044, LX-066, LX-067, LX-068, LX-069, LX-071, LX-072,
    LX-073, LX-076, LX-080,
    and NX-02 and NX-06 of problems beside the diagnostics.
    """
    document = read_document(case["document"])

    assert {view: VIEWS[view](document) for view in case["expect"]} == case["expect"]
