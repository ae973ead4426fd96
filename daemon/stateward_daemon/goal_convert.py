"""The one place that converts the messages about goals and what the engine has of them, a function each."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from stateward_engine.authority import commands as c
from stateward_engine.authority.operations import kept_operation, receipt_of
from stateward_engine.goals.validation import DECLARATION_KEYS
from stateward_protocol.operation_messages import OperationParams, OperationReceipt
from stateward_protocol.todo_messages import TodoReceiptResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stateward_engine.authority.goal import Goal
    from stateward_engine.state.view import View
    from stateward_protocol import lease_messages as n
    from stateward_protocol import todo_messages as t
    from stateward_protocol.operation_messages import LeaseProof

# What is no field of a todo in the params of the methods that take fields.
_NO_FIELDS: Final = frozenset(
    {
        *OperationParams.__struct_fields__,
        *DECLARATION_KEYS,
        *("todo_id", "lease", "clear", "next"),
    }
)


def operation(params: OperationParams) -> dict[str, Any]:
    """Return the members that all operations share; an identity that is not given is random."""
    given = params.operation_id
    return {
        "goal_id": params.goal_id,
        "operation_id": secrets.token_hex(16) if given is None else given,
        "operation_id_given": given is not None,
        "agent_id": params.agent_id,
        "expected_provider_revision": params.expected_provider_revision,
        "dry_run": params.dry_run,
    }


def add_todo(params: t.TodoAddParams) -> c.AddTodo:
    """Return the command of `todo_add`."""
    fields = _fields(params)
    role, text = fields.pop("role"), fields.pop("text")
    return c.AddTodo(**operation(params), role=role, text=text, fields=fields, declaration=_declaration(params))


def claim_todo(params: t.TodoClaimParams) -> c.ClaimTodo:
    """Return the command of `todo_claim`."""
    return c.ClaimTodo(
        **operation(params), todo_id=params.todo_id, claimed_by=params.claimed_by, lease=_proof(params.lease)
    )


def update_todo(params: t.TodoUpdateParams) -> c.UpdateTodo:
    """Return the command of `todo_update`."""
    return c.UpdateTodo(
        **operation(params),
        todo_id=params.todo_id,
        fields=_fields(params),
        clear=tuple(params.clear),
        lease=_proof(params.lease),
    )


def complete_todo(params: t.TodoCompleteParams) -> c.CompleteTodo:
    """Return the command of `todo_complete`."""
    return c.CompleteTodo(
        **operation(params),
        todo_id=params.todo_id,
        fields=_fields(params),
        next=None if params.next is UNSET else params.next,
        lease=_proof(params.lease),
        declaration=_declaration(params),
    )


def archive_completed(params: t.TodoArchiveParams, goal: Goal) -> c.ArchiveCompleted:
    """Return the command of `todo_archive_completed`; without an identity it gets that of the call on this head."""
    members = {**operation(params), "dry_run": params.dry_run or not params.execute}
    if params.operation_id is None:
        # No start should wait for what decides about todos.
        from stateward_engine.authority.archival import operation_id_of  # noqa: PLC0415

        members["operation_id"] = operation_id_of(goal, params.role, params.max_active_done)
    return c.ArchiveCompleted(**members, role=params.role, max_active_done=params.max_active_done)


def acquire_lease(params: n.LeaseAcquireParams) -> c.AcquireLease:
    """Return the command of `lease_acquire`; what the caller thinks of other leases is not asked."""
    return c.AcquireLease(**_held(params, params.expected_version, params.ttl_seconds))


def renew_lease(params: n.LeaseRenewParams) -> c.RenewLease:
    """Return the command of `lease_renew`."""
    return c.RenewLease(**_held(params, params.expected_version, params.ttl_seconds))


def transfer_lease(params: n.LeaseTransferParams) -> c.TransferLease:
    """Return the command of `lease_transfer`."""
    return c.TransferLease(
        **_held(params, params.expected_version, params.ttl_seconds),
        new_owner=params.new_owner,
        new_idempotency_key=params.new_idempotency_key,
    )


def release_lease(params: n.LeaseReleaseParams) -> c.ReleaseLease:
    """Return the command of `lease_release`."""
    return c.ReleaseLease(**_held(params, params.expected_version))


def _held(params: n.LeaseParams, expected_version: int | None, ttl_seconds: int | None = None) -> dict[str, Any]:
    claim = c.LeaseClaim(params.idempotency_key, expected_version, ttl_seconds)
    return {**operation(params), "todo_id": params.todo_id, "owner": params.owner, "lease": claim}


def _proof(lease: LeaseProof | None) -> c.LeaseClaim | None:
    if lease is None:
        return None
    return c.LeaseClaim(lease.idempotency_key, lease.expected_version, lease.ttl_seconds)


def _fields(params: OperationParams) -> dict[str, Any]:
    """Return the fields of a todo that the caller gave."""
    return _given(params, (name for name in params.__struct_fields__ if name not in _NO_FIELDS))


def _declaration(params: OperationParams) -> dict[str, Any] | None:
    """Return the validation declaration that the caller gave, `None` without one."""
    return _given(params, DECLARATION_KEYS) or None


def _given(params: OperationParams, names: Iterable[str]) -> dict[str, Any]:
    members = {name: getattr(params, name) for name in names}
    return {name: value for name, value in members.items() if value is not UNSET}


def receipt(view: View, goal: Goal, operation_id: str) -> TodoReceiptResult:
    """Return what is kept of an operation."""
    kept = kept_operation(view, goal, operation_id)
    found = [] if kept is None else [OperationReceipt(**receipt_of(goal, operation_id, kept))]
    return TodoReceiptResult(
        status="found" if found else "missing",
        goal_id=goal.goal_id,
        operation_id=operation_id,
        provider_revision=goal.provider_revision,
        cursor=str(goal.cursor),
        receipts=found,
    )
