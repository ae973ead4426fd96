"""The effective view: the wanted owners' scopes laid over one another (state.md section 2.3).

A read follows its path through *layers* and lays over one another only what it arrives at, so its cost is that of the
answer and not that of the scopes. Layers are the values that show at one place, lowest precedence first: several
objects, whose members show through one another, or one value of any kind.

The overlay knows nothing of sessions, history or requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

from stateward_engine.json_value import Json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stateward_engine.state.view import Planes

Layers: TypeAlias = tuple[Json, ...]


def effective(owners: Iterable[Planes]) -> Planes:
    """Return the planes that show when `owners`, lowest precedence first, are laid over one another.

    One owner alone is returned itself, and so is every part that only one owner has.

    >>> effective([{"lazy": {"a": 1, "b": [1]}}, {"lazy": {"b": [2]}}])
    {'lazy': {'a': 1, 'b': [2]}}
    """
    return cast("Planes", fold(layers_of(owners)))


def layers_of(owners: Iterable[Planes]) -> Layers:
    """Return the root layers of `owners`, lowest precedence first; an empty `response` counts as absent."""
    return _showing([present(planes) for planes in owners])


def member(layers: Layers, key: str) -> Layers:
    """Return what shows at `key`; no layer at all when there is no such member."""
    return _showing([layer[key] for layer in layers if isinstance(layer, dict) and key in layer])


def keys(layers: Layers) -> list[str]:
    """Return the keys that show, each once; none when the value is no object."""
    return list(dict.fromkeys(key for layer in layers if isinstance(layer, dict) for key in layer))


def fold(layers: Layers) -> Json:
    """Return the one value that `layers` show; one layer alone is that value itself."""
    if len(layers) == 1:
        return layers[0]
    return {key: fold(member(layers, key)) for key in sorted(keys(layers))}


def _showing(values: Sequence[Json]) -> Layers:
    """Return the part of `values` (lowest first) that shows.

    Objects show through one another down to the first value of another kind, which hides everything below it. A
    highest value that is no object shows alone. Empty objects add nothing, so one stays only where nothing else does.
    """
    start = len(values)
    while start > 0 and isinstance(values[start - 1], dict):
        start -= 1
    return tuple([value for value in values[start:] if value] or values[-1:])


def present(planes: Planes) -> Planes:
    """Return `planes` without a `response` that is empty: it counts as absent everywhere (state.md section 2.2)."""
    if planes.get("response") != "":
        return planes
    return {name: plane for name, plane in planes.items() if name != "response"}
