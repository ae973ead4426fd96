"""How a value is written into metadata: the inverse of the readers in the field table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from stateward_engine.goals.compact import compact

if TYPE_CHECKING:
    from stateward_engine.json_value import Json

# Beside what `quote` never escapes, which is letters, digits and `_.-~`.
LITERAL: Final = ":"


def encode_value(value: Json) -> str:
    """Return a value as the token that is read back as it; nothing for an empty one.

    Source: goal-documents 3.5 and the last column of 3.1.

    >>> encode_value(["src/**", "docs/a b.md"]), encode_value(False), encode_value("")
    ('src%2F%2A%2A%2Cdocs%2Fa%20b.md', 'false', '')
    """
    # A buffer can hold half a character, and even that has bytes here.
    return quote(compact(written(value)).encode("utf-8", "surrogatepass"), safe=LITERAL)


def written(value: Json) -> str:
    """Return a value as people read it: the token before anything in it is encoded.

    >>> written([{"kind": "direction", "granularity": "goal", "scope_key": "release"}])
    'direction:goal:release'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return _written_object(value)
    if isinstance(value, list | tuple):
        return ",".join(map(written, value))
    return str(value)


def _written_object(value: Mapping[str, Json]) -> str:
    if "outcome" in value:
        return "|".join(written(value[key]) for key in ("outcome", "decision_scope", "source_todo_id"))
    return ":".join(written(value[key]) for key in ("kind", "granularity", "scope_key"))
