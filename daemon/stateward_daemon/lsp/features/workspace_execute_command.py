"""`workspace/executeCommand`: what a person does about todos and state, by way of the methods that agents call.

A command takes one object: the params of its method, with `uri` for the `goal_id` of a document, and without what is
known of the person. Its answer is that of the method.
"""

from __future__ import annotations

import secrets
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lsprotocol import types as lsp

from stateward_daemon import convert, dispatch
from stateward_daemon.delivering import settle_edited
from stateward_daemon.goal_documents import records_now
from stateward_daemon.lsp import state_commands
from stateward_daemon.lsp.commands import (
    CLAIM_TODO,
    COMPLETE_TODO,
    PROJECT_MARKDOWN,
    READ_STATE,
    RESTART,
    SHOW_PROJECTION,
    SHOW_RECEIPT,
    TAKE_TODO,
)
from stateward_daemon.lsp.edits import workspace_edit
from stateward_daemon.steps import OnLane
from stateward_engine.authority.goal import find_goal
from stateward_engine.authority.leases import retained
from stateward_engine.authority.operations import latest_operations
from stateward_engine.authority.shown_problems import typed_rows
from stateward_engine.goals.problems import Edit
from stateward_protocol.errors import WireError, shortened
from stateward_protocol.methods import METHODS, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from stateward_daemon.lsp.session import LspSession
    from stateward_daemon.steps import Steps
    from stateward_engine.authority.goal import Goal

# The leases that editors take have keys of this kind, so that nobody goes on with one that an agent of the same name
# has taken.
KEY_PREFIX: Final = "editor:"


def handle(session: LspSession, params: lsp.ExecuteCommandParams) -> Steps:
    """Run a command. What is refused is shown to the person, and answered as an error like that of the method."""
    try:
        return (yield from _run(session, params))
    except Exception as error:  # noqa: BLE001 - the person is told, whatever broke
        refusal = convert.refusal(error, session.log)
        session.showing.tell(refusal.message, lsp.MessageType.Warning)
        raise refusal from None


def _run(session: LspSession, params: lsp.ExecuteCommandParams) -> Steps:
    command = _COMMANDS.get(params.command)
    if command is None:
        raise dispatch.unknown_method(params.command, _COMMANDS)
    # Only this one is about nothing.
    given = {} if params.command == RESTART else _argument(params)
    return (yield from command(session, given))


# -- the commands ----------------------------------------------------------------------------------------------------


def _claim(session: LspSession, goal: Goal, given: dict[str, Any]) -> Steps:
    actor = given.setdefault("claimed_by", session.client.agent)
    given.setdefault("agent_id", actor)
    if goal.needs_leases:
        version = goal.leases.get(given.get("todo_id", ""), {}).get("version", 0)
        key = f"{KEY_PREFIX}{secrets.token_hex(8)}"
        given.setdefault("lease", {"idempotency_key": key, "expected_version": version})
    return (yield from _mutate(session, goal, "todo_claim", given))


def _complete(session: LspSession, goal: Goal, given: dict[str, Any]) -> Steps:
    todo_id = given.get("todo_id")
    records = yield OnLane(goal.goal_id, partial(records_now, session.caller.host, goal))
    # What is for the user is done by whoever sits there, and by no agent.
    if any(record["todo_id"] == todo_id and record["role"] == "agent" for record in records):
        actor = given.setdefault("agent_id", session.client.agent)
        lease = retained(goal, str(todo_id))
        if lease is not None and lease["owner"] == actor and lease["idempotency_key"].startswith(KEY_PREFIX):
            proof = {"idempotency_key": lease["idempotency_key"], "expected_version": lease["version"]}
            given.setdefault("lease", proof)
    return (yield from _mutate(session, goal, "todo_complete", given))


def _take(session: LspSession, goal: Goal, given: dict[str, Any]) -> Steps:
    """Add a typed row as a todo, then ask for it to be taken out of the text: in this order nobody loses it."""
    uri, version, line = (given.pop(name, None) for name in ("uri", "version", "line"))
    typed = yield OnLane(goal.goal_id, partial(_typed, session, goal, uri, version, line))
    # That the display is pending, because the row stands there, need not be told: the edit ends it.
    answer = yield from _call(session, goal, "todo_add", {**typed.members, **given})
    if answer["status"] != "planned":
        _take_out(session, goal, typed)
    return answer


def _show_receipt(session: LspSession, goal: Goal, given: dict[str, Any]) -> Steps:
    todo_id = given.pop("todo_id", None)
    if todo_id is not None:
        given.setdefault("operation_id", latest_operations(goal).get(todo_id))
    if given.get("operation_id") is None:
        raise WireError(
            "missing_path",
            "no operation on that todo is known: what was edited by hand has no receipt",
            got=shortened(str(todo_id)),
        )
    answer = yield from _call(session, goal, "todo_receipt", given)
    for receipt in answer.receipts:
        session.showing.tell(
            f"{receipt.operation_id} was accepted at {receipt.at}, as revision {receipt.provider_revision}"
        )
    if not answer.receipts:
        session.showing.tell(f"{answer.operation_id} was never accepted")
    return answer


def _project(session: LspSession, goal: Goal, given: dict[str, Any]) -> Steps:
    answer = yield from _call(session, goal, "project_markdown", {"execute": True, **given})
    _tell_pending(session, answer)
    return answer


