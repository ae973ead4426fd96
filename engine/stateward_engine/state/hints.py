"""The dangling-reference hint: who still mentions a path that leads nowhere (state.md section 6).

One bounded search through what is current. It tells where a path is mentioned and nothing else: whether the target
ever existed, and where it went, is not known here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stateward_engine.state.paths import NAME, Path
from stateward_engine.state.references import REF, address, mentions
from stateward_engine.state.view import PATCHABLE_PLANES, PLANES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stateward_engine.json_value import Json
    from stateward_engine.state.paths import Root
    from stateward_engine.state.view import Selection, View

# A failed read must not cost what is stored.
VISITED_MAX: Final = 10_000
# Enough to act on; a reference that is everywhere would fill the answer.
PATHS_MAX: Final = 3

_SEARCHED: Final = [plane for plane in PLANES if plane in PATCHABLE_PLANES]
_PATH: Final = "$path"
_MESSAGE: Final = "the value is not available in the selected state; the listed places reference it"


def hinted(view: View, selection: Selection, path: Path, root: Root) -> dict[str, Json] | None:
    """Return the answer for a path that leads nowhere at the current boundary, or `None` when nothing mentions it.

    Args:
        view: What is current.
        selection: Only its wanted owners are searched; a sole owner's places are relative.
        path: What was asked for, without a temporal index or with index 0.
        root: What its root is bound to.
    """
    roots: tuple[Root | None, ...] = ("effective", None) if root == "effective" else (root,)
    candidates = {Path(name, "0", path.selectors) for name in roots}
    found: dict[str, None] = {}
    for visited, (place, value) in enumerate(_nodes(view, selection)):
        if visited == VISITED_MAX or len(found) == PATHS_MAX:
            break
        if any(mention in candidates for mention in _addresses(value)):
            found[place] = None
    if not found:
        return None
    return {"value": None, "hint": [{"type": "dangling-reference", "message": _MESSAGE, "paths": list(found)}]}


def _addresses(value: Json) -> Iterable[Path]:
    """Return the addresses that one value mentions itself, its children not included."""
    if isinstance(value, str):
        return mentions(value)
    if not isinstance(value, dict):
        return ()
    texts = [value.get(REF), value.get(_PATH)]
    return [path for text in texts if isinstance(text, str) and (path := address(text)) is not None]


def _nodes(view: View, selection: Selection) -> Iterator[tuple[str, Json]]:
    """Yield every value in scan order, each with its path or that of its deepest addressable ancestor.

    Scopes go by precedence, planes by their table, keys by code point as they are stored; a node comes before its
    children. Iterators and no recursion, so that the search can stop anywhere without having looked further.
    """
    sole = len(selection.wanted) == 1
    for scope, planes in view.planes(selection).items():
        for plane in _SEARCHED:
            if plane in planes:
                place = plane if sole else f"{scope}.{plane}"
                yield from _below(place, planes[plane])


def _below(place: str, value: Json) -> Iterator[tuple[str, Json]]:
    """Yield a value and everything inside of it."""
    yield place, value
    pending = [_children(place, value, addressable=True)]
    while pending:
        child = next(pending[-1], None)
        if child is None:
            pending.pop()
            continue
        inner, part, addressable = child
        yield inner, part
        pending.append(_children(inner, part, addressable=addressable))


def _children(place: str, value: Json, *, addressable: bool) -> Iterator[tuple[str, Json, bool]]:
    """Yield each child with its place, and whether a path can go on from there."""
    if isinstance(value, dict):
        for key, member in value.items():
            named = addressable and NAME.fullmatch(key) is not None
            yield (f"{place}.{key}" if named else place), member, named
    elif isinstance(value, list):
        for at, element in enumerate(value):
            yield (f"{place}[{at}]" if addressable else place), element, addressable
