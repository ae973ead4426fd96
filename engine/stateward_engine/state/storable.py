"""What a scope may hold, checked before anything is decided (state.md sections 2.4, 2.5 and 8.3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from stateward_engine.errors import UnwantedOwner
from stateward_engine.json_value import Json, Place, encodable, unstorable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stateward_engine.state.view import ScopeName

# A value is walked recursively, so its depth is our stack depth; every host bounds that somewhere.
DEPTH_MAX: Final = 256

# Reserved in every patch, so that a mistaken selector is refused and does not become a key.
SELECTOR_KEY: Final = re.compile(r"\[[0-9:.+-]*\]")
CANONICAL_SELECTOR_KEY: Final = re.compile(r"\[(?:0|[1-9][0-9]*)\]")

_STORABLE: Final = "a finite number, an integer within 2^53-1, or text that UTF-8 can hold"


class Flaw(NamedTuple):
    """Why a value cannot be stored.

    Attributes:
        place: Where in the request.
        got: What is there, as a noun phrase without content.
        wanted: What can be there, as a noun phrase.
        example: A right patch for that place, where there is a likely intention.
    """

    place: Place
    got: str
    wanted: str
    example: str | None = None

    def __str__(self) -> str:
        return f"{self.place} is {self.got}; send {self.wanted}"


def is_selector(key: str) -> bool:
    """Tell whether `key` is reserved for array elements, canonical or not."""
    return key.startswith("[") and SELECTOR_KEY.fullmatch(key) is not None


def flaw_of(container: Json, place: Place, *, patching: bool, depth: int = 1) -> Flaw | None:
    """Return the first flaw inside of an object or array, or `None`.

    Args:
        container: A plane, or an object or array inside of one.
        place: Where it stands in the request.
        patching: Whether it is a patch, in which null deletes and selector keys address; otherwise it becomes state
            as it is. What stands inside an array always becomes state.
        depth: Containers entered, this one included; a plane is the first.
    """
    if depth > DEPTH_MAX:
        return Flaw(place, "one container too deep", f"at most {DEPTH_MAX} containers inside one another")
    children: Iterable[tuple[str | int, Json]]
    if isinstance(container, dict):
        if flaw := _flaw_of_keys(container, place, patching=patching):
            return flaw
        children = container.items()
    else:
        patching, children = False, enumerate(cast("list[Json]", container))
    for step, child in children:
        # A large array is mostly scalars in order, for which no place is built.
        if isinstance(child, (dict, list)):
            flaw = flaw_of(child, Place(place, step), patching=patching, depth=depth + 1)
        elif unstorable(child) or (child is None and not patching):
            flaw = flaw_of_scalar(child, Place(place, step))
        else:
            continue
        if flaw:
            return flaw
    return None


def flaw_of_scalar(scalar: Json, place: Place) -> Flaw | None:
    """Return why a scalar cannot become state, or `None`."""
    if scalar is None:
        return Flaw(place, "null", "a value, since null only deletes a key of an object")
    problem = unstorable(scalar)
    return Flaw(place, problem, _STORABLE) if problem else None


def unwanted(owner: str, wanted: Sequence[ScopeName], *, path: str, example: str) -> UnwantedOwner:
    """Return the error for naming an owner that this client did not select.

    Args:
        owner: The owner that was named.
        wanted: The owners of this client.
        path: Where it was named.
        example: A right call of the same method.
    """
    return UnwantedOwner(
        f"{owner} is not among the wanted owners of this connection; use {' or '.join(wanted)}, or attach again",
        path=path,
        got=owner,
        wanted=", ".join(wanted),
        example=example,
    )


def _flaw_of_keys(members: Mapping[str, Json], place: Place, *, patching: bool) -> Flaw | None:
    for key in members:
        if not (key.isascii() or encodable(key)):
            return Flaw(Place(place, key), "under a key with an unpaired surrogate", "a key that UTF-8 can hold")
    selectors = [key for key in members if is_selector(key)]
    if not selectors:
        return None
    if not patching:
        return Flaw(
            Place(place, selectors[0]),
            "under an element selector inside a value that is stored whole",
            "an ordinary key, or selectors directly over an existing array",
        )
    return _flaw_of_selectors(members, selectors, place)


def _flaw_of_selectors(members: Mapping[str, Json], selectors: Sequence[str], place: Place) -> Flaw | None:
    """Return the flaw of a patch object with selector keys: canonical ones alone, and no null."""
    example = '{"[0]": "the new first element"}'
    for key in selectors:
        if not CANONICAL_SELECTOR_KEY.fullmatch(key):
            wanted = "one plain index such as [0] for each element, or the whole new array"
            return Flaw(Place(place, key), "under a malformed element selector", wanted, example)
        if members[key] is None:
            wanted = "a new value; to remove an element, send the whole new array"
            return Flaw(Place(place, key), "null for an array element", wanted, example)
    for key in members:
        if not is_selector(key):
            wanted = "either element selectors alone, or the whole new value"
            return Flaw(Place(place, key), "a named key beside element selectors", wanted, example)
    return None
