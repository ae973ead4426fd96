"""The refusals of a patch, each with the call that was probably meant.

A client that is told only that its patch is invalid tries another guess; one that sees the right shape sends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stateward_engine.errors import InvalidPatch, NoOp, OutOfBounds, WrongKind
from stateward_engine.json_value import Json, describe, preview, quoted
from stateward_engine.state.closest import closest
from stateward_engine.state.view import PATCHABLE_PLANES, PLANES, SCOPES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stateward_engine.json_value import Place
    from stateward_engine.state.storable import Flaw
    from stateward_engine.state.view import ScopeName

SCOPE_WORDS: Final = ", ".join(SCOPES)
# In the order of answers, so that equally good suggestions come in one order.
_PATCHABLE: Final = [plane for plane in PLANES if plane in PATCHABLE_PLANES]
PLANE_WORDS: Final = ", ".join(_PATCHABLE)

_ROOT_ADVICE: Final[Mapping[str, str]] = {
    "effective": "the effective view is computed; write to the scope that shall own the value",
    "edits": "there is no list of edits; nest the new values as scopes, planes and keys",
    "scope": "a scope is the outermost key itself, not the value of a member",
    "path": "a patch has no paths; nest scopes, planes and keys as objects",
    "patch": "send what is inside of it",
    "idempotency_key": "it stands beside patch, not inside of it",
    "if_revision": "it stands beside patch, not inside of it",
}


def right_patch(wanted: Sequence[ScopeName]) -> str:
    """Return a patch that a client of the `wanted` owners may send, as JSON text."""
    scope = "cwd" if "cwd" in wanted else wanted[0]
    return f'{{"{scope}": {{"tactics": {{"next": "read the log"}}}}}}'


def not_an_object(value: Json, place: Place, example: str) -> InvalidPatch:
    """Return the error for a root or a scope that is no object."""
    wanted = "an object of scopes, each an object of planes, each an object of keys"
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        message = f"{place} is a JSON string; send the object itself"
    else:
        message = f"{place} is {describe(value)}; send {wanted}"
    return InvalidPatch(message, path=str(place), got=preview(value), wanted=wanted, example=example)


def not_a_plane(value: Json, place: Place, example: str) -> InvalidPatch:
    """Return the error for a plane that is no object; what it is instead may be a body, so it is not previewed."""
    wanted = "an object of keys"
    advice = "delete the keys of a plane by name" if value is None else f"send {wanted}"
    return InvalidPatch(
        f"{place} is {describe(value)}; {advice}", path=str(place), got=describe(value), wanted=wanted, example=example
    )


def unknown_root_key(key: str, place: Place, wanted: Sequence[ScopeName], *, flat: bool) -> InvalidPatch:
    """Return the error for a root key that is neither a scope nor, in the flat form, a plane."""
    example = right_patch(wanted)
    if flat:
        advice = "planes at the root stand alone there; put them into their scope to name scopes"
    elif key in PLANES:
        advice = "with several owners a plane stands inside of its scope"
        example = example.replace("tactics", key if key in PATCHABLE_PLANES else "tactics")
    elif "." in key:
        advice = "a dotted key is no path; nest objects"
    else:
        advice = _ROOT_ADVICE.get(key, f"the scopes are {SCOPE_WORDS}")
    return InvalidPatch(
        f"{place} is no {'plane' if flat else 'scope'}: {advice}",
        path=str(place),
        got=f"key {quoted(key)}",
        wanted=PLANE_WORDS if flat else SCOPE_WORDS,
        example=example,
        did_you_mean=closest(key, _PATCHABLE if flat else SCOPES),
    )


def unknown_plane(name: str, place: Place, example: str) -> InvalidPatch:
    """Return the error for a key of a scope that a patch cannot write."""
    if name == "response":
        advice = "it is written by the method respond alone"
    elif "." in name:
        advice = "a dotted key is no path; nest objects"
    else:
        advice = f"the planes are {PLANE_WORDS}"
    return InvalidPatch(
        f"{place} is no plane to patch: {advice}",
        path=str(place),
        got=f"key {quoted(name)}",
        wanted=PLANE_WORDS,
        example=example,
        did_you_mean=closest(name, _PATCHABLE),
    )


def unstorable_value(flaw: Flaw, example: str) -> InvalidPatch:
    """Return the error for a value that no state could take."""
    return InvalidPatch(
        str(flaw), path=str(flaw.place), got=flaw.got, wanted=flaw.wanted, example=flaw.example or example
    )


def empty(place: Place, example: str) -> NoOp:
    """Return the error for an empty root, scope or plane."""
    return NoOp(
        f"{place} is empty; leave it out, or send what shall change",
        path=str(place),
        got="an empty object",
        wanted="at least one key",
        example=example,
    )


def retained_null(place: Place) -> InvalidPatch:
    """Return the error for a null inside an object that the patch creates."""
    return InvalidPatch(
        f"{place} is null inside a new object, where it would become state; leave the key out",
        path=str(place),
        got="null",
        wanted="no key at all: null only deletes a key of an object that is there",
    )


def not_an_array(place: Place, there: str) -> WrongKind:
    """Return the error for an element selector over something else than an array.

    Args:
        place: Where the selector stands in the request.
        there: What it stands over, as a noun phrase.
    """
    return WrongKind(
        f"{place} addresses an element, but there is {there}; send the whole new value",
        path=str(place),
        got=there,
        wanted="an existing array",
        example='["the whole", "new array"]',
    )


def no_such_element(place: Place, length: int) -> OutOfBounds:
    """Return the error for a selector at or above the length of its array."""
    return OutOfBounds(
        f"{place} is outside of an array of length {length}; to append, send the whole new array",
        path=str(place),
        got=f"an array of length {length}",
        wanted=f"an index from 0 to {length - 1}" if length else "no selector: the array is empty",
        example='["the whole", "new array"]',
    )