def _on_goal(
    run: Callable[[LspSession, Goal, dict[str, Any]], Steps], session: LspSession, given: dict[str, Any]
) -> Steps:
    return run(session, _goal_of(session, given), given)


_COMMANDS: Final[dict[str, Callable[[LspSession, dict[str, Any]], Steps]]] = {
    CLAIM_TODO: partial(_on_goal, _claim),
    COMPLETE_TODO: partial(_on_goal, _complete),
    TAKE_TODO: partial(_on_goal, _take),
    SHOW_RECEIPT: partial(_on_goal, _show_receipt),
    PROJECT_MARKDOWN: partial(_on_goal, _project),
    READ_STATE: state_commands.read_state,
    SHOW_PROJECTION: state_commands.show_projection,
    RESTART: state_commands.restart,
}


# -- calls -----------------------------------------------------------------------------------------------------------


def _argument(params: lsp.ExecuteCommandParams) -> dict[str, Any]:
    arguments = params.arguments or []
    if len(arguments) != 1 or not isinstance(arguments[0], dict):
        raise WireError(
            "invalid_request",
            "a command takes one object",
            path="$.params.arguments",
            example='[{"uri": "file:///home/ada/project/ACTIVE_GOAL_STATE.md", "todo_id": "todo_rollback"}]',
        )
    return dict(arguments[0])


def _goal_of(session: LspSession, given: dict[str, Any]) -> Goal:
    """Return the goal that an argument names, by its id or by its document."""
    if "goal_id" in given or "uri" not in given:
        return find_goal(session.caller.host.store.view, str(given.get("goal_id")))
    goal = session.goal(str(given["uri"]))
    if goal is None:
        raise WireError(
            "invalid_request",
            "this document is that of no registered goal; register it: stateward goal register",
            path="$.params.arguments[0].uri",
            got=shortened(str(given["uri"])),
        )
    return goal


def _mutate(session: LspSession, goal: Goal, name: str, given: Mapping[str, Any]) -> Steps:
    answer = yield from _call(session, goal, name, given)
    _tell_pending(session, answer.get("projection_outbox") or {})
    return answer


def _call(session: LspSession, goal: Goal, name: str, given: Mapping[str, Any]) -> Steps:
    """Call a method as an agent does."""
    method = METHODS[name]
    params = {key: value for key, value in given.items() if key != "uri" and value is not None}
    prepared = dispatch.prepare(session.caller, method, {**params, "goal_id": goal.goal_id})
    if not dispatch.is_loaded(method):
        # Others need not wait for that.
        yield OnLane(goal.goal_id, partial(dispatch.handler_of, method))
    result = prepared.run()
    return (yield from result) if method.kind is Kind.GOAL else result


def _tell_pending(session: LspSession, report: Mapping[str, Any]) -> None:
    if report.get("status") == "pending":
        reason = report.get("recommended_action") or report.get("reason_code")
        session.showing.tell(f"the document does not show it yet: {reason}")


# -- typed rows ------------------------------------------------------------------------------------------------------


class _Typed(NamedTuple):
    """A typed row: the members of the todo that it says, and how to take it out of its text."""

    path: Path
    members: dict[str, Any]
    params: lsp.ApplyWorkspaceEditParams


def _typed(session: LspSession, goal: Goal, uri: object, version: object, line: object) -> _Typed:
    """Read the row that stands at a line of the client's text; in a thread."""
    buffer = session.buffers.get(str(uri))
    reading = None if buffer is None else buffer.reading()
    if buffer is None or reading is None or reading.version != version or type(line) is not int:
        raise WireError(
            "invalid_request",
            "the text is another one by now; ask for the actions of the row again",
            path="$.params.arguments[0].version",
            got=shortened(str(version)),
        )
    at = reading.offset(lsp.Position(line, 0))
    todo = next((todo for todo in typed_rows(reading.goal, goal) if todo.extent[0] <= at <= todo.extent[1]), None)
    if todo is None:
        raise WireError(
            "invalid_request", "no typed row stands at this line", path="$.params.arguments[0].line", got=line
        )
    lines = reading.goal.lines
    first, last = (lines.index_at(offset) for offset in todo.extent)
    edit = workspace_edit(buffer.uri, reading, [Edit((lines.start(first), lines.start(last + 1)), "")], session.client)
    fields = {name: value for name, value in todo.fields.items() if name not in ("todo_id", "status", "role")}
    members = {"role": todo.region.role, "text": todo.full_text, **fields}
    return _Typed(buffer.path, members, lsp.ApplyWorkspaceEditParams(edit, label="Take the row out: it is a todo now"))


def _take_out(session: LspSession, goal: Goal, typed: _Typed) -> None:
    """Ask the client to take the row out of its text; once that is saved, the todo is shown in its place."""

    def answered(future: Future[Any]) -> None:
        applied = not future.cancelled() and future.exception() is None and (future.result() or {}).get("applied")
        if applied:
            settle_edited(session.caller.host, typed.path, goal.goal_id)
        else:
            session.showing.tell("the row is a todo now; delete the line that you typed, and save")

    if session.client.applies_edits:
        session.ask(lsp.WORKSPACE_APPLY_EDIT, typed.params).add_done_callback(answered)
    else:
        session.showing.tell("the row is a todo now; delete the line that you typed, and save")
