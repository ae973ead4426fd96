"""`textDocument/codeAction`: what mends the problems of a place, and what can be done about the todo there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from lsprotocol import types as lsp

from stateward_daemon.lsp import commands
from stateward_daemon.lsp.diagnostics import diagnostic
from stateward_daemon.lsp.edits import workspace_edit
from stateward_daemon.lsp.places import place_at
from stateward_daemon.lsp.wide_edits import FIX_ALL, wide_actions
from stateward_engine.authority.operations import latest_operations
from stateward_engine.authority.shown_problems import typed_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_daemon.lsp.reading import Reading
    from stateward_daemon.lsp.session import LspSession
    from stateward_engine.goals.lines import Span
    from stateward_engine.goals.problems import Problem

ON_TODO: Final = "stateward.todo"
DISPLAY: Final = "this section is a display of the goal; change its todos by commands, or through an agent"
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
    problems, goal = session.problems(uri, reading), session.goal(uri)
    near = [found for found in problems if _touch(found.span, span)]
    asked = bool(context.only) or context.trigger_kind != lsp.CodeActionTriggerKind.Automatic
    actions = [
        *_fixes(session, uri, reading, near),
        *(_commands_against(session, uri, reading, near) if goal else ()),
        *_todo_actions(session, uri, reading, span),
        *_state_actions(reading, span),
        *(_not_here(session, reading, near) if asked else ()),
        *wide_actions(session, uri, reading, problems, near, asked=asked),
    ]
    found = [action for action in actions if _is_wanted(action.kind or "", context)]
    return found if session.client.takes_actions else [action.command for action in found if action.command]


def _is_wanted(kind: str, context: lsp.CodeActionContext) -> bool:
    """Tell whether a kind is one of the wanted, or below one."""
    return not context.only or any(wanted in ("", kind) or kind.startswith(f"{wanted}.") for wanted in context.only)


def _fixes(session: LspSession, uri: str, reading: Reading, near: list[Problem]) -> Iterator[lsp.CodeAction]:
    for problem in near:
        if problem.fix is not None:
            yield lsp.CodeAction(
                _sentence(problem.fix.title),
                lsp.CodeActionKind.QuickFix,
                diagnostics=[diagnostic(problem, reading, uri, session.client)],
                # What is not safe to make unasked is not made by the key that takes what is preferred.
                is_preferred=problem.fix.safe,
                edit=workspace_edit(uri, reading, problem.fix.edits, session.client),
            )


def _commands_against(session: LspSession, uri: str, reading: Reading, near: list[Problem]) -> Iterator[lsp.CodeAction]:
    """Yield what mends problems of a goal that no edit of its text could mend."""
    for found in near:
        rows = reading.goal.todos_in(found.span)
        command = commands.command_against(found, uri, rows, session.client.agent)
        if command is not None:
            yield lsp.CodeAction(
                command.title,
                lsp.CodeActionKind.QuickFix,
                diagnostics=[diagnostic(found, reading, uri, session.client)],
                command=command,
            )


def _not_here(session: LspSession, reading: Reading, near: list[Problem]) -> Iterator[lsp.CodeAction]:
    """Yield the fixes that would edit a section of a promoted goal, with the reason why they cannot be taken."""
    kept = {(found.code, found.span) for found in near if found.fix is None}
    for found in reading.goal.problems if kept and session.client.takes_disabled else ():
        if found.fix is not None and (found.code, found.span) in kept:
            title, reason = _sentence(found.fix.title), lsp.CodeActionDisabled(DISPLAY)
            yield lsp.CodeAction(title, lsp.CodeActionKind.QuickFix, disabled=reason)


def _todo_actions(session: LspSession, uri: str, reading: Reading, span: Span) -> Iterator[lsp.CodeAction]:
    goal = session.goal(uri)
    if goal is None:
        return
    for todo in typed_rows(reading.goal, goal):
        if _touch(todo.extent, span):
            command = commands.take(uri, reading, todo)
            yield lsp.CodeAction(command.title, lsp.CodeActionKind.QuickFix, command=command)
    rows = commands.known_rows(reading, goal, reading.goal.todos_in(span))
    operations = latest_operations(goal) if rows else {}
    for todo in rows:
        for made in commands.commands_for(uri, todo, goal, operations):
            command = lsp.Command(made.title, made.command, arguments=made.arguments)
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
