"""How a value is written into a metadata line: the inverse of the readers in the field table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from stateward_engine.goals.compact import compact
from stateward_engine.goals.fields import FIELDS
from stateward_engine.goals.todo_codec import METADATA_WORD
from stateward_engine.goals.visible import COMMENT_END, COMMENT_START

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
    return quote(compact(_written(value)), safe=LITERAL)


def metadata_line(fields: Mapping[str, Json]) -> str:
    """Return the metadata line of a row: the fields that have a key, in the order of the table.

    Source: goal-documents 2.2 and 4.2.

    >>> metadata_line({"note": "a b", "todo_id": "todo_one", "title": "not a key", "reason": ""})
    '  <!-- loopx:todo todo_id=todo_one note=a%20b -->'
    """
    tokens = ((key, encode_value(fields[key])) for key in FIELDS if key in fields)
    body = " ".join(f"{key}={token}" for key, token in tokens if token)
    return f"  {COMMENT_START} {METADATA_WORD}todo {body} {COMMENT_END}"


def _written(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return _written_object(value)
    if isinstance(value, list | tuple):
        return ",".join(map(_written, value))
    return str(value)


def _written_object(value: Mapping[str, Json]) -> str:
    if "outcome" in value:
        return "|".join(_written(value[key]) for key in ("outcome", "decision_scope", "source_todo_id"))
    return ":".join(_written(value[key]) for key in ("kind", "granularity", "scope_key"))
