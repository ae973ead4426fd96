"""What callers give of a todo: each member read by the contract into its one spelling, or refused with its name.

A member is put into a record of its own and goes through the door that every record of a rendering goes through, so
that nothing is kept that a document could not show and give back.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from stateward_engine.authority.refusals import refused
from stateward_engine.errors import RenderRejected
from stateward_engine.goals.compact import compact
from stateward_engine.goals.contract import NATIVE_SCHEMA, RECORD_FIELDS, Shape
from stateward_engine.goals.encode import encode_value
from stateward_engine.goals.fields import FIELDS, TODO_ID, Choice, read_field
from stateward_engine.goals.records import SCOPE_WANTED, admit
from stateward_engine.goals.tokens import TAKES
from stateward_engine.goals.validation import WANTED, Declaration, complete_declaration
from stateward_engine.json_value import PARAMS, Place, encodable
from stateward_engine.state.storable import flaw_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from stateward_engine.authority.goal import Members
    from stateward_engine.errors import Refused

# What says which work a todo is, so that a lease is taken for it. Source: seed 003, supported updates.
WORK_REQUIREMENTS: Final = frozenset(
    {
        *("action_kind", "task_domain", "task_repository", "required_write_scopes"),
        *("required_capabilities", "target_capabilities", "explore_result_node_refs"),
    }
)
_PLANNED: Final = frozenset(
    {
        *("status", "priority", "task_class", "action_kind", "task_domain", "task_repository", "continuation_policy"),
        *("required_write_scopes", "required_capabilities", "target_capabilities", "decision_scope"),
        *("required_decision_scopes", "bound_agent", "goal_bound", "blocks_agent", "excluded_agents", "global_gate"),
        *("unblocks_todo_id", "resume_when", "target_key", "cadence", "next_due_at", "expires_at"),
        *("watch_only", "note"),
    }
)
# Source: authority.md section 6.
ADDABLE: Final = _PLANNED | {"claimed_by"}
EDITABLE: Final = _PLANNED | {
    *("text", "capability_binding_ref", "explore_result_node_refs", "evidence", "reason", "handoff_note"),
    *("last_checked_at", "result_hash", "consecutive_no_change", "material_change", "material_change_generation"),
    *("max_no_change_before_replan", "monitor_effect_id", "resume_monitor_generation", "replan_obligation_id"),
    *("successor_todo_ids", "superseded_by"),
}
# A claim may be given up, and is made by `todo_claim` alone.
CLEARABLE: Final = (EDITABLE | {"claimed_by"}) - {"text", "status", "priority"}
COMPLETING: Final = frozenset(
    {"evidence", "note", "decision_outcome", "no_followup", "successor_todo_ids", "completion_turn_key"}
)

INVALID_CREATE: Final = "invalid_coordination_todo_create"
INVALID_UPDATE: Final = "invalid_coordination_todo_update"
INVALID_COMPLETION: Final = "invalid_coordination_todo_terminal_lifecycle"

# A record that is in order, for one given member to be put into.
CARRIER: Final[Members] = {
    "schema_version": NATIVE_SCHEMA,
    "todo_id": "todo_given",
    "role": "agent",
    "status": "open",
    "done": False,
    "text": "given",
    "archive_state": "active",
}
# Kinds that nobody knows are kept where they are read, and not written. Source: goal-documents 3.4.
_AUTHORED_CONDITION: Final = re.compile(r"(?:todo_done|monitor_changed|pr_merged|capacity_available|resume_at):.*")
_PRIORITY: Final = re.compile(r"P[0-4]")
NUL: Final = "\0"
_HINTS: Final[Mapping[str, str]] = {
    "claimed_by": "claim it with todo_claim; `clear` gives a claim up",
    "done": "it follows from the status",
    "title": "it follows from the text",
    "archive_state": "archive it with todo_archive_completed",
    "decision_outcome": "decide it with todo_complete",
    "completed_at": "complete it with todo_complete",
}


class _Wrong(Exception):
    """What is wrong with one member, as its message."""


def read_fields(
    fields: Mapping[str, Any],
    clear: Iterable[str] = (),
    *,
    editable: Collection[str],
    reason_code: str = INVALID_UPDATE,
    within: str | None = None,
) -> dict[str, Any]:
    """Return what each given field is from now on: its value in its one spelling, or `None` where it is removed.

    An empty list removes a field too, as `clear` does.

    Args:
        fields: Values by field, as decoded from JSON.
        clear: Fields to remove.
        editable: The fields that may be given.
        reason_code: Of the refusal.
        within: The member of the params that the fields stand in, when it is not the params themselves.

    Raises:
        Refused: With every invalid member in the fact `invalid`, and what is wrong with it.

    Source: authority.md sections 1 and 6; goal-documents 3.1 and 4.1.

    >>> read_fields({"task_class": "Blocker", "excluded_agents": ["bo", "ada"]}, ["note"], editable=EDITABLE)
    {'task_class': 'blocker', 'excluded_agents': ['ada', 'bo'], 'note': None}
    """
    read: dict[str, Any] = {}
    invalid: dict[str, str] = {}
    for name, value in fields.items():
        try:
            read[name] = _read(name, value, editable)
        except _Wrong as wrong:
            invalid[name] = str(wrong)
    for name in clear:
        if name in fields:
            invalid[name] = "it is given and cleared at once"
        elif name not in CLEARABLE:
            invalid[name] = "it cannot be removed" if name in RECORD_FIELDS else f"a todo has no field {name[:64]}"
        else:
            read[name] = None
    if invalid:
        raise invalid_members(reason_code, invalid, within)
    return read


def invalid_members(reason_code: str, invalid: Mapping[str, str], within: str | None = None) -> Refused:
    """Return the refusal of a call because of some of its members; nothing of it was done."""
    first, wrong = next(iter(invalid.items()))
    named = first if within is None else f"{within}.{first}"
    return refused(
        reason_code,
        f"{named}: {wrong}; nothing was changed",
        member=within or first,
        invalid={name[:64]: message for name, message in invalid.items()},
    )


def read_declaration(given: object) -> Declaration:
    """Return a private validation declaration with all of its keys.

    Raises:
        Refused: `validation_declaration_invalid`.

    Source: goal-documents 4.5.
    """
    declaration = complete_declaration(given)
    if declaration is None or not any(value is not None for value in declaration.values()):
        raise refused(
            "validation_declaration_invalid",
            "a validation declaration says with a text, a list of texts or a number how a completion is checked",
            member="validation_command",
            wanted=WANTED,
            example='{"validation_command": "make test", "validation_timeout_seconds": 600}',
        )
    return declaration


def _read(name: str, value: Any, editable: Collection[str]) -> Any:  # noqa: ANN401 - a field holds any JSON value
    """Return one field in its one spelling; `None` for an empty list.

    Raises:
        _Wrong: It is not one of the fields that may be given, or holds what the field does not take.
    """
    if name not in RECORD_FIELDS:
        raise _Wrong(f"a todo has no field {name[:64]}")
    if name not in editable:
        raise _Wrong(_HINTS.get(name, "it is not for callers to give"))
    if value is None:
        raise _Wrong("null is no value; to remove a field, name it in `clear`")
    if value == [] and RECORD_FIELDS[name] in (Shape.NAMES, Shape.SCOPES):
        return None
    normal = _normal(name, value)
    try:
        (record,) = admit([{**CARRIER, name: normal}], {})
    except RenderRejected as fault:
        raise _Wrong(str(fault)) from None
    # With the schema version of nested objects, where it was left out.
    read = record.fields[name]
    return _distinct(read) if RECORD_FIELDS[name] is Shape.SCOPES else read


def _normal(name: str, value: Any) -> Any:  # noqa: ANN401 - as above
    """Return a value as the field would be read; what the field does not take comes back as it is, to be refused."""
    match RECORD_FIELDS[name]:
        case Shape.TEXT if isinstance(value, str) and encodable(value):
            return _text(name, compact(value))
        case Shape.NAMES if isinstance(value, list):
            return _names(name, value)
        case Shape.SCOPE:
            return _scope(value)
        case Shape.SCOPES if isinstance(value, list):
            return [_scope(scope) for scope in value]
        case Shape.ANYTHING:
            return _anything(name, value)
    return value


def _text(name: str, value: str) -> str:
    if not value:
        raise _Wrong("it is empty; to remove a field, name it in `clear`")
    if NUL in value:
        raise _Wrong("a field holds no NUL character")
    if name == "priority":
        if not _PRIORITY.fullmatch(value.upper()):
            raise _Wrong("a priority is P0, P1, P2, P3 or P4")
        return value.upper()
    reader = FIELDS.get(name)
    read = value if reader is None else reader(value)
    is_retired = isinstance(reader, Choice) and read not in reader.members
    is_foreign = name == "resume_when" and not _AUTHORED_CONDITION.fullmatch(str(read))
    if not isinstance(read, str) or is_retired or is_foreign:
        raise _Wrong(f"{name} takes {TAKES[name]}")
    return read


def _names(name: str, value: list[Any]) -> list[str]:
    """Return names as the field is read; none of them is dropped or taken for several."""
    if not all(isinstance(member, str) for member in value):
        return value
    for number, member in enumerate(value):
        read = FIELDS[name](compact(member)) if encodable(member) else None
        is_id = name != "successor_todo_ids" or TODO_ID.fullmatch(compact(member).lower())
        if not (isinstance(read, list) and len(read) == 1 and is_id) or NUL in member:
            raise _Wrong(f"its member {number} is not one of what {name} takes: {TAKES[name]}")
    read = read_field(name, encode_value(value))
    assert isinstance(read, list)  # noqa: S101 - each of its members was read
    return read


def _scope(value: Any) -> Any:  # noqa: ANN401 - as above
    """Return a decision scope as an object; one may be given as it is written, `kind:granularity:scope_key`."""
    if not isinstance(value, str):
        return value
    read = FIELDS["decision_scope"](compact(value))
    if read is None:
        raise _Wrong(f"a decision scope is {SCOPE_WANTED}, or {TAKES['decision_scope']}")
    return read


def _distinct(scopes: Iterable[Any]) -> list[Any]:
    """Return each scope once, in the order of their first occurrence."""
    distinct: list[Any] = []
    for scope in scopes:
        if scope not in distinct:
            distinct.append(scope)
    return distinct


def _anything(name: str, value: Any) -> Any:  # noqa: ANN401 - as above
    if flaw_of([value], Place(PARAMS, name), patching=False):
        raise _Wrong("it holds what cannot be stored: a null, half a character, or a number beyond bounds")
    return value
