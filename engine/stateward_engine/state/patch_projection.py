"""The `patch` projection: what one transition did to the selected path (state.md section 7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.errors import OutOfBounds, RequestError
from stateward_engine.json_value import equal
from stateward_engine.state.overlay import fold
from stateward_engine.state.paths import Member, Range, lone_plane, position_of
from stateward_engine.state.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stateward_engine.json_value import Json
    from stateward_engine.state.overlay import Layers
    from stateward_engine.state.paths import Path, Root, Selector


def patch_at(path: Path, root: Root, *, before: Layers, after: Layers, record: Mapping[str, Json]) -> Json:
    """Return what a transition did at `path`: a patch, `{}` for nothing, null for a deletion.

    Args:
        path: Its selectors are taken in both views.
        root: What the path's root is bound to; errors speak of it.
        before: The root layers of the view before the transition.
        after: Those of the view that it led to.
        record: The net patch from one to the other.

    Raises:
        RequestError: The path leads nowhere in either view, or is out of bounds in the later one.
    """
    if not path.selectors:
        return record
    try:
        found = resolve(after, path, root)
    except OutOfBounds:
        raise
    except RequestError:
        if _found(before, path, root):
            return None
        if lone_plane(path):
            return {}
        raise
    old = _found(before, path, root)
    if not old:
        return fold(found)
    inner = _descend(record, path.selectors)
    if inner is not None:
        return inner
    whole = fold(found)
    return {} if equal(fold(old), whole) else whole


def _found(layers: Layers, path: Path, root: Root) -> Layers:
    """Return the layers at the end of `path`, none when it leads nowhere."""
    try:
        return resolve(layers, path, root)
    except RequestError:
        return ()


def _descend(record: Json, selectors: Sequence[Selector]) -> Json:
    """Return the part of a record that the selectors arrive at; `None` when the walk enters a whole replacement.

    A new object is recorded as an object too; nothing inside of it resolves in both views, so that the walk ends there
    at the latest, with the new value.

    Args:
        record: What is recorded at some place.
        selectors: The rest of a path from there. They resolve in both views.
    """
    # Of the array at hand, the part that ranges have cut out so far.
    start, end = 0, None
    for selector in selectors:
        if not isinstance(record, dict):
            return None
        if isinstance(selector, Range):
            start, end = start + position_of(selector.start), start + position_of(selector.end)
            continue
        if isinstance(selector, Member):
            key = selector.name
        else:
            key, start, end = f"[{start + position_of(selector.digits)}]", 0, None
        if key not in record:
            return {}
        record = record[key]
    if not isinstance(record, dict):
        return None
    if end is None:
        return record
    return {key: part for key, part in record.items() if start <= position_of(key[1:-1]) < end}
