"""The methods of `GoalCalls`, to be awaited.

Mutations have an identity, `operation_id`; one without gets a random one, so that a lost answer can be asked for again.
Params and results are described in `stateward_protocol`, where their types live. Source: protocol.md section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from stateward import calls
from stateward_protocol import authority_messages as a
from stateward_protocol import goal_messages as g
from stateward_protocol import lease_messages as n
from stateward_protocol import todo_messages as t

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stateward.goal_options import (
        AddedFields,
        CompletionOptions,
        LeaseProof,
        OperationOptions,
        UpdatedFields,
    )
    from stateward_protocol.operation_messages import OperationResult, TodoRole

R = TypeVar("R")
T = TypeVar("T", bound="OperationResult")


class AsyncGoalCalls:
    """What `AsyncClient` has beside the methods about state."""

    async def _perform(self, method: str, result: type[R], params: Mapping[str, Any] | None = None) -> R:
        raise NotImplementedError

    async def _mutate(self, method: str, result: type[T], params: Mapping[str, Any]) -> T:
        """Perform a mutation that can be repeated, as its identity says."""
        sent = calls.identified(params)
        with calls.naming_key(sent["operation_id"], "operation_id"):
            answer = await self._perform(method, result, sent)
        return calls.with_identity(answer, params)

    # -- goals --

    async def goal_new(
        self,
        goal_id: str,
        path: str,
        objective: str,
        *,
        next_action: str | None = None,
        agents: Sequence[str] | None = None,
    ) -> g.GoalRegisterResult:
        """Make the document of a goal and register it; a file that is there stays as it is."""
        params = {
            "goal_id": goal_id,
            "path": path,
            "objective": objective,
            "next_action": next_action,
            "agents": agents,
        }
        return await self._perform("goal_new", g.GoalRegisterResult, params)

    async def goal_register(
        self, goal_id: str, path: str, *, agents: Sequence[str] | None = None
    ) -> g.GoalRegisterResult:
        """Register a document as that of a goal; not one byte of it is changed."""
        params = {"goal_id": goal_id, "path": path, "agents": agents}
        return await self._perform("goal_register", g.GoalRegisterResult, params)

    async def goal_configure(
        self,
        goal_id: str,
        *,
        agents: Sequence[str] | None = None,
        handoff_mode: g.HandoffMode | None = None,
        path: str | None = None,
    ) -> g.GoalConfigureResult:
        """Change the registered actors, the handoff mode or the place of the document of a goal."""
        params = {"goal_id": goal_id, "agents": agents, "handoff_mode": handoff_mode, "path": path}
        return await self._perform("goal_configure", g.GoalConfigureResult, params)

    async def goal_list(self) -> g.GoalListResult:
        """List the registered goals."""
        return await self._perform("goal_list", g.GoalListResult)

    async def goal_status(self, goal_id: str) -> a.GoalStatusResult:
        """Ask where the authority of a goal's todos is, and whether its document shows the newest ones."""
        return await self._perform("goal_status", a.GoalStatusResult, {"goal_id": goal_id})

    # -- todos --

    async def todo_list(
        self,
        goal_id: str,
        *,
        role: t.Section | None = None,
        status: str | None = None,
        todo_id: str | None = None,
        agent_id: str | None = None,
        ready: bool | None = None,
        limit: int | None = None,
    ) -> dict[str, Any]:
        """List the todos of a goal in their order, or read one of them exactly."""
        params = {
            "goal_id": goal_id,
            "role": role,
            "status": status,
            "todo_id": todo_id,
            "agent_id": agent_id,
            "ready": ready,
            "limit": limit,
        }
        return await self._perform("todo_list", dict, params)

    async def todo_add(self, goal_id: str, role: TodoRole, text: str, **fields: Unpack[AddedFields]) -> t.TodoAddResult:
        """Add a todo."""
        params = {"goal_id": goal_id, "role": role, "text": text, **fields}
        return await self._mutate("todo_add", t.TodoAddResult, params)

    async def todo_claim(
        self,
        goal_id: str,
        todo_id: str,
        claimed_by: str,
        *,
        lease: LeaseProof | None = None,
        **options: Unpack[OperationOptions],
    ) -> t.TodoClaimResult:
        """Claim a todo for an actor, and in the same commit its lease."""
        params = {"goal_id": goal_id, "todo_id": todo_id, "claimed_by": claimed_by, "lease": lease, **options}
        return await self._mutate("todo_claim", t.TodoClaimResult, params)

    async def todo_update(
        self,
        goal_id: str,
        todo_id: str,
        *,
        clear: Sequence[str] | None = None,
        lease: LeaseProof | None = None,
        **fields: Unpack[UpdatedFields],
    ) -> t.TodoUpdateResult:
        """Change fields of a todo, all or none; `clear` removes fields."""
        params = {"goal_id": goal_id, "todo_id": todo_id, "clear": clear, "lease": lease, **fields}
        return await self._mutate("todo_update", t.TodoUpdateResult, params)

    async def todo_complete(
        self,
        goal_id: str,
        todo_id: str,
        *,
        evidence: str | None = None,
        no_followup: bool | None = None,
        successor_todo_ids: Sequence[str] | None = None,
        next: Mapping[str, Any] | None = None,  # noqa: A002 - as the wire calls it
        lease: LeaseProof | None = None,
        **options: Unpack[CompletionOptions],
    ) -> t.TodoCompleteResult:
        """Complete a todo, and release its lease in the same commit."""
        params = {
            "goal_id": goal_id,
            "todo_id": todo_id,
            "evidence": evidence,
            "no_followup": no_followup,
            "successor_todo_ids": successor_todo_ids,
            "next": next,
            "lease": lease,
            **options,
        }
        return await self._mutate("todo_complete", t.TodoCompleteResult, params)

    async def todo_archive_completed(
        self,
        goal_id: str,
        *,
        role: TodoRole | None = None,
        max_active_done: int | None = None,
        execute: bool | None = None,
        **options: Unpack[OperationOptions],
    ) -> t.TodoArchiveResult:
        """Archive finished todos, except the newest ones; without `execute` tell which."""
        params = {
            "goal_id": goal_id,
            "role": role,
            "max_active_done": max_active_done,
            "execute": execute,
            **options,
        }
        return await self._perform("todo_archive_completed", t.TodoArchiveResult, params)

    async def todo_receipt(self, goal_id: str, operation_id: str) -> t.TodoReceiptResult:
        """Ask whether an operation was accepted, as after an answer that was lost."""
        params = {"goal_id": goal_id, "operation_id": operation_id}
        return await self._perform("todo_receipt", t.TodoReceiptResult, params)

    async def project_markdown(
        self, goal_id: str, *, provider_revision: str | None = None, execute: bool | None = None
    ) -> dict[str, Any]:
        """Show the todos of a promoted goal in its document; without `execute` tell what would be written."""
        params = {"goal_id": goal_id, "provider_revision": provider_revision, "execute": execute}
        return await self._perform("project_markdown", dict, params)

    async def refresh_state(
        self,
        goal_id: str,
        *,
        classification: str | None = None,
        next_action: str | None = None,
        turn_key: str | None = None,
        **options: Unpack[OperationOptions],
    ) -> t.RefreshStateResult:
        """Record that an actor took stock of a goal, and learn where work is missing."""
        params = {
            "goal_id": goal_id,
            "classification": classification,
            "next_action": next_action,
            "turn_key": turn_key,
            **options,
        }
        return await self._mutate("refresh_state", t.RefreshStateResult, params)

    # -- leases --

    async def lease_acquire(
        self,
        goal_id: str,
        todo_id: str,
        owner: str,
        idempotency_key: str,
        *,
        ttl_seconds: int | None = None,
        expected_version: int | None = None,
        effective: Any = None,  # noqa: ANN401 - accepted from older callers, and ignored
        **options: Unpack[OperationOptions],
    ) -> n.LeaseResult:
        """Take the lease of a todo; the same owner, key and time again answers the first result."""
        params = {
            **calls.lease_params(goal_id, todo_id, owner, idempotency_key, expected_version),
            "ttl_seconds": ttl_seconds,
            "effective": effective,
            **options,
        }
        return await self._mutate("lease_acquire", n.LeaseResult, params)

    async def lease_renew(
        self,
        goal_id: str,
        todo_id: str,
        owner: str,
        idempotency_key: str,
        expected_version: int,
        *,
        ttl_seconds: int | None = None,
        **options: Unpack[OperationOptions],
    ) -> n.LeaseResult:
        """Make a held lease last longer."""
        named = calls.lease_params(goal_id, todo_id, owner, idempotency_key, expected_version)
        return await self._mutate("lease_renew", n.LeaseResult, {**named, "ttl_seconds": ttl_seconds, **options})

    async def lease_transfer(
        self,
        goal_id: str,
        todo_id: str,
        owner: str,
        idempotency_key: str,
        expected_version: int,
        *,
        new_owner: str,
        new_idempotency_key: str,
        ttl_seconds: int | None = None,
        **options: Unpack[OperationOptions],
    ) -> n.LeaseResult:
        """Give a held lease to another owner, under a new key."""
        params = {
            **calls.lease_params(goal_id, todo_id, owner, idempotency_key, expected_version),
            "new_owner": new_owner,
            "new_idempotency_key": new_idempotency_key,
            "ttl_seconds": ttl_seconds,
            **options,
        }
        return await self._mutate("lease_transfer", n.LeaseResult, params)

    async def lease_release(
        self,
        goal_id: str,
        todo_id: str,
        owner: str,
        idempotency_key: str,
        expected_version: int,
        **options: Unpack[OperationOptions],
    ) -> n.LeaseResult:
        """Give a lease back."""
        named = calls.lease_params(goal_id, todo_id, owner, idempotency_key, expected_version)
        return await self._mutate("lease_release", n.LeaseResult, {**named, **options})

    async def lease_inspect(self, goal_id: str, todo_id: str) -> n.LeaseInspectResult:
        """Ask who holds the lease of a todo, and whether it is in force."""
        params = {"goal_id": goal_id, "todo_id": todo_id}
        return await self._perform("lease_inspect", n.LeaseInspectResult, params)

    # -- authority --

    async def authority_shadow_bootstrap(self, goal_id: str, **options: Unpack[OperationOptions]) -> a.ShadowResult:
        """Copy the qualified todos of a document into a shadow; the document stays the authority."""
        params = {"goal_id": goal_id, **options}
        return await self._mutate("authority_shadow_bootstrap", a.ShadowResult, params)

    async def authority_shadow_qualify(self, goal_id: str) -> a.ShadowQualifyResult:
        """Ask what stands against the promotion of a goal; nothing is changed."""
        return await self._perform("authority_shadow_qualify", a.ShadowQualifyResult, {"goal_id": goal_id})

    async def authority_promote(
        self, goal_id: str, *, handoff_mode: g.HandoffMode | None = None, **options: Unpack[OperationOptions]
    ) -> a.PromoteResult:
        """Make the ledger the authority of a goal's todos. There is no way back."""
        params = {"goal_id": goal_id, "handoff_mode": handoff_mode, **options}
        return await self._mutate("authority_promote", a.PromoteResult, params)

    async def authority_rollback(self, goal_id: str, **options: Unpack[OperationOptions]) -> a.ShadowResult:
        """Put a shadow aside before promotion."""
        return await self._mutate("authority_rollback", a.ShadowResult, {"goal_id": goal_id, **options})
