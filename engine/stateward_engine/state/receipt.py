"""What a patch answers: what changed, and what its writer cannot know from the patch alone.

Source: state.md section 10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from stateward_engine.json_value import Json, equal
from stateward_engine.state.difference import Segments, differences
from stateward_engine.state.navigation import navigation
from stateward_engine.state.overlay import Layers, fold, layers_of, member
from stateward_engine.state.paths import position_of
from stateward_engine.state.storable import is_selector
from stateward_engine.state.view import HOT_PLANES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from stateward_engine.state.ownership import Keys
    from stateward_engine.state.view import Planes, ScopeName, Selection


class Stage(NamedTuple):
    """What a patch makes of one wanted scope; one that it does not name stays as it is.

    Attributes:
        before: The planes that it met.
        after: What it leads to.
        authored: What was sent for this scope.
        record: The net patch from `before` to `after`; empty when nothing changed.
        cascaded: What the deletion of intents cleared.
    """

    before: Planes
    after: Planes
    authored: Planes
    record: Planes
    cascaded: Sequence[Keys]


def patch_receipt(selection: Selection, stages: Mapping[ScopeName, Stage]) -> dict[str, Json]:
    """Return the receipt of a patch.

    Args:
        selection: Who made it; a sole owner's cascaded paths are relative.
        stages: What became of every wanted scope, in precedence order.
    """
    updates: dict[str, Json] = {}
    if paths := [_path(selection, scope, keys) for scope, stage in stages.items() for keys in stage.cascaded]:
        updates["cascaded"] = paths
    if not stands_alone(stages.values()) and (entries := _effective(list(stages.values()))):
        updates["effective"] = [_entry(path, entries[path]) for path in sorted(entries, key=_rank)]
    if any("lazy" in stage.record for stage in stages.values()):
        shown = navigation(stage.after for stage in stages.values())
        if shown != navigation(stage.before for stage in stages.values()):
            updates["lazy_navigation"] = shown
    receipt: dict[str, Json] = {"changed": [scope for scope, stage in stages.items() if stage.record]}
    return receipt | {"state_updates": updates} if updates else receipt


def stands_alone(stages: Collection[Stage]) -> bool:
    """Tell at little cost that a patch of one owner meets no other, so that what it sent is what shows.

    That is so where nobody else has the planes it names, and it deletes nothing: of deletions a writer is told.
    """
    authors, others = [stage for stage in stages if stage.authored], [stage for stage in stages if not stage.authored]
    if len(authors) != 1 or authors[0].cascaded or _deletes(authors[0].authored):
        return False
    return not any(plane in stage.before for stage in others for plane in authors[0].authored)


def _deletes(patch: Json) -> bool:
    return any(part is None or _deletes(part) for part in patch.values()) if isinstance(patch, dict) else False


def _effective(stages: Sequence[Stage]) -> dict[Segments, Json]:
    """Return where the hot effective view is not what the writer can predict; `None` where a value is gone."""
    owners = [(_hot(stage.before), _hot(stage.after), _hot(stage.record)) for stage in stages]
    found = {difference.path: difference.after for difference in differences(owners, elements=True)}
    written = [authored for stage in stages if (authored := _hot(stage.authored))]
    shown = layers_of(after for _, after, _ in owners)
    for authored in written:
        for path, leaf in _leaves(authored, ()):
            place, layers = _nearest(shown, path)
            if place != path or not _is_as_written(layers, leaf):
                found.setdefault(place, fold(layers))
    return {path: value for path, value in found.items() if not _is_predictable(path, value, written)}


def _hot(planes: Planes) -> Planes:
    return {name: plane for name, plane in planes.items() if name in HOT_PLANES}


def _leaves(authored: Mapping[str, Json], path: Segments) -> Iterator[tuple[Segments, Json]]:
    """Yield the values that a patch writes: scalars, arrays and empty objects; deletions are none."""
    for key, part in authored.items():
        place = (*path, position_of(key[1:-1]) if is_selector(key) else key)
        if isinstance(part, dict) and part:
            yield from _leaves(part, place)
        elif part is not None:
            yield place, part


def _nearest(layers: Layers, path: Segments) -> tuple[Segments, Layers]:
    """Return the end of `path`, or its last ancestor that exists, with the layers there."""
    for done, segment in enumerate(path):
        inner = member(layers, segment) if isinstance(segment, str) else _element(layers, segment)
        if not inner:
            return path[:done], layers
        layers = inner
    return path, layers


def _element(layers: Layers, at: int) -> Layers:
    array = layers[-1]
    return (array[at],) if isinstance(array, list) and at < len(array) else ()


def _is_as_written(layers: Layers, leaf: Json) -> bool:
    """Tell whether what shows is the leaf; of an empty object nothing but another kind of value can be seen."""
    if isinstance(leaf, dict):
        return isinstance(layers[-1], dict)
    return equal(fold(layers), leaf)


def _is_predictable(path: Segments, value: Json, written: Sequence[Planes]) -> bool:
    """Tell whether one owner alone wrote at a place, above or below it, and exactly what shows there now."""
    writers = [authored for authored in written if _wrote(authored, path)]
    return value is not None and len(writers) == 1 and equal(_authored(writers[0], path), value)


def _wrote(patch: Json, path: Segments) -> bool:
    """Tell whether a patch has anything at, above or below a place: a value, a deletion or an empty object."""
    for segment in path:
        if not isinstance(patch, dict) or not patch:
            return True
        key = _key(segment)
        if key not in patch:
            return False
        patch = patch[key]
    return True


def _authored(patch: Json, path: Segments) -> Json:
    """Return what a patch has at a place, or inside of a whole array that it has above; `None` where it has nothing."""
    for segment in path:
        if isinstance(patch, dict):
            patch = patch.get(_key(segment))
        elif isinstance(patch, list) and isinstance(segment, int) and segment < len(patch):
            patch = patch[segment]
        else:
            return None
    return patch


def _key(segment: str | int) -> str:
    return segment if isinstance(segment, str) else f"[{segment}]"


def _entry(path: Segments, value: Json) -> dict[str, Json]:
    # A sole owner gets no values, so there are no references to show relative: what it wrote is what shows.
    return {"path": list(path), **({"deleted": True} if value is None else {"value": value})}


def _rank(path: Segments) -> list[tuple[bool, str | int]]:
    """Return the place of a path in a list: segment by segment, numbers before strings."""
    return [(isinstance(segment, str), segment) for segment in path]


def _path(selection: Selection, scope: ScopeName, keys: Iterable[str]) -> str:
    return ".".join(keys if len(selection.wanted) == 1 else (scope, *keys))
