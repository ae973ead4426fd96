"""Patches of stored members: what an operation changes, as it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stateward_engine.authority.goal import Members


def changes(before: Members, after: Members) -> dict[str, Any]:
    """Return the merge patch that leads from one set of members to another; null where one is gone.

    Objects are merged where they are kept, so that of an object only what changes is told.

    >>> changes({"note": {"a": 1}}, {"note": {"b": 2}})
    {'note': {'a': None, 'b': 2}}
    >>> changes({"status": "open", "note": "n"}, {"status": "done", "done": True})
    {'note': None, 'status': 'done', 'done': True}
    """
    gone: dict[str, Any] = {name: None for name in before if name not in after}
    return {
        **gone,
        **{name: _change(before.get(name), value) for name, value in after.items() if _differs(before, name, value)},
    }


def _differs(before: Members, name: str, value: Any) -> bool:  # noqa: ANN401 - any stored value
    return name not in before or before[name] != value


def _change(before: Any, after: Any) -> Any:  # noqa: ANN401 - any stored value
    return changes(before, after) if isinstance(before, Mapping) and isinstance(after, Mapping) else after
