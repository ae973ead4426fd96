"""Params and results of the methods about todos."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType, field

from stateward_protocol.goal_messages import AgentId, GoalId, HandoffMode  # noqa: TC001 - msgspec resolves them
from stateward_protocol.messages import DiagnosticItem, JsonValue, Result, StrictParams
from stateward_protocol.operation_messages import (
    GoalParams,
    Key,
    Lease,
    LeaseProof,
    OperationParams,
    OperationReceipt,
    OperationResult,
    Record,
    TodoId,
    TodoRole,
)

Section: TypeAlias = Literal["user", "agent", "archive"]
# What a field of a todo holds is checked by its contract, which refuses all or nothing and names what is wrong.
TextField: TypeAlias = Annotated[Any, Meta(description="text")]
FlagField: TypeAlias = Annotated[Any, Meta(description="true or false")]
CountField: TypeAlias = Annotated[Any, Meta(description="integer")]
NamesField: TypeAlias = Annotated[Any, Meta(description="list of text")]
ScopeField: TypeAlias = Annotated[Any, Meta(description="object of a decision scope")]
ScopesField: TypeAlias = Annotated[Any, Meta(description="list of objects of decision scopes")]
NextTodo: TypeAlias = Annotated[dict[str, Any], Meta(description="role, text and fields as todo_add takes them")]


class PlannedParams(OperationParams, frozen=True, kw_only=True):
    """The fields of a todo that both who adds it and who updates it may give."""

    status: TextField | UnsetType = UNSET
    priority: TextField | UnsetType = UNSET
    task_class: TextField | UnsetType = UNSET
    action_kind: TextField | UnsetType = UNSET
    task_domain: TextField | UnsetType = UNSET
    task_repository: TextField | UnsetType = UNSET
    continuation_policy: TextField | UnsetType = UNSET
    required_write_scopes: NamesField | UnsetType = UNSET
    required_capabilities: NamesField | UnsetType = UNSET
    target_capabilities: NamesField | UnsetType = UNSET
    decision_scope: ScopeField | UnsetType = UNSET
    required_decision_scopes: ScopesField | UnsetType = UNSET
    bound_agent: TextField | UnsetType = UNSET
    goal_bound: FlagField | UnsetType = UNSET
    blocks_agent: TextField | UnsetType = UNSET
    excluded_agents: NamesField | UnsetType = UNSET
    global_gate: FlagField | UnsetType = UNSET
    unblocks_todo_id: TextField | UnsetType = UNSET
    resume_when: TextField | UnsetType = UNSET
    target_key: TextField | UnsetType = UNSET
    cadence: TextField | UnsetType = UNSET
    next_due_at: TextField | UnsetType = UNSET
    expires_at: TextField | UnsetType = UNSET
    watch_only: TextField | UnsetType = UNSET
    note: TextField | UnsetType = UNSET


class TodoAddParams(PlannedParams, frozen=True, kw_only=True):
    """A todo to add: whose it is, its text, and any of its fields.

    The priority is P1 unless the text begins with one, as in `[P2] …`, or the todo holds others up, which is P0.
    The `validation_…` members declare how its completion is checked; a record shows their digest alone.
    """

    role: TodoRole
    text: str
    claimed_by: TextField | UnsetType = UNSET
    validation_command: TextField | UnsetType = UNSET
    validation_command_argv: NamesField | UnsetType = UNSET
    validation_label: TextField | UnsetType = UNSET
    validation_timeout_seconds: CountField | UnsetType = UNSET


class TodoOperationResult(OperationResult, frozen=True, kw_only=True):
    """What every mutation of todos is answered.

    Where it changed the document, `problems` are those that this has now, as `goal_diagnostics` answers them: of many
    the 20 gravest, and `problem_count` is how many there are. Elsewhere both are absent.
    """

    problems: list[DiagnosticItem] | UnsetType = UNSET
    problem_count: int | UnsetType = UNSET


class TodoAddResult(TodoOperationResult, frozen=True, kw_only=True):
    """The new todo; its id follows from the operation id."""

    todo: Record
    todo_id: str
    added: bool


class TodoClaimParams(OperationParams, frozen=True, kw_only=True):
    """Which todo to claim for whom, and with which lease; a goal of mode `hard_lease` wants one."""

    todo_id: TodoId
    claimed_by: AgentId
    lease: LeaseProof | None = None


class TodoClaimResult(TodoOperationResult, frozen=True, kw_only=True):
    """Who has the todo now, and under which lease; the claim and the lease are one commit."""

    todo_id: str
    claimed_by: str
    handoff_mode: HandoffMode
    lease: Lease | None = None
    lease_changed: bool
    lease_idempotent: bool
    todo_changed: bool
    already_claimed_by_you: bool


class TodoUpdateParams(PlannedParams, frozen=True, kw_only=True):
    """Fields of a todo to change, all or none; `clear` removes fields, and an empty list does, too."""

    todo_id: TodoId
    text: TextField | UnsetType = UNSET
    capability_binding_ref: TextField | UnsetType = UNSET
    explore_result_node_refs: NamesField | UnsetType = UNSET
    successor_todo_ids: NamesField | UnsetType = UNSET
    resume_monitor_generation: CountField | UnsetType = UNSET
    replan_obligation_id: TextField | UnsetType = UNSET
    last_checked_at: TextField | UnsetType = UNSET
    result_hash: TextField | UnsetType = UNSET
    consecutive_no_change: TextField | UnsetType = UNSET
    material_change: TextField | UnsetType = UNSET
    material_change_generation: CountField | UnsetType = UNSET
    max_no_change_before_replan: TextField | UnsetType = UNSET
    monitor_effect_id: TextField | UnsetType = UNSET
    evidence: TextField | UnsetType = UNSET
    reason: TextField | UnsetType = UNSET
    superseded_by: TextField | UnsetType = UNSET
    handoff_note: JsonValue | UnsetType = UNSET
    clear: list[str] = field(default_factory=list)
    lease: LeaseProof | None = None


class TodoUpdateResult(TodoOperationResult, frozen=True, kw_only=True):
    """The todo as it is now."""

    todo: Record
    todo_id: str


class TodoCompleteParams(OperationParams, frozen=True, kw_only=True):
    """Which todo is done, what shows it, and what comes next.

    `next` is a todo to add as its successor, in the same commit; `no_followup` says that none comes. The
    `validation_…` members are the declaration that was run, where the todo demands one.
    """

    todo_id: TodoId
    evidence: TextField | UnsetType = UNSET
    note: TextField | UnsetType = UNSET
    decision_outcome: TextField | UnsetType = UNSET
    no_followup: FlagField | UnsetType = UNSET
    successor_todo_ids: NamesField | UnsetType = UNSET
    completion_turn_key: TextField | UnsetType = UNSET
    next: NextTodo | UnsetType = UNSET
    lease: LeaseProof | None = None
    validation_command: TextField | UnsetType = UNSET
    validation_command_argv: NamesField | UnsetType = UNSET
    validation_label: TextField | UnsetType = UNSET
    validation_timeout_seconds: CountField | UnsetType = UNSET


class TodoCompleteResult(TodoOperationResult, frozen=True, kw_only=True):
    """When the todo was completed (RFC 3339, UTC), how the goal goes on, and the receipt of it."""

    todo_id: str
    todo: Record
    completed_at: str
    completion_continuation: Literal["active_goal", "successor", "no_followup"]
    completion_receipt_id: str
    generated_successors: list[Record] = field(default_factory=list)
    lease: Lease | UnsetType = UNSET


class TodoArchiveParams(OperationParams, frozen=True, kw_only=True):
    """Archive finished todos of a role, except the newest `max_active_done`; without `execute` a preview.

    `dry_run` is a preview as well.
    """

    role: TodoRole = "agent"
    max_active_done: Annotated[int, Meta(ge=0, le=1_000_000)] = 10
    execute: bool = False


class TodoArchiveResult(TodoOperationResult, frozen=True, kw_only=True):
    """Which todos moved into the archive, and how many finished ones stay."""

    active_done_before: int
    active_done_after: int
    moved_count: int
    moved_todo_ids: list[str]


class TodoListParams(GoalParams, frozen=True):
    """Which todos: the active ones of the goal, or those of a role, a status or an agent, at most `limit` of them.

    The role `archive` lists what was archived.

    `ready` leaves those that can be worked on now: open, unclaimed or the agent's own, unblocked, and with nothing to
    wait for. `todo_id` reads one todo exactly.
    """

    role: Section | None = None
    status: str | None = None
    todo_id: str | None = None
    agent_id: AgentId | None = None
    ready: bool | None = None
    limit: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None


class TodoReceiptParams(GoalParams, frozen=True):
    """Which operation is asked about."""

    operation_id: Key


class TodoReceiptResult(Result, frozen=True):
    """Whether the operation was accepted, with its receipts; `provider_revision` is where the goal is now."""

    status: Literal["found", "missing"]
    goal_id: str
    operation_id: str
    provider_revision: str
    cursor: str
    receipts: list[OperationReceipt] = field(default_factory=list)


class ProjectMarkdownParams(StrictParams, frozen=True):
    """Which revision of a promoted goal to show in its document; without `execute` a preview that writes nothing.

    A preview has `markdown`, the whole document as it would be.
    A revision that is given is pinned: it has to be the newest one, and no other is written in its place.
    """

    goal_id: GoalId
    provider_revision: str | None = None
    execute: bool = False


class RefreshStateParams(OperationParams, frozen=True, kw_only=True):
    """What an actor found when it took stock of a goal, and what comes next.

    The same `operation_id` or the same `turn_key` again is answered with the first record. Where several actors are
    registered, `agent_id` says which it is.
    """

    classification: str | None = None
    next_action: str | None = None
    turn_key: Key | None = None


class RefreshStateResult(OperationResult, frozen=True, kw_only=True):
    """The record of the turn, with what its todos were read from, and the `diagnosis`.

    That has `missing_work` when nothing is open for agents, then with `recommended_action`, and `idle_roles`.
    """

    record: dict[str, JsonValue]
    diagnosis: dict[str, JsonValue]
