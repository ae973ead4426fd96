"""Patches of stored members: what an operation changes, as it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stateward_engine.authority.goal import Members


def changes(before: Members, after: Members) -> dict[str, Any]:
    """Return the merge patch that leads from one set of members to another; null where one is gone.

    >>> changes({"status": "open", "note": "n"}, {"status": "done", "done": True})
    {'note': None, 'status': 'done', 'done': True}
    """
    gone: dict[str, Any] = {name: None for name in before if name not in after}
    return {**gone, **{name: value for name, value in after.items() if name not in before or before[name] != value}}
