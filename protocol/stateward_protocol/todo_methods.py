"""The rows of the method table that are about todos and their leases."""

from __future__ import annotations

from typing import Final

from stateward_protocol import lease_messages as n
from stateward_protocol import todo_messages as t
from stateward_protocol.goal_methods import GOAL
from stateward_protocol.method import Kind, Method

_TODO: Final = {**GOAL, "todo_id": "todo_rehearse"}
_LEASE: Final = {**_TODO, "owner": "agent-kite", "idempotency_key": "kite-1"}

ROWS: Final = (
    Method(
        "todo_list",
        Kind.DOCUMENT,
        t.TodoListParams,
        dict,
        "List the todos of a goal in their order, or read one of them exactly.",
        {**GOAL, "ready": True, "agent_id": "agent-kite"},
    ),
    Method(
        "todo_add",
        Kind.GOAL,
        t.TodoAddParams,
        t.TodoAddResult,
        "Add a todo.",
        {**GOAL, "role": "agent", "text": "Rehearse the rollback", "operation_id": "add-rehearsal"},
    ),
    Method(
        "todo_claim",
        Kind.GOAL,
        t.TodoClaimParams,
        t.TodoClaimResult,
        "Claim a todo for an actor, and in the same commit its lease.",
        {
            **_TODO,
            "claimed_by": "agent-kite",
            "agent_id": "agent-kite",
            "lease": {"idempotency_key": "kite-1", "expected_version": 0},
        },
    ),
    Method(
        "todo_update",
        Kind.GOAL,
        t.TodoUpdateParams,
        t.TodoUpdateResult,
        "Change fields of a todo, all or none.",
        {**_TODO, "priority": "P0", "clear": ["note"]},
    ),
    Method(
        "todo_complete",
        Kind.GOAL,
        t.TodoCompleteParams,
        t.TodoCompleteResult,
        "Complete a todo, and release its lease in the same commit.",
        {**_TODO, "agent_id": "agent-kite", "evidence": "rehearsed in 8 minutes", "no_followup": True},
    ),
    Method(
        "todo_archive_completed",
        Kind.GOAL,
        t.TodoArchiveParams,
        t.TodoArchiveResult,
        "Archive finished todos, except the newest ones; without `execute` tell which.",
        {**GOAL, "max_active_done": 10, "execute": True},
    ),
    Method(
        "todo_receipt",
        Kind.READ,
        t.TodoReceiptParams,
        t.TodoReceiptResult,
        "Ask whether an operation was accepted, as after an answer that was lost.",
        {**GOAL, "operation_id": "add-rehearsal"},
    ),
    Method(
        "project_markdown",
        Kind.GOAL,
        t.ProjectMarkdownParams,
        dict,
        "Show the todos of a promoted goal in its document; without `execute` tell what would be written.",
        {**GOAL, "execute": True},
    ),
    Method(
        "refresh_state",
        Kind.GOAL,
        t.RefreshStateParams,
        t.RefreshStateResult,
        "Record that an actor took stock of a goal, and learn where work is missing.",
        {**GOAL, "agent_id": "agent-kite", "classification": "in_progress", "turn_key": "turn-1"},
    ),
    Method(
        "lease_acquire",
        Kind.GOAL,
        n.LeaseAcquireParams,
        n.LeaseResult,
        "Take the lease of a todo; the same owner, key and time again answers the first result.",
        {**_LEASE, "ttl_seconds": 2700, "expected_version": 0},
    ),
    Method(
        "lease_renew",
        Kind.GOAL,
        n.LeaseRenewParams,
        n.LeaseResult,
        "Make a held lease last longer.",
        {**_LEASE, "expected_version": 1},
    ),
    Method(
        "lease_transfer",
        Kind.GOAL,
        n.LeaseTransferParams,
        n.LeaseResult,
        "Give a held lease to another owner, under a new key.",
        {**_LEASE, "expected_version": 1, "new_owner": "agent-wren", "new_idempotency_key": "wren-1"},
    ),
    Method(
        "lease_release",
        Kind.GOAL,
        n.LeaseReleaseParams,
        n.LeaseResult,
        "Give a lease back.",
        {**_LEASE, "expected_version": 1},
    ),
    Method(
        "lease_inspect",
        Kind.DOCUMENT,
        n.LeaseInspectParams,
        n.LeaseInspectResult,
        "Ask who holds the lease of a todo, and whether it is in force.",
        _TODO,
    ),
)
