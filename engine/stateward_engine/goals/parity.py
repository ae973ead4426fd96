"""Parity: what the rendered sections say, read without limits, against what the records would show.

Source: goal-documents 4.4.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from stateward_engine.errors import RenderRejected
from stateward_engine.goals.contract import LEGACY_SCHEMA, WITHOUT_MARKDOWN
from stateward_engine.goals.source_decoder import UnreadableField, decode_todo, derived_fields
from stateward_engine.json_value import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stateward_engine.goals.records import Record
    from stateward_engine.goals.todos import Todo

# What a reader of the row makes of these fields is easily said.
RULES: Final = {
    "text": "its words are separated by one space each, and nothing stands before or behind them",
    "done": "it is true where the status is done or deferred, and else false",
}


def display_record(record: Record, source_section: str, ordinal: int) -> dict[str, Any]:
    """Return what a reader is to see of a record in its place; the place never enters the record itself."""
    shown = {
        key: value
        for key, value in record.fields.items()
        # A list without members is written as nothing, and to require no validation is to say nothing of it.
        if key not in WITHOUT_MARKDOWN and value != [] and (key, value) != ("completion_validation_required", False)
    }
    derived = derived_fields(shown["text"], shown.get("action_kind"))
    # What is derived comes last: where a text does not read back, it is the text that is wrong, not its title.
    return {
        **shown,
        **{key: value for key, value in derived.items() if key not in shown},
        "schema_version": LEGACY_SCHEMA,
        "source_section": source_section,
        "index": ordinal,
    }


def check_parity(heading: str, records: Sequence[Record], todos: Iterable[Todo]) -> None:
    """Refuse a rendered section that does not read as its records.

    Raises:
        RenderRejected: `parity_mismatch`, with the first todo and field that differ.
    """
    for ordinal, (record, todo) in enumerate(zip_longest(records, todos), start=1):
        if record is None or todo is None:
            raise _mismatch(None if record is None else record.fields["todo_id"], None)
        wanted = display_record(record, heading, ordinal)
        try:
            read = decode_todo(todo)
        except UnreadableField as fault:
            raise _mismatch(wanted["todo_id"], fault.field) from None
        check_display(wanted, read)


def check_display(wanted: dict[str, Any], read: dict[str, Any]) -> None:
    """Refuse a row that does not read as what it was to show.

    Raises:
        RenderRejected: `parity_mismatch`, with the todo and the first field that differs.
    """
    if canonical(wanted) != canonical(read):
        raise _mismatch(wanted["todo_id"], _first_difference(wanted, read))


def _first_difference(wanted: dict[str, Any], read: dict[str, Any]) -> str:
    keys = dict.fromkeys([*wanted, *read])
    return next(key for key in keys if canonical(wanted.get(key)) != canonical(read.get(key)))


def _mismatch(todo_id: str | None, field: str | None) -> RenderRejected:
    if field is None:
        message = "the rows of a section differ in number from its records"
    else:
        rule = RULES.get(field, "what is written is compact, normal and says it all")
        message = f"{field} would be read back as something else: {rule}"
    return RenderRejected(message, kind="parity_mismatch", todo_id=todo_id, field=field)
