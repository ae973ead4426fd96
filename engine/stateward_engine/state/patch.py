"""Patches: what a client may send, what it does to a scope, and what is recorded of it (state.md sections 7.2 and 8).

A patch is parsed once, against the owners of its client, and applied to whatever is current when its turn comes.
Application copies the containers along its own paths and shares everything else; when nothing changes, the result is
the very object that went in, so that "changed" is an identity test.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple, TypeGuard, cast

from stateward_engine.json_value import PARAMS, Json, Place, describe, equal, in_order
from stateward_engine.state import patch_advice as advice
from stateward_engine.state.paths import position_of
from stateward_engine.state.references import anchored
from stateward_engine.state.storable import flaw_of, is_selector, unwanted
from stateward_engine.state.view import NOTHING, PATCHABLE_PLANES, PLANES, SCOPES, Planes, ScopeName

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PATCH: Final = Place(PARAMS, "patch")


class ScopedPatch(NamedTuple):
    """An authored patch whose shape and values are in order.

    Attributes:
        scopes: For each scope, in precedence order, the patches of its planes. Never empty at these levels.
        flat: Whether the planes stood at the root, as a sole owner may send them.
    """

    scopes: Mapping[ScopeName, Planes]
    flat: bool = False

    def place(self, scope: ScopeName) -> Place:
        """Return where the planes of `scope` stand in the request."""
        return PATCH if self.flat else Place(PATCH, scope)


def parse_patch(patch: Json, wanted: Sequence[ScopeName]) -> ScopedPatch:
    """Return the patch that a client sent, checked as far as no state is needed, a sole owner's references anchored.

    Args:
        patch: Member `patch` of the request: scopes, planes, keys; with one wanted owner also planes, keys.
        wanted: The owners of this client.

    Raises:
        InvalidPatch: Shape of the root, then of planes and values.
        UnwantedOwner: A scope that is not wanted; found before planes are looked at.
        NoOp: An empty root, scope or plane; found last.

    Source: state.md section 8.1.

    >>> parse_patch({"cwd": {"tactics": {"next": "x"}}}, ["global", "cwd"]).scopes
    {'cwd': {'tactics': {'next': 'x'}}}
    """
    example = advice.right_patch(wanted)
    if not isinstance(patch, dict):
        raise advice.not_an_object(patch, PATCH, example)
    flat = len(wanted) == 1 and any(key in PLANES for key in patch)
    for key in patch:
        if key not in (PLANES if flat else SCOPES):
            raise advice.unknown_root_key(key, Place(PATCH, key), wanted, flat=flat)
    parts: dict[ScopeName, Json] = (
        {wanted[0]: patch} if flat else {name: patch[name] for name in SCOPES if name in patch}
    )
    for scope in parts:
        if scope not in wanted:
            raise unwanted(scope, wanted, path=str(Place(PATCH, scope)), example=example)
    places = {scope: PATCH if flat else Place(PATCH, scope) for scope in parts}
    scopes = {scope: _planes(part, places[scope], example) for scope, part in parts.items()}
    _check_not_empty(scopes, places, example)
    if len(wanted) == 1:
        scopes = {scope: cast("Planes", anchored(planes, scope)) for scope, planes in scopes.items()}
    return ScopedPatch(scopes, flat)


def apply(planes: Planes, patch: Planes, place: Place = PATCH) -> Planes:
    """Return `planes` with `patch` applied; neither argument is changed.

    A plane that is absent takes keys like an empty object, but is not created by deletions alone.

    Args:
        planes: The present planes of one scope.
        patch: Authored patches of its planes, or a net patch. In a net patch `None` removes a whole plane.
        place: Where `patch` stands in the request.

    Returns:
        `planes` itself when nothing changes.

    Raises:
        InvalidPatch: A null would become state.
        WrongKind: A selector key over something else than an array.
        OutOfBounds: An element that the array does not have.

    Source: state.md sections 8.2 and 8.3.

    >>> apply({"lazy": {"m": [1, 2], "n": 3}}, {"lazy": {"m": {"[1]": 9}, "n": None}})
    {'lazy': {'m': [1, 9]}}
    """
    updates: dict[str, Json] = {}
    for name, part in patch.items():
        before = planes.get(name, NOTHING)
        if part is None:
            if name in planes:
                updates[name] = None
        elif (after := _merged(before, part, place, name)) is not before:
            updates[name] = after
    return _updated(planes, updates)


def net(before: Mapping[str, Json], after: Mapping[str, Json], *forms: Json) -> dict[str, Json]:
    """Return the merge patch that turns `before` into `after`, with nothing in it that did not change.

    Arrays are recorded whole, except where one of the forms addressed elements of one that kept its length. Only what
    the forms name is looked at, so that a record costs what was patched and not what is stored.

    Args:
        before: An object, such as the planes of a scope.
        after: The same object later.
        forms: The patches that led there. Together they name every change; `None` says that anything may have changed.

    Returns:
        An empty object when nothing changed; else a patch with `apply(before, patch) == after`.

    Source: state.md section 7.2.

    >>> net({"a": {"x": 1, "y": 2}, "l": [1, 2]}, {"a": {"x": 1}, "l": [1, 3]}, {"a": {"y": None}, "l": {"[1]": 3}})
    {'a': {'y': None}, 'l': {'[1]': 3}}
    """
    record: dict[str, Json] = {}
    for key in _named(before, after, forms):
        old, new = before.get(key), after.get(key)
        if old is new:
            continue
        inner = [form[key] if isinstance(form, dict) else None for form in forms if not _passes_over(form, key)]
        if objects := _as_objects(old, new, inner):
            if change := net(*objects, *inner):
                record[key] = change
        elif not equal(old, new):
            record[key] = new
    return record


def _planes(planes: Json, place: Place, example: str) -> Planes:
    """Return the patches of one scope's planes, all of them checked."""
    if not isinstance(planes, dict):
        raise advice.not_an_object(planes, place, example)
    for name, plane in planes.items():
        if name not in PATCHABLE_PLANES:
            raise advice.unknown_plane(name, Place(place, name), example)
        if not isinstance(plane, dict):
            raise advice.not_a_plane(plane, Place(place, name), example)
        if flaw := flaw_of(plane, Place(place, name), patching=True):
            raise advice.unstorable_value(flaw, example)
    return cast("Planes", in_order(planes))


