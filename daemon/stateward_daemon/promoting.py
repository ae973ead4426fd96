"""Promotion: jobs for the lane of a goal, which is the lock of its document; what was qualified is committed there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stateward_engine.authority.commands import BootstrapShadow
from stateward_engine.authority.goal import find_goal
from stateward_engine.authority.operations import replayed
from stateward_engine.authority.promotion import demand_qualified, qualification
from stateward_engine.goals.qualification import qualify

if TYPE_CHECKING:
    from stateward_daemon.host import Host
    from stateward_engine.authority.commands import PromoteGoal
    from stateward_engine.authority.goal import Goal, Members
    from stateward_engine.goals.qualification import Report


def report(host: Host, goal_id: str) -> Members:
    """Return what stands against the promotion of a goal, as its document is now.

    Raises:
        Refused: `goal_not_registered`, `authority_promoted`, `document_elsewhere`.
        WireError: The document cannot be read.
    """
    goal = find_goal(host.store.view, goal_id)
    return qualification(goal, _looked_at(host, goal))


def commit_qualified(host: Host, command: BootstrapShadow | PromoteGoal) -> Members:
    """Commit a step to promotion on what the document says now, and return the answer.

    Args:
        host: Who serves the caller.
        command: The step, without what it takes from the document.

    Raises:
        Refused: `goal_not_registered`, `authority_not_qualified`, and what the decision refuses.
        WireError: The document cannot be read.
        StoreError: The ledger could not commit it.
    """
    view = host.store.view
    goal = find_goal(view, command.goal_id)
    if replay := replayed(view, goal, command):
        return replay
    # Of a promoted goal the document is a display, and no reason for anything.
    if not goal.promoted:
        found = _looked_at(host, goal)
        demand_qualified(found)
        taken: dict[str, Any] = {"source_sha256": found.source_sha256}
        if isinstance(command, BootstrapShadow):
            taken |= {"records": found.records, "declarations": found.declarations}
        command = replace(command, **taken)
    return host.store.commit_now(command).receipt


def _looked_at(host: Host, goal: Goal) -> Report:
    goal.demand_on(host.machine)
    return qualify(host.documents.read(Path(goal.path)))
