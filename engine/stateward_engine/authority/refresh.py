"""Refreshes: the record that an actor took stock of a goal, with the diagnosis of missing work.

It is no operation on todos or leases: it stands beside the display, moves no revision and edits no document. It is
known again by its operation id, as every operation is, and by its turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stateward_engine.authority.eligibility import demand_actor
from stateward_engine.authority.goal import display_of, find_goal, refreshes_of
from stateward_engine.authority.listing import summary_of
from stateward_engine.authority.operations import demand_revision, kept_refresh, known_again, receipt_of
from stateward_engine.authority.refusals import refused
from stateward_engine.authority.wording import read_sentence
from stateward_engine.goals.digests import value_sha256
from stateward_engine.goals.records import ROLES
from stateward_engine.state.transition import Repeat, Transition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.authority.commands import RefreshState
    from stateward_engine.authority.goal import Goal, Members
    from stateward_engine.state.view import Basis

REFRESH_SCHEMA: Final = "loopx_refresh_state_record_v0"
# An agent repeats the turn that it is in; those of long ago are of no use to anybody.
REFRESHES_KEPT_MAX: Final = 256


def decide_refresh(basis: Basis, command: RefreshState, at: str) -> Transition | Repeat:
    """Keep the record of a refresh; the same operation or the same turn again is answered as it was.

    Raises:
        Refused: `goal_not_registered`; `agent_id_required` where several actors are registered;
            `actor_not_registered`; `coordination_operation_identity_mismatch`: another record of that turn, or
            another operation of that id; `provider_revision_mismatch`.
        CorruptStore: A stream of the goal is damaged.

    Source: authority.md section 6, `refresh_state`.
    """
    goal = find_goal(basis, command.goal_id)
    _demand_named(goal, command)
    kept = refreshes_of(basis.scope(display_of(goal.goal_id)))
    said = _said(goal, command)
    request_sha256 = value_sha256(said)
    if known_again(basis, goal, command.operation_id, request_sha256):
        return Repeat(_answer(goal, command, command.operation_id, kept[command.operation_id], "replayed"))
    if (first := _of_turn(kept, command.turn_key, request_sha256)) is not None:
        return Repeat(_answer(goal, command, first, kept[first], "replayed"))
    demand_revision(goal, command)
    record = {
        **said,
        "schema_version": REFRESH_SCHEMA,
        "generated_at": goal.now(at),
        "request_sha256": request_sha256,
        "cursor": goal.cursor,
        **_stock(goal, command),
    }
    if command.dry_run:
        return Repeat(_answer(goal, command, command.operation_id, record, "planned"))
    patch: dict[str, Any] = {"refreshes": {**_outgrown(kept), command.operation_id: record}}
    answer = _answer(goal, command, command.operation_id, record, "applied")
    return Transition(None, None, answer, patches={display_of(goal.goal_id): patch}, goal=goal.goal_id)


def diagnosis_of(summary: Members) -> dict[str, Any]:
    """Return whether work is missing: nothing is open for agents. `idle_roles` are those without an open todo.

    Args:
        summary: As `listing.summary_of` gives it.
    """
    idle = [role for role in ROLES if not summary[role]["open_count"]]
    missing = "agent" in idle
    action = {"recommended_action": "add the next todo with todo_add, or close the goal"} if missing else {}
    return {"missing_work": missing, "idle_roles": idle, **action}


def _demand_named(goal: Goal, command: RefreshState) -> None:
    if command.agent_id is not None:
        demand_actor(goal, {}, command.agent_id, "agent_id")
    elif len(goal.agents) > 1:
        raise refused(
            "agent_id_required",
            "several actors are registered; say which one took stock",
            member="agent_id",
            wanted=goal.agents,
        )


def _said(goal: Goal, command: RefreshState) -> dict[str, Any]:
    """Return what the call says, which is what it is known by."""
    said = {
        "goal_id": goal.goal_id,
        "agent_id": command.agent_id,
        "classification": read_sentence("classification", command.classification),
        "next_action": read_sentence("next_action", command.next_action),
        "turn_key": command.turn_key,
    }
    return {name: value for name, value in said.items() if value is not None}


def _stock(goal: Goal, command: RefreshState) -> dict[str, Any]:
    """Return what there is to do, from the one place that is asked: the ledger, or the document before promotion."""
    summary = summary_of(goal.records.values()) if goal.promoted else command.summary
    return {
        "todo_source": goal.source_authority if goal.promoted else command.todo_source,
        "todo_summary": summary,
        "diagnosis": diagnosis_of(summary),
    }


def _of_turn(kept: Mapping[str, Members], turn: str | None, request_sha256: str) -> str | None:
    """Return the operation that recorded a turn, `None` before it."""
    for operation_id, record in kept.items():
        if turn is not None and record.get("turn_key") == turn:
            if record["request_sha256"] != request_sha256:
                raise refused(
                    "coordination_operation_identity_mismatch",
                    "this turn was recorded with other words; take a new turn_key for a new turn",
                    member="turn_key",
                    got=turn,
                )
            return operation_id
    return None


def _answer(goal: Goal, command: RefreshState, first: str, record: Members, status: str) -> dict[str, Any]:
    """Return the answer; `first` is the operation whose record it is."""
    planned = status == "planned"
    return {
        "schema_version": REFRESH_SCHEMA,
        "goal_id": goal.goal_id,
        "operation_id": command.operation_id,
        "operation_id_given": command.operation_id_given,
        "status": status,
        "changed": status == "applied",
        "record": {name: value for name, value in record.items() if name not in ("request_sha256", "cursor")},
        "provider_revision": goal.provider_revision,
        "cursor": str(goal.cursor),
        "source_authority": goal.source_authority,
        "diagnosis": record["diagnosis"],
        **({} if planned else {"original_receipt": receipt_of(goal, first, kept_refresh(record))}),
    }


def _outgrown(kept: Mapping[str, Any]) -> dict[str, None]:
    """Return the patch that forgets the oldest records, so that the next one has a place."""
    oldest = sorted(kept, key=lambda operation_id: (kept[operation_id]["generated_at"], operation_id))
    return dict.fromkeys(oldest[: max(0, len(kept) + 1 - REFRESHES_KEPT_MAX)])
