"""`textDocument/codeAction`: what mends the problems of a place, and what can be done about the todo there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from lsprotocol import types as lsp

from stateward_daemon.lsp import commands
from stateward_daemon.lsp.diagnostics import diagnostic
from stateward_daemon.lsp.edits import workspace_edit
from stateward_daemon.lsp.places import place_at
from stateward_engine.authority.operations import latest_operations
from stateward_engine.authority.shown_problems import typed_rows
from stateward_engine.goals.mending import mend
from stateward_engine.goals.problems import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_daemon.lsp.reading import Reading
    from stateward_daemon.lsp.session import LspSession
    from stateward_engine.goals.lines import Span
    from stateward_engine.goals.problems import Problem

FIX_ALL: Final = "source.fixAll.stateward"
ON_TODO: Final = "stateward.todo"
ON_STATE: Final = "stateward.state"
KINDS: Final = (lsp.CodeActionKind.QuickFix, FIX_ALL, ON_TODO, ON_STATE)

Actions: TypeAlias = list[lsp.CodeAction] | list[lsp.Command]


def handle(session: LspSession, params: lsp.CodeActionParams) -> Actions:
    """Return the actions of the kinds that the client wants; commands alone to one that takes nothing else."""
    uri, context = params.text_document.uri, params.context
    reading = session.reading(uri)
    if reading is None:
        return []
    span = reading.offset(params.range.start), reading.offset(params.range.end)
    problems = session.problems(uri, reading)
    actions = [
        *_fixes(session, uri, reading, problems, span),
        *_todo_actions(session, uri, reading, span),
        *_state_actions(reading, span),
    ]
    # Editors ask at each move of the cursor, and mending reads the whole document.
    asked = context.only or context.trigger_kind != lsp.CodeActionTriggerKind.Automatic
    if asked and _is_wanted(FIX_ALL, context):
        actions += _fix_all(session, uri, reading, problems)
    found = [action for action in actions if _is_wanted(action.kind or "", context)]
    return found if session.client.takes_actions else [action.command for action in found if action.command]


def _is_wanted(kind: str, context: lsp.CodeActionContext) -> bool:
    """Tell whether a kind is one of the wanted, or below one."""
    return not context.only or any(wanted in ("", kind) or kind.startswith(f"{wanted}.") for wanted in context.only)


def _fixes(
    session: LspSession, uri: str, reading: Reading, problems: list[Problem], span: Span
) -> Iterator[lsp.CodeAction]:
    for problem in problems:
        if problem.fix is not None and _touch(problem.span, span):
            yield lsp.CodeAction(
                _sentence(problem.fix.title),
                lsp.CodeActionKind.QuickFix,
                diagnostics=[diagnostic(problem, reading, uri, session.client)],
                # What is not safe to make unasked is not made by the key that takes what is preferred.
                is_preferred=problem.fix.safe,
                edit=workspace_edit(uri, reading, problem.fix.edits, session.client),
            )


def _fix_all(session: LspSession, uri: str, reading: Reading, problems: list[Problem]) -> Iterator[lsp.CodeAction]:
    # On a promoted goal no fix of a section is left among the problems.
    if not any(problem.fix and problem.fix.safe for problem in problems):
        return
    document = reading.goal
    start, end, text = document.layout.difference(mend(document.text, session.rules(uri)).text)
    if (start, end, text) != (start, start, ""):
        edit = workspace_edit(uri, reading, [Edit((start, end), text)], session.client)
        yield lsp.CodeAction("Make all safe fixes", FIX_ALL, edit=edit)


def _todo_actions(session: LspSession, uri: str, reading: Reading, span: Span) -> Iterator[lsp.CodeAction]:
    goal = session.goal(uri)
    if goal is None:
        return
    for todo in typed_rows(reading.goal, goal):
        if _touch(todo.extent, span):
            command = commands.take(uri, reading, todo)
            yield lsp.CodeAction(command.title, lsp.CodeActionKind.QuickFix, command=command)
    rows = [todo for todo in commands.known_rows(reading, goal) if _touch(todo.extent, span)]
    operations = latest_operations(goal) if rows else {}
    for todo in rows:
        for command in commands.commands_for(uri, todo, goal, operations):
            yield lsp.CodeAction(f"{command.title}: {todo.text}", ON_TODO, command=command)


def _state_actions(reading: Reading, span: Span) -> Iterator[lsp.CodeAction]:
    written = place_at(reading.goal, span[0]).state_path
    if written is not None:
        command = commands.read_state(written.name)
        yield lsp.CodeAction(command.title, ON_STATE, command=command)


def _touch(one: Span, other: Span) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _sentence(title: str) -> str:
    return title[:1].upper() + title[1:]