def _check_not_empty(scopes: Mapping[ScopeName, Planes], places: Mapping[ScopeName, Place], example: str) -> None:
    """Refuse an empty object at root, scope or plane level; deeper it is a value (state.md section 8.1)."""
    if not scopes:
        raise advice.empty(PATCH, example)
    for scope, planes in scopes.items():
        if not planes:
            raise advice.empty(places[scope], example)
        for name, plane in planes.items():
            if not plane:
                raise advice.empty(Place(places[scope], name), example)


def _merged(current: Json, patch: Json, parent: Place, step: str) -> Json:
    """Return the value that `patch` makes of `current`, which is there; `current` itself when they are equal.

    Most of what is patched is a scalar, for which no place is built.
    """
    if isinstance(patch, dict):
        place = Place(parent, step)
        if _addresses_elements(patch):
            return _with_elements(current, patch, place)
        if isinstance(current, dict):
            return _with_members(current, patch, place)
        _check_creatable(patch, place)
    return current if equal(current, patch) else patch


def _with_members(current: Mapping[str, Json], patch: Mapping[str, Json], place: Place) -> Mapping[str, Json]:
    updates: dict[str, Json] = {}
    for key, part in patch.items():
        if key not in current:
            if part is not None:
                _check_creatable(part, Place(place, key))
                updates[key] = part
        elif part is None:
            updates[key] = None
        elif (after := _merged(current[key], part, place, key)) is not current[key]:
            updates[key] = after
    return _updated(current, updates)


def _updated(current: Mapping[str, Json], updates: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return `current` with `updates`, in which `None` removes; `current` itself when there are none."""
    if not updates:
        return current
    members = {**current, **updates}
    for key, value in updates.items():
        if value is None:
            del members[key]
    if updates.keys() <= current.keys():
        return members
    # Keys are kept in canonical order, and new ones came in at the end, where those of a growing log belong anyway.
    names = sorted(members)
    return members if names == list(members) else {name: members[name] for name in names}


def _with_elements(current: Json, patch: Mapping[str, Json], place: Place) -> Json:
    """Return an array with the addressed elements patched; the others are shared."""
    if not isinstance(current, list):
        raise advice.not_an_array(Place(place, next(iter(patch))), describe(current))
    elements = list(current)
    for key, part in patch.items():
        position = position_of(key[1:-1])
        if position >= len(elements):
            raise advice.no_such_element(Place(place, key), len(elements))
        elements[position] = _merged(elements[position], part, place, key)
    unchanged = all(new is old for new, old in zip(elements, current, strict=True))
    return current if unchanged else elements


def _check_creatable(patch: Json, place: Place) -> None:
    """Refuse nulls and selectors in an object that becomes a value as a whole (D 23).

    Arrays need no look: what is inside of them was refused when the patch was parsed.
    """
    if not isinstance(patch, dict):
        return
    for key, part in patch.items():
        if part is None:
            raise advice.retained_null(Place(place, key))
        if is_selector(key):
            raise advice.not_an_array(Place(place, key), "nothing yet")
        _check_creatable(part, Place(place, key))


def _addresses_elements(patch: Json) -> TypeGuard[dict[str, Json]]:
    """Tell whether a patch object has selector keys; a parsed one has them alone or not at all."""
    return isinstance(patch, dict) and is_selector(next(iter(patch), ""))


def _passes_over(form: Json, key: str) -> bool:
    """Tell whether a form says that nothing changed at `key`."""
    return isinstance(form, dict) and key not in form


def _named(before: Mapping[str, Json], after: Mapping[str, Json], forms: Sequence[Json]) -> list[str]:
    """Return the keys at which `net` has to look, in canonical order."""
    patches = [form for form in forms if isinstance(form, dict)]
    objects = patches if len(patches) == len(forms) else [before, after]
    return sorted(set(chain.from_iterable(objects)))


def _as_objects(old: Json, new: Json, forms: Sequence[Json]) -> tuple[Mapping[str, Json], Mapping[str, Json]] | None:
    """Return what `net` compares inside of two values, or `None` when it records the new value whole.

    An array whose elements were addressed is compared as an object of their selector keys.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        return old, new
    if not (isinstance(old, list) and isinstance(new, list) and len(old) == len(new)):
        return None
    addressing = [form for form in forms if _addresses_elements(form)]
    if len(addressing) != len(forms):
        return None
    positions = {key: position_of(key[1:-1]) for form in addressing for key in form}
    return {key: old[at] for key, at in positions.items()}, {key: new[at] for key, at in positions.items()}
