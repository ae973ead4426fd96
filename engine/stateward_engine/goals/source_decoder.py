"""The lossless reading of todo rows: each as the record that it shows, with its whole text and all of its metadata.

Summaries are bounded for people and never come back as text. What is compared or imported is read here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from stateward_engine.goals.compact import clip
from stateward_engine.goals.contract import LEGACY_SCHEMA, WITHOUT_MARKDOWN
from stateward_engine.goals.fields import GENERATION
from stateward_engine.goals.priority import read_decorated_priority
from stateward_engine.goals.task_class import infer_task_class
from stateward_engine.goals.todos import TEXT_CHARACTERS_MAX
from stateward_engine.goals.validation import (
    ARGUMENTS,
    DECLARATION_KEYS,
    TIMEOUT,
    complete_declaration,
    declaration_sha256,
)

if TYPE_CHECKING:
    from stateward_engine.goals.todos import Todo
    from stateward_engine.goals.validation import Declaration
    from stateward_engine.json_value import Json

GENERATION_KEY: Final = "material_change_generation"


class UnreadableField(Exception):
    """A row has a field that a summary shows as text, and that no record can hold.

    Attributes:
        field: Its name.
    """

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


def decode_todo(todo: Todo) -> dict[str, Any]:
    """Return a row as the record that it shows.

    Raises:
        UnreadableField: A generation is no integer, or a validation declaration is none.

    Source: goal-documents 4.4.
    """
    fields = {key: value for key, value in todo.fields.items() if key not in {*WITHOUT_MARKDOWN, *DECLARATION_KEYS}}
    if GENERATION_KEY in fields:
        fields[GENERATION_KEY] = _integer(GENERATION_KEY, fields[GENERATION_KEY])
    declaration = declaration_of(todo)
    return {
        **derived_fields(todo.full_text, fields.get("action_kind")),
        **fields,
        **(public_validation(declaration) if declaration else {}),
        "schema_version": LEGACY_SCHEMA,
        "todo_id": todo.todo_id,
        "role": todo.role,
        "status": todo.status,
        "done": todo.done,
        "text": todo.full_text,
        "archive_state": "archive" if todo.archived else "active",
        "source_section": todo.source_section,
        "index": todo.ordinal,
    }


def derived_fields(text: str, action_kind: str | None) -> dict[str, Json]:
    """Return what a row shows without saying it: priority and title of its text, and the class of its task.

    Active and archived rows have the same decoder.
    Source: goal-documents 1.6, shared decoder, and 3.3.

    >>> derived_fields("[P1-urgent] fix it", None)
    {'task_class': 'advancement_task', 'priority': 'P1-URGENT', 'title': 'fix it'}
    """
    shown: dict[str, Json] = {"task_class": infer_task_class(action_kind, clip(text, TEXT_CHARACTERS_MAX))}
    if priority := read_decorated_priority(text):
        shown["priority"], shown["title"] = priority
    return shown


def _integer(key: str, digits: str) -> int:
    if not GENERATION.fullmatch(digits):
        raise UnreadableField(key)
    return int(digits)


def declaration_of(todo: Todo) -> Declaration | None:
    """Return the private validation declaration of a row, `None` when it has none.

    Raises:
        UnreadableField: It has one that is none.

    Source: goal-documents 4.5.
    """
    given: dict[str, Json] = {key: todo.fields[key] for key in DECLARATION_KEYS if key in todo.fields}
    if not given:
        return None
    if TIMEOUT in given:
        given[TIMEOUT] = _integer(TIMEOUT, todo.fields[TIMEOUT])
    if ARGUMENTS in given:
        try:
            given[ARGUMENTS] = json.loads(todo.fields[ARGUMENTS])
        except (ValueError, RecursionError):
            raise UnreadableField(ARGUMENTS) from None
    declaration = complete_declaration(given)
    if declaration is None:
        raise UnreadableField(ARGUMENTS)
    return declaration


def public_validation(declaration: Declaration) -> dict[str, Json]:
    """Return what everybody may know of a declaration.

    Source: goal-documents 4.5.
    """
    return {
        "completion_validation_required": True,
        "completion_validation_sha256": declaration_sha256(declaration),
    }
