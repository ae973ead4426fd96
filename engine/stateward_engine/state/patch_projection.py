"""The `patch` projection: what one transition did to the selected path (state.md section 7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from stateward_engine.errors import OutOfBounds, RequestError
from stateward_engine.json_value import Json, equal
from stateward_engine.state.overlay import Layers, fold, member
from stateward_engine.state.paths import Member, Range, lone_plane, position_of
from stateward_engine.state.resolve import resolve
from stateward_engine.state.storable import is_selector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    inner = _descend(record, before, path.selectors)
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


def _descend(record: Json, layers: Layers, selectors: Sequence[Selector]) -> Json:
    """Return the part of a record that the selectors arrive at; `None` when the walk enters a whole replacement.

    Args:
        record: What is recorded at the place that `layers` show.
        layers: The view before; an object or array there is what a recorded object merges into.
        selectors: The rest of the path. They resolve in both views.
    """
    # Of the array at hand, the part that ranges have cut out so far.
    start, end = 0, None
    for selector in selectors:
        if not _merges(record, layers):
            return None
        if isinstance(selector, Range):
            start, end = start + position_of(selector.start), start + position_of(selector.end)
            continue
        if isinstance(selector, Member):
            key, layers = selector.name, member(layers, selector.name)
        else:
            at = start + position_of(selector.digits)
            key, layers, start, end = f"[{at}]", _element(layers, at), 0, None
        if key not in record:
            return {}
        record = record[key]
    if not _merges(record, layers):
        return None
    if end is None:
        return record
    return {key: part for key, part in record.items() if start <= position_of(key[1:-1]) < end}


def _merges(record: Json, layers: Layers) -> TypeGuard[dict[str, Json]]:
    """Tell whether what is recorded at a place changes parts of what was there, and does not replace it."""
    if not isinstance(record, dict):
        return False
    if isinstance(layers[-1], list):
        return is_selector(next(iter(record), ""))
    return isinstance(layers[-1], dict)


def _element(layers: Layers, at: int) -> Layers:
    array = layers[-1]
    return (array[at],) if isinstance(array, list) else ()
