"""JSON as the wire takes it: UTF-8 only, no duplicate members, bounded depth.

The standard decoder keeps the last of two equal members, guesses UTF-16, and reads `NaN`, `1e999` and lone surrogates
into values that fail later, after a write has begun. Each of these is found here, at the door.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, Final

from stateward_protocol.errors import WireError, shortened

# Whatever walks a message recursively needs stack for it. State itself stops at 256 levels, and the members of a
# request around it take a few more.
DEPTH_MAX: Final = 1_000
# CPython refuses to convert more than 4,300 digits, because converting costs their square. Where a number of that kind
# is to be named, longer ones than this count as infinite: a double ends at 309 digits.
DIGITS_MAX: Final = 400


class Unsendable(Exception):
    """A readable message holds a value that JSON text cannot carry: a lone surrogate or a non-finite number.

    Attributes:
        message: The decoded message, so that it can be answered by its id.
        path: Where the value stands, such as `$.params.patch.cwd.tactics.x`.
        what: What it is, as a noun phrase.
    """

    def __init__(self, message: Any, path: str, what: str) -> None:  # noqa: ANN401 - any JSON value
        super().__init__(f"{what} at {path}")
        self.message, self.path, self.what = message, path, what

    def refusal(self) -> WireError:
        """Return the answer to a call that holds it."""
        category = "invalid_patch" if self.path.startswith("$.params.patch") else "invalid_request"
        return WireError(category, f"{self.what} has no JSON form; replace it", path=self.path, got=self.what)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise WireError(
            "parse_error",
            "an object has two members of the same name; send each name once",
            got=without_surrogates(shortened(twice)),
        )
    return members


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(digits)
    return number


def _no_constant(name: str) -> float:
    raise ValueError(name)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= DIGITS_MAX else math.inf


# Both raise ValueError for numbers that are not finite; so does `int` for thousands of digits.
_DECODER: Final = json.JSONDecoder(object_pairs_hook=_members, parse_float=_finite, parse_constant=_no_constant)
# Reads what the first one refuses, so that the place can be named.
_LENIENT_DECODER: Final = json.JSONDecoder(object_pairs_hook=_members, parse_int=_integer)


def decode(body: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return the JSON value of one frame.

    Raises:
        WireError: `parse_error`, for anything that is not one JSON text in UTF-8 with distinct members and at most
            `DEPTH_MAX` levels.
        Unsendable: The text is readable but holds a lone surrogate or a non-finite number.

    Source: protocol.md section 1.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WireError("parse_error", f"the frame is not UTF-8 (byte {error.start})") from None
    try:
        value, suspect = _decode_text(text)
    except json.JSONDecodeError as error:
        raise WireError("parse_error", f"the frame is not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise WireError("parse_error", f"the frame nests deeper than {DEPTH_MAX} levels") from None
    # Depth costs a walk, and a frame with few brackets cannot be deep.
    if body.count(b"[") + body.count(b"{") > DEPTH_MAX:
        _check_depth(value)
    # Raw surrogates are not UTF-8, so only an escape can have made one.
    if suspect or b"\\ud" in body or b"\\uD" in body:
        fault = find_unsendable(value)
        if fault is not None:
            raise Unsendable(value, *fault)
    return value


def _decode_text(text: str) -> tuple[Any, bool]:
    try:
        return _DECODER.decode(text), False
    except json.JSONDecodeError:
        raise
    except ValueError:
        return _LENIENT_DECODER.decode(text), True


def _check_depth(value: Any) -> None:  # noqa: ANN401 - any JSON value
    level, depth = [value], 0
    while level:
        if depth >= DEPTH_MAX:
            raise WireError("parse_error", f"the frame nests deeper than {DEPTH_MAX} levels")
        level = [
            child
            for container in level
            if isinstance(container, dict | list)
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, dict | list)
        ]
        depth += 1


def find_unsendable(value: Any) -> tuple[str, str] | None:  # noqa: ANN401 - any JSON value
    """Return the path and the description of the first value that JSON text cannot carry, or `None`.

    >>> find_unsendable({"params": {"n": [1, float("inf")]}})
    ('$.params.n[1]', 'a number that is not finite')
    """
    stack: list[tuple[str, Any]] = [("$", value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, float) and not math.isfinite(item):
            return path, "a number that is not finite"
        if isinstance(item, str) and not _encodable(item):
            return path, "an unpaired surrogate"
        if isinstance(item, list):
            stack.extend((f"{path}[{i}]", child) for i, child in reversed(list(enumerate(item))))
        elif isinstance(item, dict):
            for key in item:
                if not isinstance(key, str):
                    return path, "a member name that is no string"
                if not _encodable(key):
                    return path, "a member name with an unpaired surrogate"
            stack.extend((f"{path}.{key}", child) for key, child in reversed(item.items()))
    return None


def without_surrogates(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    r"""Return the value with U+FFFD for every unpaired surrogate.

    >>> without_surrogates(["half \ud83d"]) == ["half \N{REPLACEMENT CHARACTER}"]
    True
    """
    if isinstance(value, str):
        return value if _encodable(value) else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return value


def _encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
