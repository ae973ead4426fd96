"""`textDocument/hover`: what a row is, and what is wrong at a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.lsp.places import place_at
from stateward_engine.authority.leases import told
from stateward_engine.store.clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stateward_daemon.lsp.session import LspSession
    from stateward_engine.authority.goal import Goal
    from stateward_engine.goals.lines import Span
    from stateward_engine.goals.problems import Problem
    from stateward_engine.goals.todos import Todo


def handle(session: LspSession, params: lsp.HoverParams) -> lsp.Hover | None:
    """Tell about the row at the position and about the problems there; `None` where there is neither."""
    uri = params.text_document.uri
    reading = session.reading(uri)
    if reading is None:
        return None
    offset = reading.offset(params.position)
    todo = place_at(reading.goal, offset).todo
    paragraphs = [
        *([] if todo is None else [_describe(todo, session.goal(uri))]),
        *_complaints(session.problems(uri, reading), offset),
    ]
    if not paragraphs:
        return None
    kind = lsp.MarkupKind.Markdown if session.client.shows_markdown else lsp.MarkupKind.PlainText
    contents = lsp.MarkupContent(kind, "\n\n".join(paragraphs))
    return lsp.Hover(contents, None if todo is None else reading.range(todo.extent))


def _describe(todo: Todo, goal: Goal | None) -> str:
    """Return the row's facts, a line each: a list in Markdown, and readable as it is."""
    return "\n".join(f"- {name}: {value}" for name, value in _facts(todo, goal))


def _facts(todo: Todo, goal: Goal | None) -> Iterator[tuple[str, object]]:
    yield "status", f"{todo.status}, archived" if todo.archived else todo.status
    if todo.priority is not None:
        yield "priority", todo.priority.label
    yield "claimed by", todo.fields.get("claimed_by") or "nobody"
    if goal is not None and (lease := goal.leases.get(todo.todo_id)) is not None:
        yield "lease", told(lease, goal.now(utc_now()))
    if "resume_when" in todo.fields:
        yield "resumes when", todo.fields["resume_when"]
    generated = " (generated; it changes when the row moves or its text does)" if todo.id_line is None else ""
    yield "id", f"{todo.todo_id}{generated}"


def _complaints(problems: Iterable[Problem], offset: int) -> Iterator[str]:
    for problem in problems:
        if _holds(problem.span, offset):
            yield f"{problem.severity}: {problem.message} ({problem.code})"


def _holds(span: Span, offset: int) -> bool:
    return span[0] <= offset <= span[1]
