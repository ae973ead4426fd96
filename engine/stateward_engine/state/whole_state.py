"""Whole states, as they are exported and imported, with their declared external roots (state.md section 13).

External roots are the member `roots` of a whole state: from each name to its `declaration` and, where it has one, its
`value`. They are kept and shown, and nothing else: never patched, never loaded, never spelled without a scope. In a
scope their values stand beside the planes, so that every view shows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from stateward_engine.errors import CorruptStore, InvalidRequest
from stateward_engine.json_value import PARAMS, Json, Place, describe, in_order, preview, quoted, unstorable
from stateward_engine.state.overlay import present
from stateward_engine.state.paths import NAME, ROOTS
from stateward_engine.state.storable import Flaw, flaw_of, flaw_of_scalar, unwanted
from stateward_engine.state.view import PLANES, SCOPES, Planes, Scope, ScopeName, in_table_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

IMPORT: Final = Place(PARAMS, "scopes")
_EXTERNAL: Final = "roots"
# A root of one of these names would change what a path means.
_TAKEN: Final = frozenset({*PLANES, *ROOTS, "patches"})
_IMPORT_EXAMPLE: Final = '{"scopes": {"cwd": {"tactics": {"next": "read the log"}}}}'


def parse_scopes(scopes: Json, wanted: Sequence[ScopeName]) -> dict[ScopeName, Planes]:
    """Return the whole states of an import, in precedence order.

    Args:
        scopes: From the client: an object from scope names to objects of planes. Planes may be empty, and every scope
            may have a `response` and declared `roots`.
        wanted: The owners of this client.

    Raises:
        InvalidRequest: No such object, a plane that is not part of the model, or a value that cannot be stored.
        UnwantedOwner: A scope that is not wanted.

        CorruptStore: A declared root whose name is taken or that no path can spell.

    Source: protocol.md section 3, `import_state`; state.md section 13.
    """
    if not isinstance(scopes, dict):
        raise _not_importable(Flaw(IMPORT, preview(scopes), "an object from scope names to their planes"))
    for name in scopes:
        if name not in SCOPES:
            raise _not_importable(Flaw(Place(IMPORT, name), "no scope", f"one of {', '.join(SCOPES)}"))
        if name not in wanted:
            example = _IMPORT_EXAMPLE.replace("cwd", wanted[0])
            raise unwanted(name, wanted, path=str(Place(IMPORT, name)), example=example)
    return {name: _whole_state(scopes[name], Place(IMPORT, name)) for name in SCOPES if name in scopes}


def exported(scope: Scope) -> dict[str, Json]:
    """Return the whole state of a scope, as `parse_scopes` takes it."""
    state = in_table_order({name: plane for name, plane in scope.planes.items() if name not in scope.declarations})
    if scope.declarations:
        state[_EXTERNAL] = {
            name: {"declaration": declaration, **({"value": scope.planes[name]} if name in scope.planes else {})}
            for name, declaration in scope.declarations.items()
        }
    return state


def begun(state: Planes, *, revision: int, since: int) -> Scope:
    """Return the scope that begins with a whole state at the ledger sequence `since`."""
    roots = cast("Mapping[str, Any]", state.get(_EXTERNAL, {}))
    planes = {name: plane for name, plane in state.items() if name != _EXTERNAL}
    planes |= {name: in_order(root["value"]) for name, root in roots.items() if "value" in root}
    declarations = {name: root["declaration"] for name, root in roots.items()}
    return Scope(planes, revision, since, touched=since, declarations=declarations)


def _whole_state(state: Json, place: Place) -> Planes:
    if not isinstance(state, dict):
        raise _not_importable(Flaw(place, describe(state), "an object of planes"))
    for name, plane in state.items():
        if name == _EXTERNAL:
            _check_roots(plane, Place(place, name))
        elif flaw := _flaw_of_plane(name, plane, Place(place, name)):
            raise _not_importable(flaw)
    return {name: plane if name == _EXTERNAL else in_order(plane) for name, plane in present(state).items()}


def _check_roots(roots: Json, place: Place) -> None:
    """Refuse external roots that are not declared as they have to be; what a declaration says is not our matter."""
    if not isinstance(roots, dict):
        raise _not_importable(Flaw(place, describe(roots), "an object of declared roots"))
    for name, root in roots.items():
        if name in _TAKEN or not NAME.fullmatch(name):
            raise CorruptStore(
                f"{place} declares a root {quoted(name)}, which is taken or no name; "
                "export it again from a store that is in order",
                path=str(Place(place, name)),
                wanted="a name that a path can spell and that means nothing yet",
            )
        if flaw := _flaw_of_root(root, Place(place, name)):
            raise _not_importable(flaw)


def _flaw_of_root(root: Json, place: Place) -> Flaw | None:
    if not isinstance(root, dict) or not {"declaration"} <= root.keys() <= {"declaration", "value"}:
        return Flaw(place, describe(root), "an object of a declaration and, where there is one, a value")
    if "value" not in root:
        return None
    value, inside = root["value"], Place(place, "value")
    if isinstance(value, (dict, list)):
        return flaw_of(value, inside, patching=False)
    return flaw_of_scalar(value, inside)


def _flaw_of_plane(name: str, plane: Json, place: Place) -> Flaw | None:
    if name not in PLANES:
        return Flaw(place, "no plane", f"one of {', '.join(PLANES)}")
    if name == "response":
        problem = unstorable(plane) if isinstance(plane, str) else describe(plane)
        return Flaw(place, problem, "a string that UTF-8 can hold") if problem else None
    if not isinstance(plane, dict):
        return Flaw(place, describe(plane), "an object")
    return flaw_of(plane, place, patching=False)


def _not_importable(flaw: Flaw) -> InvalidRequest:
    return InvalidRequest(
        str(flaw), path=str(flaw.place), got=flaw.got, wanted=flaw.wanted, example=flaw.example or _IMPORT_EXAMPLE
    )
