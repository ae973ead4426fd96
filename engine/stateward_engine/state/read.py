"""`read_state`: one path or a batch of them, answered exactly from one captured view, or refused.

An answer shares its parts with the view. Nobody may change it.

Source: state.md section 4.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast

from stateward_engine.errors import (
    EngineError,
    HistoryUnavailable,
    InvalidRequest,
    MissingPath,
    OutOfBounds,
    TooLarge,
)
from stateward_engine.json_value import PARAMS, Json, Place, encodable, kind_of, preview, quoted, utf16_length
from stateward_engine.state.difference import differences, nested
from stateward_engine.state.hints import hinted
from stateward_engine.state.history import boundary, transitions
from stateward_engine.state.overlay import Layers, fold, keys, layers_of, member
from stateward_engine.state.patch_projection import patch_at
from stateward_engine.state.paths import Member, Path, Root, bind, lone_plane, parse, position_of, render
from stateward_engine.state.references import REF, relative
from stateward_engine.state.resolve import call, resolve
from stateward_engine.state.storable import unwanted
from stateward_engine.state.view import in_table_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.state.view import Planes, ScopeName, Selection, View

Projection: TypeAlias = Literal["value", "keys", "patch"]

PROJECTIONS: Final[tuple[Projection, ...]] = ("value", "keys", "patch")
# A path is parsed by one expression, and each path of a batch is a read of its own: without these bounds one message
# would hold up everybody for as long as it can be long.
PATH_LENGTH_MAX: Final = 64 * 1024
PATHS_MAX: Final = 10_000
_MEMBERS: Final = ("path", "paths", "projection")
_EXAMPLE: Final = call("cwd.tactics")
_BATCH_EXAMPLE: Final = '{"paths": ["cwd.tactics", "effective.lazy.memory[0]"]}'
# What older or neighboring tools have as members stands in the path here.
_UNKNOWN_ADVICE: Final[Mapping[str, tuple[str, str]]] = {
    "offset": ("history is part of the path, as in cwd[1].tactics", call("cwd[1].tactics")),
    "scope": ("the owner is part of the path, as in cwd.tactics", _EXAMPLE),
    "limit": ("a range is part of the path, as in cwd.lazy.memory[0:10]", call("cwd.lazy.memory[0:10]")),
}


class ReadRequest(NamedTuple):
    """What to read.

    Attributes:
        paths: The paths as they came, in the order of the answer; at least one.
        batch: Whether they came as a list: the form of the request decides the form of the answer (D 8).
        projection: One for all paths.
    """

    paths: tuple[str, ...]
    batch: bool = False
    projection: Projection = "value"


def parse_request(members: Mapping[str, Json]) -> ReadRequest:
    """Return the request that a client sent.

    Args:
        members: The params of the call: `path` or `paths`, and optionally `projection`.

    Raises:
        InvalidRequest: Anything else; the facts `path`, `got`, `wanted` and `example` say what is right.
        TooLarge: A path of more than `PATH_LENGTH_MAX` characters, or more than `PATHS_MAX` of them.

    >>> parse_request({"path": "cwd.tactics"})
    ReadRequest(paths=('cwd.tactics',), batch=False, projection='value')
    """
    for name in members:
        if name not in _MEMBERS:
            advice, example = _UNKNOWN_ADVICE.get(name, (f"the members are {', '.join(_MEMBERS)}", _EXAMPLE))
            got, wanted = f"member {quoted(name)}", "path or paths, and projection"
            raise _invalid(f"no member of a read; {advice}", name, got, wanted, example)
    if ("path" in members) == ("paths" in members):
        got = "both" if "path" in members else "neither"
        raise _invalid(
            f"to be sent without path, or path without it; {got} came", "paths", got, "one of them", _EXAMPLE
        )
    batch = "paths" in members
    paths = _paths_of(members["paths"]) if batch else (_path_of(members["path"], Place(PARAMS, "path")),)
    return ReadRequest(paths, batch, _projection_of(members.get("projection", "value")))


def read(view: View, selection: Selection, request: ReadRequest) -> dict[str, Json]:
    """Return the answer: `value`, or `meta` and `keys`, or `patch`; one entry per path in a batch.

    A single value that is not there, but mentioned somewhere, is answered as null with a `hint`.

    All paths are parsed before any is evaluated; then the first that fails, in the order of the request, is the
    answer of the whole call (D 9).

    Args:
        view: Captured once by the caller, so that all paths see the same moment.
        selection: Whose owners are read.
        request: What to read.

    Raises:
        MalformedPath: A path outside of the grammar.
        UnwantedOwner: A root that is not wanted.
        HistoryUnavailable: A boundary that is not kept, or a record where none led to the boundary.
        MissingPath: Something on the way is no object with the next key.
        WrongKind: An index or range on something that is no array.
        OutOfBounds: An index or range outside of its array.
    """
    paths = [parse(text) for text in request.paths]
    if request.projection == "value" and not request.batch:
        return _single(view, selection, paths[0])
    columns: dict[str, list[Json]]
    if request.projection == "value":
        columns = {"value": [_value(view, selection, path) for path in paths]}
    elif request.projection == "keys":
        outlines = [_outline(view, selection, path) for path in paths]
        columns = {"meta": [meta for meta, _ in outlines], "keys": [names for _, names in outlines]}
    else:
        columns = {"patch": [_patch(view, selection, path) for path in paths]}
    if request.batch:
        return dict(columns)
    return {name: column[0] for name, column in columns.items()}


def standing(view: View, selection: Selection, path: Path) -> Layers:
    """Return the layers that a path leads to, none where it leads to nothing.

    As long as they are the same objects, what is read there is the same: a value that was published is never changed.
    """
    try:
        root, layers = _start(view, selection, path)
        return resolve(layers, path, root)
    except EngineError:
        return ()


def _paths_of(value: Json) -> tuple[str, ...]:
    if not isinstance(value, list):
        mistake = "a JSON string; send the list itself, or one path as path" if isinstance(value, str) else "no list"
        raise _invalid(mistake, "paths", preview(value), "a list of paths", _BATCH_EXAMPLE)
    if not value:
        raise _invalid("empty; send at least one path", "paths", preview(value), "a list of paths", _BATCH_EXAMPLE)
    place = Place(PARAMS, "paths")
    if len(value) > PATHS_MAX:
        raise TooLarge(
            f"{place} has {len(value)} paths, and a call at most {PATHS_MAX}; send several calls",
            limit="max_paths",
            path=str(place),
            wanted=f"at most {PATHS_MAX} paths",
        )
    return tuple(_path_of(path, Place(place, at)) for at, path in enumerate(value))


def _path_of(value: Json, place: Place) -> str:
    if isinstance(value, str) and encodable(value):
        if len(value) > PATH_LENGTH_MAX:
            raise TooLarge(
                f"{place} has {len(value)} characters, and a path at most {PATH_LENGTH_MAX}; read a parent of it",
                limit="max_path_length",
                path=str(place),
                wanted=f"at most {PATH_LENGTH_MAX} characters",
            )
        return value
    problem = "no path; send a string" if not isinstance(value, str) else "not text that UTF-8 can hold"
    if isinstance(value, list):
        problem = "a list; send several paths as paths"
    raise InvalidRequest(
        f"{place} is {problem}",
        path=str(place),
        got=preview(value),
        wanted="a path",
        example=_BATCH_EXAMPLE if isinstance(value, list) else _EXAMPLE,
    )


def _projection_of(value: Json) -> Projection:
    for projection in PROJECTIONS:
        if value == projection:
            return projection
    wanted = f"one of {', '.join(PROJECTIONS)}"
    raise _invalid(f"no projection; send {wanted}", "projection", preview(value), wanted, call("cwd.lazy", "keys"))


def _invalid(problem: str, name: str, got: str, wanted: str, example: str) -> InvalidRequest:
    place = str(Place(PARAMS, name))
    return InvalidRequest(f"{place} is {problem}", path=place, got=got, wanted=wanted, example=example)


def _single(view: View, selection: Selection, path: Path) -> dict[str, Json]:
    """Answer the one form of a read that may end in a hint (state.md section 6)."""
    try:
        return {"value": _value(view, selection, path)}
    except (MissingPath, OutOfBounds):
        answer = hinted(view, selection, path, bind(path, selection.wanted)) if path.offset == "0" else None
        if answer is None:
            raise
        return answer


def _value(view: View, selection: Selection, path: Path) -> Json:
    """Return the selected JSON; null for a plane that is absent, and for nothing else (state.md section 4.1)."""
    root, layers = _start(view, selection, path)
    if not path.selectors:
        return _shown(in_table_order(cast("Planes", fold(layers))), selection, path)
    if (plane := lone_plane(path)) and not member(layers, plane):
        return None
    return _shown(fold(resolve(layers, path, root)), selection, path)


def _outline(view: View, selection: Selection, path: Path) -> tuple[Json, Json]:
    """Return `meta` and `keys`, both closed (state.md section 4.2)."""
    root, layers = _start(view, selection, path)
    layers = resolve(layers, path, root)
    value = layers[-1]
    if isinstance(value, str):
        value = _shown(value, selection, path)
    kind = kind_of(value)
    if isinstance(value, dict):
        present = keys(layers)
        ordered = sorted(present) if path.selectors else list(in_table_order(dict.fromkeys(present)))
        kinds: Json = {name: kind_of(member(layers, name)[-1]) for name in ordered}
        return {"type": kind, "size": len(ordered)}, kinds
    if isinstance(value, list):
        return {"type": kind, "length": len(value)}, []
    if isinstance(value, str):
        return {"type": kind, "length": utf16_length(value)}, []
    return {"type": kind}, []


def _patch(view: View, selection: Selection, path: Path) -> Json:
    """Return what the transition that led to the boundary did to the path (state.md section 7.3)."""
    root = _owner(selection, path)
    kept = transitions(view, selection)
    if not kept:
        raise _not_recorded(path, "no boundary has one")
    offset = position_of(path.offset)
    if offset >= len(kept):
        raise _not_recorded(path, f"offsets 0 to {len(kept) - 1} have one")
    sequence = kept[offset]
    before = view.planes(selection, sequence - 1)
    after = view.planes(selection, boundary(view, kept, offset))
    records = {scope: view.scope(selection.identity(scope)).recorded(sequence) for scope in selection.wanted}
    if root == "effective":
        owners = [(before[scope], after[scope], records[scope]) for scope in selection.wanted]
        record: Mapping[str, Json] = nested(differences(owners, elements=False))
    else:
        record = records[root]
    if not path.selectors:
        return _shown(in_table_order(record), selection, path)
    patch = patch_at(path, root, before=_layers(before, root), after=_layers(after, root), record=record)
    return _shown(patch, selection, path)


def _start(view: View, selection: Selection, path: Path) -> tuple[Root, Layers]:
    """Return the root that `path` is bound to, and its layers at the boundary of the path."""
    root = _owner(selection, path)
    sequence = None
    if path.offset != "0":
        kept, offset = transitions(view, selection), position_of(path.offset)
        if offset > len(kept):
            raise _not_kept(path, len(kept))
        sequence = boundary(view, kept, offset)
    if root == "effective":
        return root, layers_of(view.planes(selection, sequence).values())
    return root, layers_of([view.scope(selection.identity(root)).at(sequence)])


def _shown(value: Json, selection: Selection, path: Path) -> Json:
    """Return what was selected as the client sees it: a sole owner's references are relative (state.md section 5.1)."""
    if len(selection.wanted) != 1:
        return value
    return relative(value, selection.wanted[0], referring=path.selectors[-1:] == (Member(REF),))


def _layers(planes: Mapping[ScopeName, Planes], root: Root) -> Layers:
    return layers_of(planes.values() if root == "effective" else [planes[root]])


def _not_kept(path: Path, oldest: int) -> HistoryUnavailable:
    current = render(replace(path, offset="0", indexed=False))
    return HistoryUnavailable(
        f"that boundary is not kept; the oldest that is has offset {oldest}",
        path=path.source,
        wanted=f"an offset from 0 to {oldest}",
        example=call(current if oldest == 0 else render(replace(path, offset=str(oldest), indexed=True))),
    )


def _not_recorded(path: Path, which: str) -> HistoryUnavailable:
    """Return the refusal of a record where none is kept: nothing led to the oldest kept boundary (D 6)."""
    return HistoryUnavailable(
        f"no record is kept of what led to that boundary ({which}); read its value",
        path=path.source,
        got="projection patch",
        wanted="projection value or keys",
        example=_EXAMPLE,
    )


def _owner(selection: Selection, path: Path) -> Root:
    root = bind(path, selection.wanted)
    if root != "effective" and root not in selection.wanted:
        raise unwanted(root, selection.wanted, path=path.source, example=call(f"{selection.wanted[0]}.tactics"))
    return root
