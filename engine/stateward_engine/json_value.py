"""JSON values as the product compares, measures, names and prints them.

Values come from a JSON decoder: objects are plain dicts, arrays plain lists. The engine never changes one in place.
"""

from __future__ import annotations

import json
import math
import re
from operator import is_
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Kind: TypeAlias = Literal["object", "array", "string", "number", "boolean"]

# Beyond it a double skips integers, so that two readers of one number could see two values.
INTEGER_MAX: Final = 2**53 - 1
# Enough to recognize what was sent; more of it would carry a body into a log.
PREVIEW_LENGTH_MAX: Final = 16

_KINDS: Final[Mapping[type, Kind]] = {
    dict: "object",
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
}
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
# Values are trees, so the encoder need not look for circles.
_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, sort_keys=True, separators=(",", ":")
)


class Place(NamedTuple):
    """Where a value stands in a request.

    A chain from the inside out, so that a walk over a large value builds no text for all that is in order.
    The text is a JSONPath:

    >>> str(Place(Place(Place(PARAMS, "paths"), 1), "two words"))
    '$.params.paths[1]["two words"]'
    """

    parent: Place | None
    step: str | int

    def __str__(self) -> str:
        steps: list[str] = []
        place: Place | None = self
        while place is not None:
            steps.append(_step_text(place.step))
            place = place.parent
        return "$" + "".join(reversed(steps))


PARAMS: Final = Place(None, "params")


def _step_text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_NAME.fullmatch(step) else f"[{quoted(step)}]"


def kind_of(value: Json) -> Kind:
    """Return the kind of a stored value.

    Raises:
        KeyError: `value` is null, which is never stored and has no kind.

    Source: state.md section 4.2.

    >>> kind_of(True), kind_of(1.5), kind_of([])
    ('boolean', 'number', 'array')
    """
    return _KINDS[type(value)]


def equal(left: Json, right: Json) -> bool:
    """Tell whether two values are the same JSON value of the same kind; the order of keys does not matter.

    Source: state.md section 2.5.

    >>> equal({"a": 1, "b": [True]}, {"b": [True], "a": 1.0}), equal(True, 1)
    (True, False)
    """
    pairs: list[tuple[Json, Json]] = [(left, right)]
    while pairs:
        one, other = pairs.pop()
        if one is other:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            pairs.extend((value, other[key]) for key, value in one.items())
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            pairs.extend(zip(one, other, strict=True))
        # To Python `True == 1`; JSON has two kinds there.
        elif _KINDS.get(type(one)) != _KINDS.get(type(other)) or one != other:
            return False
    return True


def canonical(value: Json) -> str:
    """Return the one spelling of a value: keys by code point, no whitespace, everything but ASCII control literal.

    Numbers keep their kind of spelling (`1` and `1.0` are equal and print as they came).

    Source: state.md section 2.5.

    >>> canonical({"b": [1, None], "a": "é"})
    '{"a":"é","b":[1,null]}'
    """
    return _ENCODER.encode(value)


def in_order(value: Json) -> Json:
    """Return `value` with all keys in canonical order: itself, and its parts themselves, where they are so already.

    Source: state.md section 2.5.

    >>> in_order([{"b": 1, "a": 2}])
    [{'a': 2, 'b': 1}]
    """
    if isinstance(value, dict):
        names = sorted(value)
        members = {name: in_order(value[name]) for name in names}
        return value if names == list(value) and all(map(is_, members.values(), value.values())) else members
    if isinstance(value, list):
        elements = [in_order(element) for element in value]
        return value if all(map(is_, elements, value)) else elements
    return value


def utf16_length(text: str) -> int:
    """Return the length of `text` in UTF-16 code units, the unit of all lengths and budgets (state.md section 2.5).

    >>> utf16_length("é"), utf16_length("😀")
    (1, 2)
    """
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def encodable(text: str) -> bool:
    """Tell whether UTF-8 can hold `text`; a decoder lets an unpaired surrogate through that no file then takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def unstorable(scalar: Json) -> str | None:
    """Return what keeps a scalar from being stored exactly, as a noun phrase; `None` when nothing does, and for null.

    An integer is a number written without fraction and exponent; `6.02e23` is a double however large.

    Source: state.md section 2.5.

    >>> unstorable(2**53), unstorable(2**53 - 1)
    ('an integer beyond 2^53-1', None)
    """
    if isinstance(scalar, str):
        return None if scalar.isascii() or encodable(scalar) else "a string with an unpaired surrogate"
    if isinstance(scalar, float):
        return None if math.isfinite(scalar) else "a number that is not finite"
    if isinstance(scalar, int):
        return None if -INTEGER_MAX <= scalar <= INTEGER_MAX else "an integer beyond 2^53-1"
    return None


def describe(value: Json) -> str:
    """Return kind and size of a value as a noun phrase, without any of its content.

    >>> describe("secret"), describe(None), describe({"a": 1})
    ('a string of length 6', 'null', 'an object of size 1')
    """
    if value is None:
        return "null"
    if isinstance(value, dict):
        return f"an object of size {len(value)}"
    if isinstance(value, list):
        return f"an array of length {len(value)}"
    if isinstance(value, str):
        return f"a string of length {utf16_length(value)}"
    return f"a {kind_of(value)}"


def preview(value: Json) -> str:
    """Return `describe(value)` and, of a string, its first characters: for members that cannot be a stored body.

    >>> preview("VALUE")
    'a string of length 5 that begins "VALUE"'
    """
    if not isinstance(value, str):
        return describe(value)
    return f"{describe(value)} that begins {quoted(value[:PREVIEW_LENGTH_MAX])}"


def quoted(text: str) -> str:
    """Return `text` as a JSON string that can be printed and encoded, whatever is in it."""
    return json.dumps(text, ensure_ascii=not (text.isprintable() and encodable(text)))
