"""Refreshes: the record that an actor took stock of a goal, with the diagnosis of missing work.

It is no operation on todos or leases: it stands beside the display, moves no revision and edits no document. Its turn
is what it is known by when it comes again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stateward_engine.authority.eligibility import demand_actor
from stateward_engine.authority.goal import display_of, find_goal
from stateward_engine.authority.listing import summary_of
from stateward_engine.authority.operations import demand_revision, receipt_of
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
    """Keep the record of a turn; the same turn again is answered as it was.

    Raises:
        Refused: `goal_not_registered`; `agent_id_required` where several actors are registered;
            `actor_not_registered`; `coordination_operation_identity_mismatch`: another record of that turn;
            `provider_revision_mismatch`.
        CorruptStore: A stream of the goal is damaged.

    Source: authority.md section 6, `refresh_state`.
    """
    goal = find_goal(basis, command.goal_id)
    _demand_named(goal, command)
    display = basis.scope(display_of(goal.goal_id)).planes
    kept: Mapping[str, Any] = display.get("refreshes", {})  # type: ignore[assignment]
    turn = command.turn_key or command.operation_id
    said = _said(goal, command)
    request_sha256 = value_sha256(said)
    if turn in kept:
        return _again(goal, command, turn, kept[turn], request_sha256)
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
        return Repeat(_answer(goal, command, turn, record, "planned"))
    patch: dict[str, Any] = {"refreshes": {**_outgrown(kept), turn: record}}
    answer = _answer(goal, command, turn, record, "applied")
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


def _again(goal: Goal, command: RefreshState, turn: str, record: Members, request_sha256: str) -> Repeat:
    if record["request_sha256"] != request_sha256:
        raise refused(
            "coordination_operation_identity_mismatch",
            "this turn was recorded with other words; take a new turn_key for a new turn",
            member="turn_key" if command.turn_key else "operation_id",
            got=turn,
        )
    return Repeat(_answer(goal, command, turn, record, "replayed"))


def _answer(goal: Goal, command: RefreshState, turn: str, record: Members, status: str) -> dict[str, Any]:
    planned = status == "planned"
    kept = {"request_sha256": record["request_sha256"], "cursor": record["cursor"], "at": record["generated_at"]}
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
        **({} if planned else {"original_receipt": receipt_of(goal, turn, kept)}),
    }


def _outgrown(kept: Mapping[str, Any]) -> dict[str, None]:
    """Return the patch that forgets the oldest records, so that the next one has a place."""
    oldest = sorted(kept, key=lambda turn: (kept[turn]["generated_at"], turn))
    return dict.fromkeys(oldest[: max(0, len(kept) + 1 - REFRESHES_KEPT_MAX)])
