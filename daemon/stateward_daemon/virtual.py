"""Virtual documents: state and projections as texts that editors open and nobody writes.

A URI is a read path with slashes for its dots, as in `stateward:/cwd/lazy/plan.json`. With `?keys` it shows keys and
kinds alone. `stateward:/projection/home/ada/project/ACTIVE_GOAL_STATE.md.json` is the projection of that document.
Source: editors.md section 1.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote, unquote

from stateward_daemon import convert
from stateward_daemon.documents import quoted_path
from stateward_daemon.pretty import TEXT_LENGTH_MAX, Steps, TooLong, pretty
from stateward_engine.errors import EngineError, MalformedPath
from stateward_engine.json_value import kind_of, utf16_length
from stateward_engine.state.paths import Index, Member, bind, parse, position_of, render
from stateward_engine.state.paths import Path as StatePath
from stateward_engine.state.read import Projection, ReadRequest, read
from stateward_protocol.errors import WireError, shortened

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_engine.goals.lines import Span
    from stateward_engine.json_value import Json
    from stateward_engine.state.view import Selection, View

SCHEME: Final = "stateward"

_SUFFIX: Final = ".json"
_KEYS: Final = "keys"
_PROJECTION: Final = "/projection/"
_PREFIX: Final = f"{SCHEME}:/"


class StateName(NamedTuple):
    """What a URI names in the state.

    Attributes:
        path: Where.
        projection: Whether its value is shown, or keys and kinds.
    """

    path: StatePath
    projection: Projection


class VirtualDocument(NamedTuple):
    """A virtual document as it is now.

    Attributes:
        uri: Its URI, in the one spelling.
        text: JSON.
        whole: Whether the text is all of what the URI names. Otherwise its member `cut_off` says what is left out.
    """

    uri: str
    text: str
    whole: bool


class Target(NamedTuple):
    """Where a value of the state stands in a virtual document.

    Attributes:
        document: The document.
        whole: The span of the value with its key.
        name: The span of the key.
    """

    document: VirtualDocument
    whole: Span
    name: Span


def state_uri(path: StatePath, projection: Projection = "value") -> str:
    """Return the URI of what a path leads to.

    >>> state_uri(parse("cwd.lazy.memory[0]"))
    'stateward:/cwd/lazy/memory%5B0%5D.json'
    """
    return f"{_PREFIX}{quote(render(path).replace('.', '/'))}{_SUFFIX}{f'?{_KEYS}' if projection == 'keys' else ''}"


def projection_uri(path: Path) -> str:
    """Return the URI of the projection of the goal document at an absolute path.

    >>> projection_uri(Path("/home/ada/my goal.md"))
    'stateward:/projection/home/ada/my%20goal.md.json'
    """
    return f"{SCHEME}:{_PROJECTION}{quote(os.fsencode(path.relative_to('/')))}{_SUFFIX}"


def is_virtual(uri: str) -> bool:
    """Tell whether a URI names a virtual document, if it names anything."""
    return uri.startswith(f"{SCHEME}:")


def named(uri: str) -> StateName | Path:
    """Return what a URI names: a place in the state, or the document that a projection is of.

    Raises:
        WireError: `invalid_request` for every other text.

    >>> named("stateward:/cwd/lazy.json?keys").projection
    'keys'
    """
    scheme, _, rest = uri.partition(":")
    # Some clients write an empty authority.
    rest = rest.removeprefix("//") if rest.startswith("///") else rest
    rest, _, query = rest.partition("?")
    if scheme != SCHEME or not rest.startswith("/") or not rest.endswith(_SUFFIX) or query not in ("", _KEYS):
        raise _unknown(uri, "no virtual document has this URI")
    rest = rest.removesuffix(_SUFFIX)
    if rest.startswith(_PROJECTION):
        path = quoted_path(rest.removeprefix(_PROJECTION.rstrip("/")))
        if path is None:
            raise _unknown(uri, "the projection of a document is named by an absolute path without ..")
        return path
    try:
        return StateName(parse(unquote(rest).removeprefix("/").replace("/", ".")), "keys" if query else "value")
    except MalformedPath as error:
        raise _unknown(uri, f"no path of the state with slashes for dots: {error}") from None


def document_of(caller: Caller, uri: str) -> VirtualDocument:
    """Return a virtual document as it is now. It may take long.

    Raises:
        WireError: No document has that URI, `not_attached`, or the document of a projection cannot be read.
        EngineError: What is named is not there, or not the caller's to read.
    """
    name = named(uri)
    if isinstance(name, Path):
        projection = convert.projection(caller.document(str(name), None), goal_id=None, source_ref=str(name))
        return _written(projection_uri(name), projection, "stateward goal show --json has all of it")
    path = rooted(name.path, caller.selection())
    uri, advice = state_uri(path, name.projection), "open a part of it, such as"
    # In a batch, so that a hint is no answer.
    request = ReadRequest((render(path),), batch=True, projection=name.projection)
    answer = read(caller.host.store.view, caller.selection(), request)
    if name.projection == "keys":
        outline = {column: _first(rows) for column, rows in answer.items()}
        return _written(uri, outline, f"{advice} {_part_of(path, outline['keys'])}", outline)
    value = _first(answer["value"])
    return _written(uri, value, f"{advice} {_part_of(path, value)}")


def target_of(caller: Caller, text: str) -> Target | None:
    """Return where a value of the state is shown, `None` where there is none that the caller can read.

    That is the plane, or where it is too long to be shown whole the largest part of it that is not.

    Args:
        caller: Who looks.
        text: The path.
    """
    try:
        selection = caller.selection()
        path = rooted(parse(text), selection)
        for depth in range(min(1, len(path.selectors)), len(path.selectors) + 1):
            target = _shown_below(caller.host.store.view, selection, path, depth)
            if target is not None:
                return target
        return Target(document_of(caller, state_uri(path)), (0, 0), (0, 0))
    except (EngineError, WireError):
        return None


def rooted(path: StatePath, selection: Selection) -> StatePath:
    """Return a path under the root that it has for a client."""
    return replace(path, root=bind(path, selection.wanted))


def _shown_below(view: View, selection: Selection, path: StatePath, depth: int) -> Target | None:
    """Return where a path leads in the document of its first selectors, `None` when that one is not shown whole.

    Raises:
        EngineError: It leads nowhere.
    """
    outer = replace(path, selectors=path.selectors[:depth])
    read(view, selection, ReadRequest((render(path),), batch=True, projection="keys"))
    value = read(view, selection, ReadRequest((render(outer),), batch=True))["value"]
    try:
        text, whole, name = pretty(_first(value), _steps(path.selectors[depth:]))
    except TooLong:
        return None
    assert whole is not None  # noqa: S101 - the path was read in the same view
    assert name is not None  # noqa: S101 - as above
    return Target(VirtualDocument(state_uri(outer), text, whole=True), whole, name)


def _steps(selectors: tuple[object, ...]) -> Steps:
    """Return the way that selectors go, up to the first range: that leads to the array."""
    steps: list[str | int] = []
    for selector in selectors:
        if isinstance(selector, Member):
            steps.append(selector.name)
        elif isinstance(selector, Index):
            steps.append(position_of(selector.digits))
        else:
            break
    return tuple(steps)


def _written(uri: str, value: Json, advice: str, outline: dict[str, Json] | None = None) -> VirtualDocument:
    """Return a value as a document: whole, or else its outline with what is left out, or else as much as fits of that.

    Args:
        uri: Of the document.
        value: What it shows.
        advice: How to see more of what is too long.
        outline: Kind, size and keys of the value, where they are known.
    """
    try:
        return VirtualDocument(uri, pretty(value).text, whole=True)
    except TooLong:
        cut_off = f"this has more than {TEXT_LENGTH_MAX} characters and is not shown; {advice}"
        outline = outline or _outline(value)
    try:
        return VirtualDocument(uri, pretty({"cut_off": cut_off, **outline}).text, whole=False)
    except TooLong:
        return VirtualDocument(uri, pretty({"cut_off": cut_off, "meta": outline["meta"]}).text, whole=False)


def _outline(value: Json) -> dict[str, Json]:
    """Return kind, size and keys of a value, as a read of its keys does."""
    if isinstance(value, dict):
        keys = {key: "null" if member is None else kind_of(member) for key, member in value.items()}
        return {"meta": {"type": "object", "size": len(value)}, "keys": keys}
    assert isinstance(value, str | list)  # noqa: S101 - nothing else is long
    length = utf16_length(value) if isinstance(value, str) else len(value)
    return {"meta": {"type": kind_of(value), "length": length}}


def _part_of(path: StatePath, value: Json) -> str:
    """Return the URI of a part of what a path leads to, as an example."""
    first = next(iter(value), "") if isinstance(value, dict) else ""
    try:
        return state_uri(parse(f"{render(path)}.{first}" if first else f"{render(path)}[0:10]"))
    except MalformedPath:
        return state_uri(path, "keys")


def _first(column: Json) -> Json:
    assert isinstance(column, list)  # noqa: S101 - the answer to a batch
    found: Json = column[0]
    return found


def _unknown(uri: str, problem: str) -> WireError:
    return WireError(
        "invalid_request",
        problem,
        path="$.params.uri",
        got=shortened(uri),
        wanted="a URI such as stateward:/cwd/lazy.json",
        example='{"uri": "stateward:/cwd/lazy.json"}',
    )
