"""Admission of canonical records: what cannot be shown and read back is refused before anything is written.

A refusal names the record, the field and the rule, and quotes no value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from stateward_engine.errors import RenderRejected
from stateward_engine.goals.compact import compact
from stateward_engine.goals.contract import RECORD_FIELDS, SCHEMAS, WITHOUT_MARKDOWN, Shape
from stateward_engine.goals.encode import encode_value
from stateward_engine.goals.fields import FIELDS, TODO_ID, Choice, read_field
from stateward_engine.goals.tokens import TAKES
from stateward_engine.goals.validation import WANTED, Declaration, complete_declaration, declaration_sha256
from stateward_engine.json_value import PARAMS, Json, Place, canonical, encodable, kind_of, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

ROLES: Final = ("user", "agent")
ARCHIVE_STATES: Final = ("active", "archive")
# A text that holds it could close a region, or pass for metadata.
MARKER_START: Final = "<!-- loopx:"
SHA256: Final = re.compile(r"[0-9a-f]{64}")
SCOPE_SCHEMA: Final = "decision_scope_v0"
SCOPE_MEMBERS: Final = ("kind", "granularity", "scope_key")
SCOPE_WANTED: Final = '{"kind": "direction", "granularity": "action", "scope_key": "window"}'
OUTCOME_SCHEMA: Final = "todo_decision_scope_outcome_v0"
OUTCOME_MEMBERS: Final = ("outcome", "decision_scope", "source_todo_id")
OUTCOME_WANTED: Final = f'{{"outcome": "approve", "decision_scope": {SCOPE_WANTED}, "source_todo_id": "todo_gate"}}'
NAME_CHARACTERS_MAX: Final = 64
# What readers of generations take: 18 digits.
COUNT_LIMIT: Final = 10**18


class Record(NamedTuple):
    """One admitted record.

    Attributes:
        stored: Its members as they came, without those that are null: what its digest is made of.
        fields: The same, with the schema versions of nested objects where they were left out.
        declaration: The private validation that it requires, or `None`.
    """

    stored: Mapping[str, Any]
    fields: Mapping[str, Any]
    declaration: Declaration | None

    @property
    def archived(self) -> bool:
        """Whether it is history."""
        return bool(self.fields["archive_state"] == "archive")


def admit(records: Iterable[object], declarations: Mapping[str, object]) -> tuple[Record, ...]:
    """Return the records in the order given, each fit to be rendered.

    Args:
        records: As decoded from JSON.
        declarations: Private validation declarations by todo id; those of records that require none are ignored.

    Raises:
        RenderRejected: A record breaks a rule; of several rules the first.

    Source: goal-documents 4.1 and 3.1; authority.md section 1 and 2.
    """
    admitted: dict[str, Record] = {}
    for number, value in enumerate(records):
        door = _Door(number, value)
        record = door.admit(declarations)
        if record.fields["todo_id"] in admitted:
            door.refuse("duplicate_todo_id", "another record has the same todo_id", "todo_id")
        admitted[record.fields["todo_id"]] = record
    return tuple(admitted.values())


class _Door:
    """The admission of one record, which knows what to say when it refuses."""

    def __init__(self, number: int, value: object) -> None:
        self._place = Place(Place(PARAMS, "records"), number)
        if not isinstance(value, Mapping):
            self._value: Mapping[str, Any] = {}
            self.refuse("bad_record", "a record is an object")
        self._value = value
        self._stored = {key: member for key, member in value.items() if member is not None}

    def refuse(self, kind: str, message: str, field: str | None = None, wanted: str | None = None) -> NoReturn:
        todo_id = self._value.get("todo_id")
        named = todo_id if isinstance(todo_id, str) and TODO_ID.fullmatch(todo_id) else None
        place = self._place if field is None else Place(self._place, field)
        raise RenderRejected(message, kind=kind, todo_id=named, field=field, path=str(place), wanted=wanted)

    def admit(self, declarations: Mapping[str, object]) -> Record:
        self._check_members()
        self._check_text()
        fields = {key: self._complete(key, member) for key, member in self._stored.items()}
        self._check_values(fields)
        return Record(self._stored, fields, self._declaration(declarations))

    def _check_members(self) -> None:
        version = self._stored.get("schema_version")
        schema = SCHEMAS.get(version) if isinstance(version, str) else None
        if schema is None:
            self.refuse("bad_schema_version", "a record has a schema_version", "schema_version", " or ".join(SCHEMAS))
        # A field that is null is as unknown as one that is not.
        unknown = [str(name)[:NAME_CHARACTERS_MAX] for name in self._value if name not in schema.fields]
        if unknown:
            names = ", ".join(map(quoted, unknown))
            self.refuse("unknown_field", f"a record of {version} has no field {names}", unknown[0])
        missing = [name for name in schema.required if name not in self._stored]
        if missing:
            message = f"this record has no {', '.join(missing)}, which is required; null counts as missing"
            self.refuse("missing_required_field", message, missing[0], ", ".join(schema.required))
        for name, member in self._stored.items():
            if not _fits(RECORD_FIELDS[name], member):
                shape = RECORD_FIELDS[name].value
                self.refuse("wrong_type", f"{name} is {shape}, not {_kind(member)}", name, shape)
            if not _spellable(member):
                self.refuse("unwritable_value", f"{name} holds what no JSON text in UTF-8 can hold", name)

    def _check_text(self) -> None:
        if self._stored["role"] not in ROLES:
            self.refuse("bad_role", "the role of a record is user or agent", "role", "user or agent")
        if self._stored["archive_state"] not in ARCHIVE_STATES:
            message = "the archive_state of a record is active or archive"
            self.refuse("bad_archive_state", message, "archive_state", "active or archive")
        if not compact(self._stored["text"]):
            self.refuse("empty_text", "a todo has a text", "text")
        if MARKER_START in self._stored["text"]:
            message = f"a text that holds `{MARKER_START}` could be read as a marker; write it in other words"
            self.refuse("todo_text_has_marker", message, "text")

    def _complete(self, name: str, member: Any) -> Any:  # noqa: ANN401 - any JSON value of the right shape
        match RECORD_FIELDS[name]:
            case Shape.SCOPE:
                return self._scope(name, member)
            case Shape.SCOPES:
                return [self._scope(name, scope) for scope in member]
            case Shape.OUTCOMES:
                return [self._outcome(name, outcome) for outcome in member]
        return member

    def _scope(self, name: str, scope: object) -> Mapping[str, Json]:
        if isinstance(scope, Mapping) and "decision_id" in scope:
            message = "a metadata line has no place for the decision_id of a decision scope"
            self.refuse("decision_scope_decision_id", message, name)
        complete = self._object(name, scope, SCOPE_SCHEMA, SCOPE_MEMBERS, SCOPE_WANTED)
        if read_field("decision_scope", encode_value(complete)) != complete:
            message = "a decision scope has a known kind and granularity, and a scope_key in lower case"
            self.refuse("invalid_decision_scope", message, name, SCOPE_WANTED)
        return complete

    def _outcome(self, name: str, outcome: object) -> Mapping[str, Json]:
        given = self._object(name, outcome, OUTCOME_SCHEMA, OUTCOME_MEMBERS, OUTCOME_WANTED)
        complete = {**given, "decision_scope": self._scope(name, given["decision_scope"])}
        if read_field("decision_scope_outcomes", encode_value([complete])) != [complete]:
            message = "an outcome is approve, reject or cancel, of the scope that a todo asks for"
            self.refuse("invalid_decision_scope_outcome", message, name, OUTCOME_WANTED)
        return complete

    def _object(self, name: str, value: object, schema: str, members: Sequence[str], wanted: str) -> Mapping[str, Json]:
        """Return a nested object with its schema version, which only an absent key leaves to us."""
        kind = "decision_scope" if schema == SCOPE_SCHEMA else "decision_scope_outcome"
        if not isinstance(value, Mapping):
            self.refuse(f"invalid_{kind}", f"{name} is made of objects, not {_kind(value)}", name, wanted)
        if not value.keys() <= {"schema_version", *members}:
            message = f"in {name} an object has {', '.join(members)} and nothing else"
            self.refuse(f"{kind}_unknown_key", message, name, wanted)
        complete = {"schema_version": schema, **value}
        if complete["schema_version"] != schema:
            message = f"in {name} the schema_version is {schema}, or left out"
            self.refuse(f"{kind}_bad_schema", message, name, schema)
        if not all(isinstance(value.get(member), str | Mapping) for member in members):
            self.refuse(f"invalid_{kind}", f"in {name} an object has {', '.join(members)}", name, wanted)
        return complete

    def _check_values(self, fields: Mapping[str, Any]) -> None:
        for key, reader in FIELDS.items():
            # A list without members is written as nothing, and read as nothing.
            if key in fields and key not in WITHOUT_MARKDOWN and fields[key] != [] and not _is_normal(key, fields[key]):
                message = (
                    f"{key} has a value that would be read as another one, or not at all; "
                    "names are in lower case, and words have one space between them"
                )
                wanted = " or ".join(reader.members) if isinstance(reader, Choice) else TAKES[key]
                self.refuse("invalid_value", message, key, wanted)
        if fields.get("claimed_by") in fields.get("excluded_agents", ()):
            self.refuse("claimed_by_is_excluded", "the agent of claimed_by is one of excluded_agents", "claimed_by")
        if {"continuation_policy", "removed_continuation_policy"} <= fields.keys():
            message = "a todo has a continuation_policy or a removed one, not both"
            self.refuse("two_continuation_policies", message, "removed_continuation_policy")

    def _declaration(self, declarations: Mapping[str, object]) -> Declaration | None:
        digest = self._stored.get("completion_validation_sha256")
        if not self._stored.get("completion_validation_required"):
            if digest is not None:
                message = "a validation digest comes with completion_validation_required true"
                self.refuse("validation_digest_without_flag", message, "completion_validation_sha256")
            return None
        declaration = complete_declaration(declarations.get(self._stored["todo_id"]))
        if (
            declaration is None
            or not SHA256.fullmatch(str(digest))
            or not _spellable(declaration)
            or declaration_sha256(declaration) != digest
        ):
            message = (
                "a todo that requires validation has the SHA-256 of its private declaration, "
                "and the declaration is given with the records"
            )
            self.refuse("validation_declaration_mismatch", message, "completion_validation_sha256", WANTED)
        return declaration


def _fits(shape: Shape, value: object) -> bool:
    """Tell whether a value has the outer type of its shape; what is nested is looked at where it is completed."""
    match shape:
        case Shape.TEXT:
            return isinstance(value, str)
        case Shape.FLAG:
            return isinstance(value, bool)
        case Shape.COUNT:
            return type(value) is int and 0 <= value < COUNT_LIMIT
        case Shape.NAMES:
            return isinstance(value, list) and all(isinstance(member, str) for member in value)
        case Shape.SCOPES | Shape.OUTCOMES:
            return isinstance(value, list)
    return True


def _is_normal(key: str, value: Json) -> bool:
    """Tell whether the reader of a field gives the very value that was written; some read a number as its digits.

    Of a list it must give something; parity finds what it drops or moves.
    """
    read = read_field(key, encode_value(value))
    return read is not None if isinstance(value, list) else read in (value, str(value))


def _spellable(value: Any) -> bool:  # noqa: ANN401 - any value
    try:
        # Most members are texts.
        return encodable(value if isinstance(value, str) else canonical(value))
    except (ValueError, TypeError, RecursionError):
        return False


def _kind(value: Any) -> str:  # noqa: ANN401 - any value
    try:
        return f"of kind {kind_of(value)}"
    except KeyError:
        return "null"
