"""What the calls about goals take by name alone: members that several methods have, once for both clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class OperationOptions(TypedDict, total=False):
    """What every mutation of a goal takes; see `stateward_protocol.operation_messages.OperationParams`."""

    operation_id: str | None
    agent_id: str | None
    expected_provider_revision: str | None
    dry_run: bool


class LeaseProof(TypedDict, total=False):
    """A lease that a call proves to hold, or wants to have."""

    idempotency_key: str
    expected_version: int | None
    ttl_seconds: int | None


class Validation(TypedDict, total=False):
    """How the completion of a todo is checked."""

    validation_command: str | None
    validation_command_argv: Sequence[str] | None
    validation_label: str | None
    validation_timeout_seconds: int | None


class PlannedFields(OperationOptions, total=False):
    """Fields of a todo that both who adds it and who updates it may give."""

    status: str | None
    priority: str | None
    task_class: str | None
    action_kind: str | None
    task_domain: str | None
    task_repository: str | None
    continuation_policy: str | None
    required_write_scopes: Sequence[str] | None
    required_capabilities: Sequence[str] | None
    target_capabilities: Sequence[str] | None
    decision_scope: Mapping[str, Any] | None
    required_decision_scopes: Sequence[Mapping[str, Any]] | None
    bound_agent: str | None
    goal_bound: bool | None
    blocks_agent: str | None
    excluded_agents: Sequence[str] | None
    global_gate: bool | None
    unblocks_todo_id: str | None
    resume_when: str | None
    target_key: str | None
    cadence: str | None
    next_due_at: str | None
    expires_at: str | None
    watch_only: str | None
    note: str | None


class AddedFields(PlannedFields, Validation, total=False):
    """Fields of a todo to add."""

    claimed_by: str | None


class UpdatedFields(PlannedFields, total=False):
    """Fields of a todo to change."""

    text: str | None
    capability_binding_ref: str | None
    explore_result_node_refs: Sequence[str] | None
    successor_todo_ids: Sequence[str] | None
    resume_monitor_generation: int | None
    replan_obligation_id: str | None
    last_checked_at: str | None
    result_hash: str | None
    consecutive_no_change: str | None
    material_change: str | None
    material_change_generation: int | None
    max_no_change_before_replan: str | None
    monitor_effect_id: str | None
    evidence: str | None
    reason: str | None
    superseded_by: str | None
    handoff_note: Any


class CompletionOptions(OperationOptions, Validation, total=False):
    """What else a completion takes."""

    note: str | None
    decision_outcome: str | None
    completion_turn_key: str | None
