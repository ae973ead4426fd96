"""Adding a todo: a new record of the goal, with an id that follows from the operation."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from stateward_engine.authority.changing import admitted, bound_twice, demand_targets
from stateward_engine.authority.eligibility import demand_actor
from stateward_engine.authority.given import (
    ADDABLE,
    INVALID_CREATE,
    invalid_members,
    read_declaration,
    read_fields,
)
from stateward_engine.authority.operations import Decision
from stateward_engine.authority.refusals import refused
from stateward_engine.authority.wording import prioritised, read_text
from stateward_engine.goals.contract import NATIVE_SCHEMA
from stateward_engine.goals.validation import declaration_sha256

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.authority.commands import AddTodo
    from stateward_engine.authority.goal import Goal, Members

CREATE_SCHEMA: Final = "loopx_coordination_todo_create_result_v0"
NATIVE_ID_DIGITS: Final = 24
PRIORITY_DEFAULT: Final = "P1"
# Of what others wait for.
PRIORITY_OF_BLOCKERS: Final = "P0"
GATE: Final = "user_gate"
_BLOCKERS: Final = (GATE, "blocker")


def native_todo_id(operation_id: str) -> str:
    """Return the id of the todo that an operation creates.

    Source: authority.md section 2.

    >>> native_todo_id("op-add-1")
    'todo_802b4a6caac933b785c989e1'
    """
    return "todo_" + sha256(operation_id.encode()).hexdigest()[:NATIVE_ID_DIGITS]


def decide_add(goal: Goal, command: AddTodo, now: str) -> Decision:
    """Add a todo; one with the same text is another one.

    Raises:
        Refused: What `new_record` refuses.

    Source: authority.md section 6, `todo_add`.
    """
    todo = new_record(goal, command, goal.records, now)
    answer = {"schema_version": CREATE_SCHEMA, "todo": todo, "todo_id": todo["todo_id"], "added": True}
    return Decision(answer, added(todo, command.declaration))


def added(todo: Members, declaration: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the patch that adds a record and its declaration, of which only what it says is kept."""
    patch: dict[str, Any] = {"records": {todo["todo_id"]: todo}}
    if declaration is not None:
        said = {key: value for key, value in declaration.items() if value is not None}
        patch["declarations"] = {todo["todo_id"]: said}
    return patch


def new_record(
    goal: Goal, command: AddTodo, records: Mapping[str, Members], now: str, *, within: str | None = None
) -> dict[str, Any]:
    """Return the native record of a new todo.

    Args:
        goal: Whose it becomes.
        command: What is asked.
        records: Those that the goal has, archived ones included: from the ledger, or from its document.
        now: The time to decide by.
        within: The member of the params that the todo stands in, when it is not the params themselves.

    Raises:
        Refused: `actor_not_registered`, `invalid_coordination_todo_create`, `todo_priority_conflict`,
            `duplicate_todo_id`, `blocking_cycle`, `todo_not_found` for a reference, and the reasons of `read_text`,
            `read_declaration` and `eligibility.demand_actor`.
    """
    if command.agent_id is not None:
        demand_actor(goal, {}, command.agent_id, "agent_id")
    text = read_text(command.text, records.values(), member=within or "text")
    fields = read_fields(command.fields, editable=ADDABLE, reason_code=INVALID_CREATE, within=within)
    given = {name: value for name, value in fields.items() if value is not None}
    status = given.get("status", "open")
    if wrong := _contradictions(command.role, given, status):
        raise invalid_members(INVALID_CREATE, wrong, within)
    default = PRIORITY_OF_BLOCKERS if status == "blocked" or given.get("task_class") in _BLOCKERS else PRIORITY_DEFAULT
    todo = {
        **_origin(command, given),
        **given,
        **prioritised(text, given.get("priority"), default, member=within or "priority"),
        "schema_version": NATIVE_SCHEMA,
        "todo_id": native_todo_id(command.operation_id),
        "role": command.role,
        "status": status,
        "done": status == "deferred",
        "archive_state": "active",
        "updated_at": now,
    }
    declarations: dict[str, Any] = {}
    if command.declaration is not None:
        declaration = read_declaration(command.declaration)
        todo |= {
            "completion_validation_required": True,
            "completion_validation_sha256": declaration_sha256(declaration),
        }
        declarations[todo["todo_id"]] = declaration
    _demand_new_id(todo["todo_id"], records)
    demand_targets(records, todo, given)
    record = admitted(todo, declarations, INVALID_CREATE)
    if "claimed_by" in record:
        demand_actor(goal, record, record["claimed_by"], "claimed_by")
    return record


def _contradictions(role: str, given: Members, status: str) -> dict[str, str]:
    """Return the members that do not go together, with what is wrong."""
    wrong = bound_twice(given)
    if status == "done":
        wrong["status"] = "a new todo is open, blocked or deferred; complete it with todo_complete"
    if role == "user" and "claimed_by" in given:
        wrong["claimed_by"] = "a todo of the user is claimed by no agent"
    return wrong


def _origin(command: AddTodo, given: Members) -> dict[str, Any]:
    """Return what a todo has of who adds it: a question to the user is for the agent that asks."""
    agent_id = command.agent_id
    if agent_id is None:
        return {}
    origin = {"created_by": agent_id, "last_actor_agent_id": agent_id}
    if command.role == "user":
        if not given.get("goal_bound"):
            origin["bound_agent"] = agent_id
        if given.get("task_class") == GATE and not given.get("global_gate"):
            origin["blocks_agent"] = agent_id
    return origin


def _demand_new_id(todo_id: str, records: Mapping[str, Members]) -> None:
    """Refuse an id that was given out; archived todos keep theirs."""
    if todo_id in records:
        raise refused(
            "duplicate_todo_id",
            "the id that follows from this operation_id has been given out; take another operation_id",
            member="operation_id",
            todo_id=todo_id,
        )
