"""What every operation on a goal has in common: it is known again, it fits its revision, and it leaves a receipt.

An operation is its id. A repeat is answered before anything else is asked, because its own first run moved the
revision and may have taken the todo out of the state in which it would be accepted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from stateward_engine.authority.commands import RecordEdit
from stateward_engine.authority.goal import Goal, all_goals, display_of, find_goal, identity_of, refreshes_of
from stateward_engine.authority.refusals import refused
from stateward_engine.goals.digests import value_sha256
from stateward_engine.state.transition import Repeat, Transition
from stateward_engine.state.view import EMPTY_SCOPE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from stateward_engine.authority.commands import Operation, Status
    from stateward_engine.authority.goal import Members
    from stateward_engine.state.view import Basis

RECEIPT_SCHEMA: Final = "loopx_coordination_operation_receipt_v0"
# Members of an operation that say how it is asked for or what it is judged by, and not what it is.
_NOT_REQUEST: Final = frozenset(
    {
        *("operation_id", "operation_id_given", "expected_provider_revision", "dry_run", "goal_id"),
        *("todos", "records", "declarations", "source_sha256"),
    }
)


@dataclass(frozen=True, slots=True)
class Decision:
    """What an operation comes to.

    Attributes:
        answer: The members that are its own; those that all operations share are added.
        patch: What it changes in the planes of the goal, as a merge patch; nothing when all is so already.
        status: The word for its first run; what changes nothing is `no_change` where this says `applied`.
    """

    answer: Members
    patch: Mapping[str, Any] = field(default_factory=dict)
    status: Status = "applied"


Decider: TypeAlias = "Callable[[Goal, Any, str], Decision]"


def decide_operation(basis: Basis, command: Operation, at: str, decider: Decider) -> Transition | Repeat:
    """Return what an operation stores, with its receipt.

    Args:
        basis: Where it is decided.
        command: The operation.
        at: What the clock says, as RFC 3339 text in UTC.
        decider: From the goal, the command and the time to decide by to the decision.

    Raises:
        Refused: `goal_not_registered`, `coordination_operation_identity_mismatch`, `provider_revision_mismatch`, and
            what the decider refuses.
        CorruptStore: The stream of the goal is damaged.

    Source: authority.md sections 1 and 6.
    """
    goal = find_goal(basis, command.goal_id)
    if replay := replayed(basis, goal, command):
        return Repeat(replay)
    demand_revision(goal, command)
    now = goal.now(at)
    decision = decider(goal, command, now)
    if unstored := without_storing(goal, command, decision):
        return Repeat(unstored)
    answer = {**decision.answer, "status": decision.status, "changed": True}
    receipt = {
        "method": type(_asked(command)).__name__,
        "request_sha256": request_digest(command),
        "cursor": goal.cursor + 1,
        "at": now,
        "answer": answer,
    }
    patch = {
        **decision.patch,
        "authority": {**decision.patch.get("authority", {}), "at": now},
        "receipts": {command.operation_id: receipt},
    }
    return Transition(
        None,
        None,
        _answer(goal, command, answer, receipt),
        patches={identity_of(goal.goal_id): patch},
        goal=goal.goal_id,
    )


def replayed(basis: Basis, goal: Goal, command: Operation) -> Members | None:
    """Return what an operation was answered when it was run first, `None` before that.

    Raises:
        Refused: `coordination_operation_identity_mismatch`.
        CorruptStore: The stream of a goal is damaged.
    """
    kept = known_again(basis, goal, command.operation_id, request_digest(command))
    if kept is None:
        return None
    return _answer(goal, command, {**kept["answer"], "status": "replayed", "changed": False}, kept)


def without_storing(goal: Goal, command: Operation, decision: Decision) -> Members | None:
    """Return what an operation is answered that leaves nothing behind, `None` for one that does."""
    if command.dry_run:
        return _answer(goal, command, {**decision.answer, "status": "planned", "changed": False})
    if decision.patch:
        return None
    status = "no_change" if decision.status == "applied" else decision.status
    return _answer(goal, command, {**decision.answer, "status": status, "changed": False})


def demand_revision(goal: Goal, command: Operation) -> None:
    """Refuse an operation that was meant for another revision than the present one.

    Raises:
        Refused: `provider_revision_mismatch`.
    """
    expected = command.expected_provider_revision
    if expected is not None and expected != goal.provider_revision:
        raise refused(
            "provider_revision_mismatch",
            "the goal has moved on; read it again, then repeat the call with the revision it has now",
            member="expected_provider_revision",
            got=expected,
            wanted=goal.provider_revision,
        )


def request_digest(command: Operation) -> str:
    """Return what tells one intent from another, however its call was spelled."""
    asked = _asked(command)
    names = [item.name for item in fields(asked) if item.name not in _NOT_REQUEST]
    return value_sha256({"method": type(asked).__name__, **{name: _plain(getattr(asked, name)) for name in names}})


def _asked(command: Operation) -> Operation:
    """Return what was asked for; a kept edit is what its document was asked for, before promotion or after."""
    return command.edit if isinstance(command, RecordEdit) else command


def latest_operations(goal: Goal) -> dict[str, str]:
    """Return, by todo id, the identity of the operation on that todo which was accepted last."""
    in_order = sorted(goal.receipts.items(), key=lambda item: cast("int", item[1]["cursor"]))
    return {kept["answer"]["todo_id"]: operation_id for operation_id, kept in in_order if "todo_id" in kept["answer"]}


def receipt_of(goal: Goal, operation_id: str, kept: Members) -> dict[str, Any]:
    """Return a kept receipt as callers see it.

    Source: authority.md section 6, `original_receipt`.
    """
    return {
        "schema_version": RECEIPT_SCHEMA,
        "goal_id": goal.goal_id,
        "operation_id": operation_id,
        "request_sha256": kept["request_sha256"],
        "provider_revision": goal.revision_at(kept["cursor"]),
        "at": kept["at"],
    }


def known_again(basis: Basis, goal: Goal, operation_id: str, request_sha256: str) -> Members | None:
    """Return what is kept of the first run of an operation, `None` before it. One id is one intent in the whole store.

    Raises:
        Refused: `coordination_operation_identity_mismatch`.
    """
    for owner in (goal, *(other for other in all_goals(basis) if other.goal_id != goal.goal_id)):
        kept = kept_operation(basis, owner, operation_id)
        if kept is None:
            continue
        if owner.goal_id == goal.goal_id and kept["request_sha256"] == request_sha256:
            return kept
        todo_id = kept["answer"].get("todo_id") if owner.goal_id == goal.goal_id else None
        raise refused(
            "coordination_operation_identity_mismatch",
            "this operation_id was used for another mutation; take a new one for a new mutation",
            member="operation_id",
            got=operation_id,
            todo_id=todo_id,
            wanted="the mutation that it was first used for, or an id that was never used",
        )
    return None


def kept_operation(basis: Basis, goal: Goal, operation_id: str) -> Members | None:
    """Return what is kept of an operation of a goal, be it a refresh; `None` of one that was never accepted."""
    if kept := goal.receipts.get(operation_id):
        return kept
    # A damaged display fails what is shown, and no operation.
    record = refreshes_of(basis.scopes.get(display_of(goal.goal_id), EMPTY_SCOPE)).get(operation_id)
    return None if record is None else kept_refresh(record)


def kept_refresh(record: Members) -> Members:
    """Return of the record of a refresh what is kept of every operation."""
    return {**{name: record[name] for name in ("request_sha256", "cursor")}, "at": record["generated_at"], "answer": {}}


def _answer(goal: Goal, command: Operation, own: Members, kept: Members | None = None) -> dict[str, Any]:
    """Return an answer with the members that all operations share; a promotion itself says where the authority is."""
    cursor = goal.cursor if kept is None else kept["cursor"]
    answer = {
        "source_authority": goal.source_authority,
        **own,
        "goal_id": goal.goal_id,
        "operation_id": command.operation_id,
        "operation_id_given": command.operation_id_given,
        "provider_revision": goal.revision_at(cursor),
        "cursor": str(cursor),
    }
    if kept is not None:
        answer["original_receipt"] = receipt_of(goal, command.operation_id, kept)
    return answer


def _plain(value: Any) -> Any:  # noqa: ANN401 - any member of a command
    """Return a member of a command as a JSON value."""
    if isinstance(value, tuple):
        return list(value)
    if hasattr(value, "__dataclass_fields__"):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    return value
