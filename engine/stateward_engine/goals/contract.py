"""The contract of canonical todo records: which fields there are, what each holds, and which of them Markdown shows.

Legacy records come from a document and keep the place that they had there; native records never had one.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Shape(Enum):
    """What a field holds, as a noun phrase."""

    TEXT = "a string"
    FLAG = "true or false"
    COUNT = "an integer from 0 with at most 18 digits"
    NAMES = "an array of strings"
    SCOPE = "a decision scope"
    SCOPES = "an array of decision scopes"
    OUTCOMES = "an array of decision scope outcomes"
    ANYTHING = "any JSON value"


class RecordSchema(NamedTuple):
    """One of the two kinds of records.

    Attributes:
        fields: All that a record may have; an unknown field is refused, never dropped.
        required: What it must have; null counts as missing.
    """

    fields: frozenset[str]
    required: tuple[str, ...]


# In the order of the contract. Source: authority.md section 2.
RECORD_FIELDS: Final[Mapping[str, Shape]] = {
    "index": Shape.COUNT,
    "done": Shape.FLAG,
    "text": Shape.TEXT,
    "schema_version": Shape.TEXT,
    "todo_id": Shape.TEXT,
    "role": Shape.TEXT,
    "status": Shape.TEXT,
    "priority": Shape.TEXT,
    "title": Shape.TEXT,
    "archive_state": Shape.TEXT,
    "source_section": Shape.TEXT,
    "task_class": Shape.TEXT,
    "action_kind": Shape.TEXT,
    "task_domain": Shape.TEXT,
    "capability_binding_ref": Shape.TEXT,
    "task_repository": Shape.TEXT,
    "continuation_policy": Shape.TEXT,
    "removed_continuation_policy": Shape.TEXT,
    "required_write_scopes": Shape.NAMES,
    "required_capabilities": Shape.NAMES,
    "target_capabilities": Shape.NAMES,
    "explore_result_node_refs": Shape.NAMES,
    "decision_scope": Shape.SCOPE,
    "required_decision_scopes": Shape.SCOPES,
    "decision_outcome": Shape.TEXT,
    "decision_scope_outcomes": Shape.OUTCOMES,
    "claimed_by": Shape.TEXT,
    "created_by": Shape.TEXT,
    "last_actor_agent_id": Shape.TEXT,
    "bound_agent": Shape.TEXT,
    "goal_bound": Shape.FLAG,
    "blocks_agent": Shape.TEXT,
    "excluded_agents": Shape.NAMES,
    "global_gate": Shape.FLAG,
    "unblocks_todo_id": Shape.TEXT,
    "resume_when": Shape.TEXT,
    "resume_monitor_generation": Shape.COUNT,
    "resume_condition": Shape.ANYTHING,
    "resume_ready": Shape.FLAG,
    "no_followup": Shape.FLAG,
    "successor_todo_ids": Shape.NAMES,
    "completion_continuation": Shape.TEXT,
    "completion_recovery": Shape.TEXT,
    "completion_receipt_id": Shape.TEXT,
    "replan_obligation_id": Shape.TEXT,
    "target_key": Shape.TEXT,
    "cadence": Shape.TEXT,
    "next_due_at": Shape.TEXT,
    "expires_at": Shape.TEXT,
    "watch_only": Shape.TEXT,
    "last_checked_at": Shape.TEXT,
    "result_hash": Shape.TEXT,
    "consecutive_no_change": Shape.TEXT,
    "material_change": Shape.TEXT,
    "material_change_generation": Shape.COUNT,
    "max_no_change_before_replan": Shape.TEXT,
    "monitor_effect_id": Shape.TEXT,
    "note": Shape.TEXT,
    "evidence": Shape.TEXT,
    "reason": Shape.TEXT,
    "completed_at": Shape.TEXT,
    "completion_turn_key": Shape.TEXT,
    "completion_result": Shape.ANYTHING,
    "updated_at": Shape.TEXT,
    "superseded_by": Shape.TEXT,
    "completion_validation_required": Shape.FLAG,
    "completion_validation_sha256": Shape.TEXT,
    "completion_validation_revision": Shape.ANYTHING,
    "completion_validation_revision_history": Shape.ANYTHING,
    "handoff_note": Shape.ANYTHING,
}

# Neither written nor compared: a display has no form for them, and nobody reads them back from it. The list is closed.
WITHOUT_MARKDOWN: Final = frozenset(
    {
        "created_by",
        "last_actor_agent_id",
        "resume_condition",
        "resume_ready",
        "handoff_note",
        "completion_result",
        "completion_validation_revision",
        "completion_validation_revision_history",
    }
)

LEGACY_SCHEMA: Final = "todo_item_v0"
NATIVE_SCHEMA: Final = "todo_domain_record_v0"
_PLACE_FIELDS: Final = frozenset({"index", "source_section"})
_REQUIRED: Final = ("schema_version", "todo_id", "role", "status", "done", "text", "archive_state")
SCHEMAS: Final[Mapping[str, RecordSchema]] = {
    LEGACY_SCHEMA: RecordSchema(frozenset(RECORD_FIELDS), (*_REQUIRED, "source_section")),
    NATIVE_SCHEMA: RecordSchema(frozenset(RECORD_FIELDS) - _PLACE_FIELDS, _REQUIRED),
}
