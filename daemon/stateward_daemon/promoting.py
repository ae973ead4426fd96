"""Promotion: jobs for the lane of a goal, which is the lock of its document; what was qualified is committed there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stateward_daemon import goal_convert
from stateward_engine.authority.commands import BootstrapShadow, PromoteGoal
from stateward_engine.authority.goal import find_goal
from stateward_engine.authority.refusals import refused
from stateward_engine.goals.qualification import qualify

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_daemon.host import Host
    from stateward_engine.goals.qualification import Report
    from stateward_protocol.authority_messages import ShadowQualifyResult


def report(host: Host, goal_id: str) -> ShadowQualifyResult:
    """Return what stands against the promotion of a goal, as its document is now."""
    return goal_convert.qualification(goal_id, _looked_at(host, goal_id))


def bootstrap(host: Host, operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """Commit a shadow of what the document says, and return the answer.

    Raises:
        EngineError: The document does not qualify, or the ledger refuses it.
    """
    found = _qualified(host, operation["goal_id"])
    return host.store.commit_now(
        BootstrapShadow(
            **operation,
            records=found.records,
            source_sha256=found.source_sha256,
            declarations=found.declarations,
        )
    ).receipt


def promote(host: Host, operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """Qualify the document once more, commit its promotion, and return the answer.

    Raises:
        EngineError: As `bootstrap`; the document is another one than that of the shadow.
    """
    found = _qualified(host, operation["goal_id"])
    return host.store.commit_now(PromoteGoal(**operation, source_sha256=found.source_sha256)).receipt


def _looked_at(host: Host, goal_id: str) -> Report:
    return qualify(host.documents.read(Path(find_goal(host.store.view, goal_id).path)))


def _qualified(host: Host, goal_id: str) -> Report:
    found = _looked_at(host, goal_id)
    if found.refusals:
        raise refused(
            "not_qualified",
            "the document does not qualify; authority_shadow_qualify shows what stands against it",
            reasons=[str(refusal["reason_code"]) for refusal in found.refusals],
        )
    return found
