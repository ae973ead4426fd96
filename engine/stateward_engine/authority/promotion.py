"""Promotion: the records of a document become those of the ledger, in one entry, and there is no way back.

A shadow holds them until then: it decides nothing, and shows that what was qualified is what is promoted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stateward_engine.authority.goal import LEDGER_AUTHORITY
from stateward_engine.authority.merging import changes
from stateward_engine.authority.operations import Decision
from stateward_engine.authority.refusals import refused
from stateward_engine.authority.registration import demand_mode
from stateward_engine.goals.qualification import refusal

if TYPE_CHECKING:
    from stateward_engine.authority.commands import BootstrapShadow, PromoteGoal, RollbackShadow
    from stateward_engine.authority.goal import Goal
    from stateward_engine.errors import Refused
    from stateward_engine.goals.qualification import Report

SHADOW_SCHEMA: Final = "loopx_authority_shadow_v0"
# What a shadow can be. A quarantined one stays for people to look at, and is never promoted.
READY: Final = "ready"
QUARANTINED: Final = "quarantined"
PROMOTED: Final = "promoted"


def decide_bootstrap(goal: Goal, command: BootstrapShadow, now: str) -> Decision:
    """Keep the qualified records of a document beside it; the document stays the authority.

    Raises:
        Refused: `authority_promoted`.

    Source: authority.md section 4.
    """
    _demand_unpromoted(goal)
    shadow = {
        "state": READY,
        "records": command.records,
        "declarations": command.declarations,
        "source_sha256": command.source_sha256,
    }
    kept = {name: value for name, value in goal.plane("shadow").items() if name != "at"}
    answer = _answer(READY, command.source_sha256, len(command.records))
    return Decision(answer, {"shadow": {**changes(kept, shadow), "at": now}} if kept != shadow else {})


def decide_promote(goal: Goal, command: PromoteGoal, now: str) -> Decision:
    """Make the ledger the authority: records, declarations, handoff mode and the fence of writers in one entry.

    Raises:
        Refused: `authority_promoted`; `authority_shadow_missing`, `authority_shadow_quarantined`,
            `authority_shadow_source_changed`; `todo_lease_conflict` for another handoff mode while a lease is live.

    Source: authority.md section 4.
    """
    _demand_unpromoted(goal)
    shadow = goal.plane("shadow")
    for reason in shadow_refusals(goal, command.source_sha256):
        raise _unready(reason)
    handoff_mode = command.handoff_mode or goal.configured_mode
    demand_mode(goal, handoff_mode, now)
    records = shadow["records"]
    mode = {"promoted": True, "handoff_mode": handoff_mode}
    patch = {
        "authority": mode,
        "records": records,
        "declarations": shadow["declarations"],
        # They are the goal's own now.
        "shadow": {"state": PROMOTED, "records": None, "declarations": None, "at": now},
    }
    answer = _answer(PROMOTED, command.source_sha256, len(records))
    return Decision({**answer, **mode, "source_authority": LEDGER_AUTHORITY}, patch)


def decide_rollback(goal: Goal, _command: RollbackShadow, now: str) -> Decision:
    """Quarantine a shadow: nothing of it is ever promoted.

    Raises:
        Refused: `authority_promoted`, `authority_shadow_missing`.

    Source: authority.md section 4, LX-093.
    """
    _demand_unpromoted(goal)
    shadow = goal.plane("shadow")
    if not shadow:
        raise _unready("authority_shadow_missing")
    answer = _answer(QUARANTINED, shadow["source_sha256"], len(shadow["records"]))
    if shadow["state"] == QUARANTINED:
        return Decision(answer)
    return Decision(answer, {"shadow": {"state": QUARANTINED, "at": now}})


def shadow_refusals(goal: Goal, source_sha256: str) -> list[str]:
    """Return what stands against promotion beside the document itself, as reason codes: the shadow has to be its own.

    Source: authority.md section 4.
    """
    shadow = goal.plane("shadow")
    if not shadow:
        reason = "authority_shadow_missing"
    elif shadow["state"] == QUARANTINED:
        reason = "authority_shadow_quarantined"
    elif shadow["source_sha256"] != source_sha256:
        reason = "authority_shadow_source_changed"
    else:
        return []
    return [reason]


def qualification(goal: Goal, report: Report) -> dict[str, Any]:
    """Return the answer about whether a goal could be promoted now.

    Raises:
        Refused: `authority_promoted`.

    Source: authority.md section 4.
    """
    _demand_unpromoted(goal)
    refusals = [*report.refusals, *map(refusal, shadow_refusals(goal, report.source_sha256))]
    return {
        "schema_version": SHADOW_SCHEMA,
        "goal_id": goal.goal_id,
        "qualified": not refusals,
        "refusals": refusals,
        "source_sha256": report.source_sha256,
        "shadow_sha256": goal.plane("shadow").get("source_sha256"),
        "shadow_state": goal.plane("shadow").get("state"),
        "todo_count": len(report.records),
    }


def demand_qualified(report: Report) -> None:
    """Refuse a document whose todos could not become records.

    Raises:
        Refused: `authority_not_qualified`, with the first line and the codes; `authority_shadow_qualify` tells all.
    """
    if report.refusals:
        first = report.refusals[0]
        place = "" if first["line"] is None else f" on line {first['line']}"
        raise refused(
            "authority_not_qualified",
            f"the document does not qualify: {first['reason_code']}{place}, {len(report.refusals)} in all; "
            "authority_shadow_qualify tells every one of them",
            line=first["line"],
            todo_id=first["todo_id"],
            refusals=sorted({str(found["reason_code"]) for found in report.refusals}),
        )


def _answer(state: str, source_sha256: str, count: int) -> dict[str, Any]:
    return {
        "schema_version": SHADOW_SCHEMA,
        "shadow_state": state,
        "source_sha256": source_sha256,
        "todo_count": count,
    }


def _demand_unpromoted(goal: Goal) -> None:
    if goal.promoted:
        raise refused(
            "authority_promoted",
            "the ledger is the authority of this goal, and there is no way back; project_markdown renders its document",
            member="goal_id",
            got=goal.goal_id,
        )


def _unready(reason_code: str) -> Refused:
    message = {
        "authority_shadow_missing": "no shadow was made of this document; make one with authority_shadow_bootstrap",
        "authority_shadow_quarantined": "the shadow was rolled back; make another one with authority_shadow_bootstrap",
        "authority_shadow_source_changed": "the document is not what the shadow was made of any more; make another one "
        "with authority_shadow_bootstrap, and qualify it",
    }[reason_code]
    return refused(reason_code, message, member="goal_id")
