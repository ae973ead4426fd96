"""Commands: what a person can do about the todos of a goal from the lines of its document."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from lsprotocol import types as lsp

from stateward_daemon.lsp.plain import Command
from stateward_engine.goals.codes import CODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from stateward_daemon.lsp.reading import Reading
    from stateward_engine.authority.goal import Goal
    from stateward_engine.goals.fields import Fields
    from stateward_engine.goals.problems import Problem
    from stateward_engine.goals.todos import Todo

CLAIM_TODO: Final = "stateward.claimTodo"
COMPLETE_TODO: Final = "stateward.completeTodo"
TAKE_TODO: Final = "stateward.takeTodo"
SHOW_RECEIPT: Final = "stateward.showReceipt"
PROJECT_MARKDOWN: Final = "stateward.projectMarkdown"
READ_STATE: Final = "stateward.readState"
SHOW_PROJECTION: Final = "stateward.showProjection"
RESTART: Final = "stateward.restart"
COMMANDS: Final = (
    *(CLAIM_TODO, COMPLETE_TODO, TAKE_TODO, SHOW_RECEIPT, PROJECT_MARKDOWN),
    *(READ_STATE, SHOW_PROJECTION, RESTART),
)


class Row(Protocol):
    """What there is to know of a row before something is done about it, as a `Todo` says it."""

    @property
    def todo_id(self) -> str: ...  # noqa: D102
    @property
    def todo_id_source(self) -> str: ...  # noqa: D102
    @property
    def role(self) -> str | None: ...  # noqa: D102
    @property
    def status(self) -> str: ...  # noqa: D102
    @property
    def fields(self) -> Fields: ...  # noqa: D102
    @property
    def archived(self) -> bool: ...  # noqa: D102


AnyRow = TypeVar("AnyRow", bound=Row)


def known_rows(reading: Reading, goal: Goal | None, rows: Iterable[AnyRow]) -> list[AnyRow]:
    """Return the rows of a document that its goal knows by their ids, none of one that cannot be acted on."""
    if goal is None:
        return []
    if goal.promoted:
        return [row for row in rows if row.todo_id in goal.records]
    refused = any(CODES[found.code].refuses for found in reading.goal.problems)
    return [] if refused else [row for row in rows if row.todo_id_source == "metadata"]


def said_of(todo: Row, goal: Goal | None) -> Mapping[str, Any]:
    """Return status and fields of a row: a display can be behind, the ledger of a promoted goal is not."""
    said = goal.records.get(todo.todo_id) if goal is not None and goal.promoted else None
    return said or {"status": todo.status, **todo.fields}


def commands_for(uri: str, todo: Row, goal: Goal, operations: Mapping[str, str]) -> Iterator[Command]:
    """Yield what can be done about a row.

    Args:
        uri: Of the document.
        todo: The row.
        goal: Its goal, which knows it.
        operations: The operation that was accepted last, by todo id.
    """
    said = said_of(todo, goal)
    named = [{"uri": uri, "todo_id": todo.todo_id}]
    if said["status"] == "open" and not todo.archived:
        if todo.role == "agent" and not said.get("claimed_by"):
            yield Command("Claim", CLAIM_TODO, named)
        yield Command("Complete", COMPLETE_TODO, named)
    if todo.todo_id in operations:
        yield Command("Show receipt", SHOW_RECEIPT, named)


def take(uri: str, reading: Reading, todo: Todo) -> lsp.Command:
    """Return the command that takes a typed row as a todo; made again it is the same operation."""
    line = reading.range(todo.span).start.line
    named = {"uri": uri, "version": reading.version, "line": line, "operation_id": secrets.token_hex(16)}
    return _command("Take this row as a todo", TAKE_TODO, named)


def command_against(problem: Problem, uri: str, rows: Iterable[Todo], agent: str) -> lsp.Command | None:
    """Return the command that mends a problem of the document of a goal, `None` where that takes a person.

    Args:
        problem: What is wrong.
        uri: Of the document.
        rows: The rows that it touches.
        agent: Who would run the command.
    """
    if problem.code == "stale_projection":
        return project(uri, "Show the todos as they are now")
    for row in rows:
        # Nobody takes a claim away from somebody else, unless its lease has run out.
        if problem.code == "expired_lease" or (
            problem.code == "claim_without_lease" and row.fields.get("claimed_by") == agent
        ):
            return _command("Claim it with a lease", CLAIM_TODO, {"uri": uri, "todo_id": row.todo_id})
    return None


def project(uri: str, title: str) -> lsp.Command:
    """Return the command that shows the todos of a goal in its document as they are."""
    return _command(title, PROJECT_MARKDOWN, {"uri": uri})


def read_state(path: str) -> lsp.Command:
    """Return the command that shows a value of the state."""
    return _command(f"Show the value of {path}", READ_STATE, {"path": path})


def _command(title: str, name: str, named: Mapping[str, Any]) -> lsp.Command:
    return lsp.Command(title, name, arguments=[dict(named)])
