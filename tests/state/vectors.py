"""The vectors of `tests/conformance/state/`: how they are read, and when an answer is what they say.

The format is that of state.md section 15.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stateward_engine.json_value import equal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Vector = dict[str, Any]

FOLDER: Final = Path(__file__).parent.parent / "conformance" / "state"


def load() -> dict[str, list[Vector]]:
    """Return the vectors of every file, by its name."""
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(FOLDER.glob("*.json"))}


def needs_a_store(vector: Vector) -> bool:
    """Whether a vector damages files, so that it is run over the wire alone."""
    return any(step["op"] == "tamper" for step in vector["steps"])


def expand(value: Any) -> Any:
    """Return `value` with its generated parts written out."""
    if isinstance(value, list):
        return [expand(element) for element in value]
    if not isinstance(value, dict):
        return value
    if "@gen" in value:
        return GENERATORS[value["@gen"]](value)
    return {key: expand(member) for key, member in value.items()}


def nest(depth: int, leaf: Any) -> Any:
    for _ in range(depth):
        leaf = {"d": leaf}
    return leaf


GENERATORS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "array": lambda part: [part["item"]] * part["n"],
    "string": lambda part: part["ch"] * part["n"],
    "keys": lambda part: {f"{part['prefix']}{at:03}": part["value"] for at in range(part["n"])},
    "number": lambda part: float(part["value"]),
    "nest": lambda part: nest(part["depth"], part["leaf"]),
    "join": lambda part: "".join(map(expand, part["parts"])),
}


def members_of(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of the request that a step makes."""
    return {name: value for name, value in step.items() if name not in ("op", "expect", "wanted")}


def receipt(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return a receipt with what the format adds to it."""
    cascaded = answer.get("state_updates", {}).get("cascaded", [])
    return {"ok": True, "cascaded": cascaded, **answer}


def as_expected(step: Mapping[str, Any], answer: Any) -> bool:
    """Tell whether an answer is what its step expects: a read exactly, of anything else the listed members."""
    expected = step["expect"]
    listed = answer if step["op"] == "read" else {key: answer[key] for key in expected if key in answer}
    return matches(expected, listed)


def matches(expected: Any, got: Any) -> bool:
    """Tell whether an answer, or a part of one, is what the vector says."""
    if expected == "@any-string@":
        return isinstance(got, str) and got != ""
    if isinstance(expected, dict) and isinstance(got, dict):
        wanted = {key for key, value in expected.items() if value != "@absent@"}
        return wanted == got.keys() and all(matches(expected[key], got[key]) for key in wanted)
    if isinstance(expected, list) and isinstance(got, list):
        return len(expected) == len(got) and all(map(matches, expected, got))
    return equal(expected, got)
