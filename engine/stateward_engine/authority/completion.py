"""Completing a todo: it is done, its lease is given back and its successor is there, in one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stateward_engine.authority.additions import GATE, added, new_record
from stateward_engine.authority.changing import admitted, demand_claimer, find_todo, stamped
from stateward_engine.authority.commands import AddTodo
from stateward_engine.authority.eligibility import demand_actor
from stateward_engine.authority.given import (
    COMPLETING,
    INVALID_COMPLETION,
    invalid_members,
    read_declaration,
    read_fields,
)
from stateward_engine.authority.leases import demand_fence, lease_patch, passing_lease, released, retained
from stateward_engine.authority.merging import changes
from stateward_engine.authority.operations import Decision
from stateward_engine.authority.refusals import refused
from stateward_engine.goals.digests import value_sha256
from stateward_engine.goals.records import ROLES
from stateward_engine.goals.validation import DECLARATION_KEYS, WANTED, declaration_sha256

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stateward_engine.authority.commands import CompleteTodo
    from stateward_engine.authority.goal import Goal, Members

COMPLETION_SCHEMA: Final = "loopx_coordination_todo_terminal_lifecycle_result_v0"
RECEIPT_PREFIX: Final = "tcw_"
# Who decides a gate when no agent is named.
PERSON: Final = "user"


def decide_complete(goal: Goal, command: CompleteTodo, now: str) -> Decision:
    """Finish a todo.

    Raises:
        Refused: `todo_not_found`, `todo_archived`, `todo_not_open`, `actor_not_registered`, `actor_excluded`,
            `claim_owner_mismatch`, what `leases.demand_fence` refuses, `validation_declaration_mismatch`, and what
            `completed` refuses.

    Source: authority.md section 6, `todo_complete`.
    """
    todo = find_todo(goal, command.todo_id)
    demand_unfinished(todo)
    if command.agent_id is not None:
        demand_actor(goal, todo, command.agent_id, "agent_id")
    demand_claimer(todo, command.agent_id, "claim_owner_mismatch")
    gate = todo.get("task_class") == GATE
    fence = demand_fence(goal, todo, command.agent_id, command.lease, now, required=not gate)
    demand_validated(todo, command.declaration)
    addition = successor_of(command)
    successor = None if addition is None else new_record(goal, addition, goal.records, now, within="next")
    after = admitted(completed(todo, command, goal.records, successor, now), goal.declarations, INVALID_COMPLETION)
    lease = fence or retained(goal, command.todo_id)
    if lease is None and gate and goal.needs_leases:
        lease = passing_lease(goal, todo, command.agent_id or PERSON, now)
    patch = {} if addition is None or successor is None else added(successor, addition.declaration)
    patch["records"] = {**patch.get("records", {}), command.todo_id: changes(todo, after)}
    returned = None if lease is None else released(lease, now)
    answer = {
        "schema_version": COMPLETION_SCHEMA,
        "todo_id": command.todo_id,
        "todo": after,
        "completed_at": now,
        "completion_continuation": after["completion_continuation"],
        "completion_receipt_id": after["completion_receipt_id"],
        "generated_successors": [] if successor is None else [successor],
        **({} if returned is None else {"lease": returned}),
    }
    return Decision(answer, {**patch, **({} if returned is None else lease_patch(goal, returned))}, "done")


def demand_unfinished(todo: Members) -> None:
    """Refuse a todo that is done already.

    Raises:
        Refused: `todo_not_open`, with when it was completed, and by what it was superseded.
    """
    if todo["status"] == "done":
        raise refused(
            "todo_not_open",
            "the todo is done already; add a new one for new work",
            member="todo_id",
            got=todo["todo_id"],
            todo_status=todo["status"],
            completed_at=todo.get("completed_at"),
            superseded_by=todo.get("superseded_by"),
        )


def demand_validated(todo: Members, declaration: Mapping[str, Any] | None) -> None:
    """Refuse a completion that was checked otherwise than the todo demands.

    Raises:
        Refused: `validation_declaration_mismatch`; `validation_declaration_invalid`.

    Source: goal-documents 4.5.
    """
    if not todo.get("completion_validation_required"):
        return
    wanted = todo["completion_validation_sha256"]
    if declaration is None or declaration_sha256(read_declaration(declaration)) != wanted:
        raise refused(
            "validation_declaration_mismatch",
            "the todo demands validation; run what it declares, then complete it with that very declaration",
            member="validation_command",
            todo_id=todo["todo_id"],
            completion_validation_sha256=wanted,
            wanted=WANTED,
        )


def successor_of(command: CompleteTodo) -> AddTodo | None:
    """Return the addition of the todo that comes next, which is part of the same operation; `None` where none does.

    Raises:
        Refused: `invalid_coordination_todo_terminal_lifecycle`: it has no role and text.
    """
    if command.next is None:
        return None
    fields = dict(command.next)
    role, text = fields.pop("role", None), fields.pop("text", None)
    if role not in ROLES or not isinstance(text, str):
        wrong = {"next": 'it has a role, "user" or "agent", a text, and fields as todo_add takes them'}
        raise invalid_members(INVALID_COMPLETION, wrong)
    declaration: dict[str, Any] = {key: fields.pop(key) for key in DECLARATION_KEYS if key in fields}
    return AddTodo(
        goal_id=command.goal_id,
        operation_id=command.operation_id,
        agent_id=command.agent_id,
        role=role,
        text=text,
        fields=fields,
        declaration=declaration or None,
    )


def completed(
    todo: Members, command: CompleteTodo, records: Mapping[str, Members], successor: Members | None, now: str
) -> dict[str, Any]:
    """Return a record as it is once it is done.

    Args:
        todo: The record before.
        command: What is asked.
        records: Those of the goal, from the ledger or from its document.
        successor: The record of `command.next`, or `None`.
        now: The time to decide by.

    Raises:
        Refused: `invalid_coordination_todo_terminal_lifecycle` with every invalid member; `todo_not_found` for a
            successor that the goal does not have.
    """
    given = read_fields(command.fields, editable=COMPLETING, reason_code=INVALID_COMPLETION)
    named = given.pop("successor_todo_ids", None) or []
    new = [] if successor is None else [successor["todo_id"]]
    successors = list(dict.fromkeys([*todo.get("successor_todo_ids", []), *named, *new]))
    if wrong := _contradictions(todo, given, successors):
        raise invalid_members(INVALID_COMPLETION, wrong)
    _demand_successors(todo, named, records)
    said = {name: value for name, value in given.items() if value is not None}
    done = {
        **stamped({**todo, **said}, command.agent_id, now),
        "status": "done",
        "done": True,
        "completed_at": now,
        "completion_continuation": _continuation(successors, no_followup=bool(given.get("no_followup"))),
        "completion_receipt_id": RECEIPT_PREFIX
        + value_sha256({"goal_id": command.goal_id, "operation_id": command.operation_id, "todo_id": command.todo_id}),
    }
    return {**done, "successor_todo_ids": successors} if successors else done


def _continuation(successors: Sequence[str], *, no_followup: bool) -> str:
    """Return how the goal goes on."""
    if no_followup:
        return "no_followup"
    return "successor" if successors else "active_goal"


def _contradictions(todo: Members, given: Members, successors: Sequence[str]) -> dict[str, str]:
    """Return the members that do not go together, with what is wrong."""
    wrong: dict[str, str] = {}
    if given.get("no_followup") and successors:
        wrong["no_followup"] = "a todo has successors or no follow-up, not both"
    if "decision_outcome" in given and todo.get("task_class") != GATE and "decision_scope" not in todo:
        wrong["decision_outcome"] = "only a user_gate, or a todo with a decision_scope, is decided"
    return wrong


def _demand_successors(todo: Members, named: Sequence[str], records: Mapping[str, Members]) -> None:
    missing = [todo_id for todo_id in named if todo_id not in records or todo_id == todo["todo_id"]]
    if missing:
        raise refused(
            "todo_not_found",
            "a successor is another todo of this goal; add it first, or give it as `next`",
            member="successor_todo_ids",
            todo_ids=missing,
        )
