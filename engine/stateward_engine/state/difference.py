"""Where the effective view differs between two boundaries, at the smallest places.

Only what the owners recorded is looked at, so that the cost is that of the change and not that of the scopes.
"""

from __future__ import annotations

from itertools import compress
from operator import is_not
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from stateward_engine.json_value import Json, equal
from stateward_engine.state.overlay import Layers, fold, present

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from stateward_engine.state.view import Planes

Segments: TypeAlias = "tuple[str | int, ...]"


class Owner(NamedTuple):
    """One owner's value at one place of the two views; `None` where it has or shows nothing there.

    Attributes:
        before: At the earlier boundary.
        after: At the later one.
        patch: What is recorded of the change here. Only its keys matter; `None` says that anything may have changed.
    """

    before: Json
    after: Json
    patch: Json


class Difference(NamedTuple):
    """One place at which the two views differ; `None` where a view has nothing.

    Attributes:
        path: Keys and array positions from the root.
        before: The value in the earlier view.
        after: The value in the later view.
    """

    path: Segments
    before: Json
    after: Json


def differences(owners: Iterable[tuple[Planes, Planes, Planes]], *, elements: bool) -> list[Difference]:
    """Return the differences of two effective views in the order of their paths, numbers before strings.

    A member that one view does not have is itself the smallest place, whatever is in it.

    Args:
        owners: For each owner, lowest precedence first: its planes before and after, and the record of the change.
        elements: Whether arrays of equal length are compared by element; otherwise they differ as wholes.
    """
    root = [Owner(present(before), present(after), patch) for before, after, patch in owners]
    return list(_differences(root, (), elements=elements))


def nested(found: Iterable[Difference]) -> dict[str, Json]:
    """Return the merge patch that says the same as differences without array positions: null where one is gone.

    >>> nested([Difference(("a", "x"), 1, None), Difference(("a", "y"), None, 2)])
    {'a': {'x': None, 'y': 2}}
    """
    patch: dict[str, Json] = {}
    for difference in found:
        place = patch
        for key in difference.path[:-1]:
            place = cast("dict[str, Json]", place.setdefault(cast("str", key), {}))
        place[cast("str", difference.path[-1])] = difference.after
    return patch


def _differences(owners: Sequence[Owner], path: Segments, *, elements: bool) -> Iterator[Difference]:
    """Yield the differences at and below one place."""
    owners = _shown(owners)
    if all(owner.before is owner.after for owner in owners):
        return
    before, after = _layers(owner.before for owner in owners), _layers(owner.after for owner in owners)
    old, new = before[-1] if before else None, after[-1] if after else None
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({key for owner in owners for key in _touched(owner)}):
            yield from _differences([_member(owner, key) for owner in owners], (*path, key), elements=elements)
    elif elements and isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at in compress(range(len(old)), map(is_not, old, new)):
            yield from _differences([Owner(old[at], new[at], None)], (*path, at), elements=elements)
    else:
        old, new = fold(before) if before else None, fold(after) if after else None
        if not equal(old, new):
            yield Difference(path, old, new)


def _shown(owners: Sequence[Owner]) -> list[Owner]:
    """Return the owners without the values that a higher one hides (state.md section 2.3)."""
    shown: list[Owner] = []
    before_shows = after_shows = True
    for owner in reversed(owners):
        before, after = owner.before if before_shows else None, owner.after if after_shows else None
        # What is no object hides everything below it; under an object it does not show itself.
        if before is not None and not isinstance(before, dict):
            before, before_shows = (None if any(higher.before is not None for higher in shown) else before), False
        if after is not None and not isinstance(after, dict):
            after, after_shows = (None if any(higher.after is not None for higher in shown) else after), False
        shown.append(Owner(before, after, owner.patch))
    return shown[::-1]


def _layers(values: Iterable[Json]) -> Layers:
    return tuple(value for value in values if value is not None)


def _touched(owner: Owner) -> Iterable[str]:
    """Return the keys at which the owner may make a difference, where both views show an object."""
    if owner.before is owner.after:
        return ()
    both = isinstance(owner.before, dict) and isinstance(owner.after, dict)
    if both and isinstance(owner.patch, dict):
        return owner.patch
    return [key for value in (owner.before, owner.after) if isinstance(value, dict) for key in value]


def _member(owner: Owner, key: str) -> Owner:
    before = owner.before.get(key) if isinstance(owner.before, dict) else None
    after = owner.after.get(key) if isinstance(owner.after, dict) else None
    return Owner(before, after, owner.patch.get(key) if isinstance(owner.patch, dict) else None)
