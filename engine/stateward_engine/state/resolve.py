"""From a path to what it selects, or to the error that says where it went wrong (state.md section 3.1)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from stateward_engine.errors import MissingPath, OutOfBounds, WrongKind
from stateward_engine.json_value import Json, describe, quoted
from stateward_engine.state.closest import closest
from stateward_engine.state.overlay import Layers, keys, member
from stateward_engine.state.paths import Index, Member, Path, Range, Root, position_of, render
from stateward_engine.state.view import PLANES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stateward_engine.state.paths import Selector


def resolve(layers: Layers, path: Path, root: Root) -> Layers:
    """Return the layers at the end of `path`.

    Args:
        layers: The root layers of the view that `path` starts in.
        path: Its selectors are taken from left to right.
        root: What the path's root is bound to; errors speak of it.

    Raises:
        MissingPath: A member of something that is no object with that key.
        WrongKind: An index or range on something that is no array.
        OutOfBounds: An index not below the length, or a range that does not fit wholly.
    """
    for done, selector in enumerate(path.selectors):
        if not isinstance(selector, Member):
            layers = (_selected(layers[-1], selector, path, done),)
        elif found := member(layers, selector.name):
            layers = found
        else:
            raise _missing(layers, selector.name, path, root, done)
    return layers


def call(path: str, projection: str | None = None) -> str:
    """Return the request for one path, as an example that can be sent as it is."""
    return json.dumps({"path": path} if projection is None else {"path": path, "projection": projection})


def _selected(value: Json, selector: Index | Range, path: Path, done: int) -> Json:
    """Return the element or slice of an array."""
    if not isinstance(value, list):
        here = _so_far(path, done)
        raise WrongKind(
            f"{here} is {describe(value)}; an index or range needs an array",
            path=path.source,
            got=describe(value),
            wanted="an array",
            example=call(here),
        )
    if isinstance(selector, Index):
        position = position_of(selector.digits)
        if position < len(value):
            element: Json = value[position]
            return element
        raise _outside(f"an index from 0 to {len(value) - 1}", len(value), path, done)
    start, end = position_of(selector.start), position_of(selector.end)
    if start <= end <= len(value):
        return value[start:end]
    raise _outside(f"a range [a:b] with 0 <= a <= b <= {len(value)}", len(value), path, done)


def _outside(wanted: str, length: int, path: Path, done: int) -> OutOfBounds:
    here = _so_far(path, done)
    return OutOfBounds(
        f"{here} has length {length}; ask for what is inside of it, such as [0:{length}]",
        path=path.source,
        got=f"an array of length {length}",
        wanted=wanted if length else "the range [0:0]",
        example=call(f"{here}[0:{length}]"),
    )


def _missing(layers: Layers, name: str, path: Path, root: Root, done: int) -> MissingPath:
    """Return the error for a member that is not there, with the help that what is there allows."""
    # An unscoped path begins below a root that it does not spell.
    here = _so_far(path, done) or root
    value = layers[-1]
    if not isinstance(value, dict):
        return MissingPath(
            f"{here} is {describe(value)} and has no members",
            path=path.source,
            got=describe(value),
            wanted="an object",
            example=call(f"{here}[0]" if isinstance(value, list) and value else here),
        )
    present = keys(layers)
    if dotted := _dotted_key(present, path.selectors[done:]):
        return MissingPath(
            f"{here} has no key {name}, but {quoted(dotted)}, which no path can spell; read {here}",
            path=path.source,
            wanted=f"a key of {here}",
            example=call(here),
            did_you_mean=[dotted],
        )
    if not done and name in PLANES:
        return MissingPath(
            f"{here} has no {name} yet; read its keys to see what there is",
            path=path.source,
            wanted=f"a plane that {here} has",
            example=call(here, "keys"),
        )
    return MissingPath(
        f"{here} has no key {name}; read its keys to see what there is",
        path=path.source,
        wanted=f"a key of {here}",
        example=call(here, "keys"),
        did_you_mean=closest(name, present if done else PLANES),
    )


def _dotted_key(present: Sequence[str], rest: Sequence[Selector]) -> str | None:
    """Return the longest of the keys at one level that the rest of a path spells with its dots."""
    names: list[str] = []
    for selector in rest:
        if not isinstance(selector, Member):
            break
        names.append(selector.name)
    spelled = ".".join(names) + "."
    matches = [key for key in present if "." in key and spelled.startswith(key + ".")]
    return max(matches, key=len, default=None)


def _so_far(path: Path, done: int) -> str:
    """Return the text of `path` up to its first `done` selectors."""
    return render(replace(path, selectors=path.selectors[:done]))
