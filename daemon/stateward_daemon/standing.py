"""How a goal and its display stand. It looks, and changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stateward_daemon.delivering import read_document
from stateward_engine.authority.delivery_failures import NotReplaceable
from stateward_engine.authority.display import state_of, take_snapshot

if TYPE_CHECKING:
    from stateward_daemon.host import Host
    from stateward_engine.authority.display import Snapshot


def goal_status(host: Host, goal_id: str) -> dict[str, Any]:
    """Return how a goal and its display stand. It may wait for the disk.

    Raises:
        Refused: `goal_not_registered`.
        CorruptStore: A stream of the goal is damaged.

    Source: authority.md section 2.
    """
    snapshot = take_snapshot(host.store.view, goal_id)
    goal = snapshot.goal
    return {
        "goal_id": goal_id,
        **goal.place(),
        "promoted": goal.promoted,
        "handoff_mode": goal.handoff_mode,
        "agents": goal.agents,
        "provider_revision": goal.provider_revision,
        "cursor": str(goal.cursor),
        "source_authority": goal.source_authority,
        "display": _display(host, snapshot) if goal.is_on(host.machine) else {"state": "elsewhere"},
    }


def _display(host: Host, snapshot: Snapshot) -> dict[str, Any]:
    goal = snapshot.goal
    path = Path(goal.path)
    try:
        # What is read through a link would not be written through it.
        found = {"state": "unsafe", "reason_code": "document_is_link"} if path.is_symlink() else None
        display = found or state_of(read_document(path), snapshot)
    except NotReplaceable as unreadable:
        display = {"state": "unsafe", "reason_code": unreadable.reason_code}
    # What would be written next: what is behind, or the next edit of a document that is its own authority.
    waits, reason = (
        ("behind", "todo_projection_buffer_dirty") if goal.promoted else ("current", "document_buffer_dirty")
    )
    if display["state"] == waits and host.unsaved.holders(path):
        display = {"state": "buffer_dirty", "reason_code": reason}
    return display
