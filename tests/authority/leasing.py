"""Goals with todos that are leased and claimed, for tests: commands by their verbs, committed and replayed."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final

from stateward_engine.authority import commands as c
from stateward_engine.authority.decide import decide
from stateward_engine.authority.goal import find_goal, identity_of
from stateward_engine.authority.leases import inspect
from stateward_engine.errors import Refused
from stateward_engine.state.draft import Draft
from stateward_engine.state.transition import Repeat, Transition, from_entry
from stateward_engine.state.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stateward_engine.authority.goal import Goal, HandoffMode, Members

GOAL: Final = "optics"
GRIND: Final = "todo_grind"
A: Final = "agent-a"
B: Final = "agent-b"
_SERIAL: Final = count()


def at(seconds: int) -> str:
    """Return a time, counted from noon, as the clock of a store says it."""
    minute, second = divmod(seconds, 60)
    return f"2026-12-01T{12 + minute // 60:02}:{minute % 60:02}:{second:02}.000000Z"


def todo(todo_id: str = GRIND, **members: Any) -> dict[str, Any]:
    """Return a native record."""
    return {
        "schema_version": "todo_domain_record_v0",
        "todo_id": todo_id,
        "role": "agent",
        "status": "open",
        "done": False,
        "text": "[P1] Grind it.",
        "archive_state": "active",
        **members,
    }


class Desk:
    """A goal on a store of its own, and the clock that it is decided by.

    Attributes:
        view: What is committed.
        seconds: What the clock says, from noon on; a test sets it forth and back.
    """

    def __init__(
        self,
        *todos: Members,
        agents: Iterable[str] = (),
        handoff_mode: HandoffMode = "soft_claim",
        promoted: bool = True,
    ) -> None:
        """Have a goal with these todos: in its ledger when it is promoted, in its document when it is not."""
        self.seconds = 0
        self.todos = {each["todo_id"]: each for each in todos or (todo(),)}
        self.promoted = promoted
        authority = {"store_id": "5704e1d5", "promoted": promoted, "handoff_mode": handoff_mode}
        planes: dict[str, Any] = {
            "registration": {"path": "/home/ada/optics.md", "content": {}, "at": "2026-12-01T08:00:00Z"},
            "authority": {**authority, "agents": list(agents), "at": "2026-12-01T08:00:00Z"},
            "records": self.todos if promoted else {},
        }
        self.view = View()
        self._commit(Transition(None, None, {}, patches={identity_of(GOAL): planes}, goal=GOAL))

    @property
    def goal(self) -> Goal:
        """The goal now."""
        return find_goal(self.view, GOAL)

    def run(self, command: c.Operation | c.ConfigureGoal) -> Any:
        """Return the answer of a command; what it stores is what a replay of its entry leads to."""
        decision = decide(self.view, command, at(self.seconds))
        if isinstance(decision, Transition):
            replayed = Draft(self.view)
            replayed.apply(from_entry(decision.to_entry("")), at="", sequence=self.view.sequence + 1)
            self._commit(decision)
            assert replayed.finish() == self.view
        else:
            assert isinstance(decision, Repeat)
        return decision.receipt

    def refusal(self, command: c.Operation | c.ConfigureGoal) -> dict[str, Any]:
        """Return the facts of the refusal of a command, its message under `message`."""
        try:
            answer = self.run(command)
        except Refused as fault:
            return {**fault.facts, "message": str(fault), "retryable": fault.retryable}
        raise AssertionError(answer)

    def attempt(self, command: c.Operation) -> tuple[str, Mapping[str, Any]]:
        """Return the status and the answer of a command, or its reason and the facts of the refusal."""
        try:
            answer = self.run(command)
        except Refused as fault:
            return str(fault.facts["reason_code"]), fault.facts
        return answer["status"], answer

    def inspect(self, todo_id: str = GRIND) -> dict[str, Any]:
        """Return what is to be known of the lease of a todo."""
        todos = self.goal.records if self.promoted else self.todos
        return inspect(self.goal, todo_id, self.goal.now(at(self.seconds)), todos.get(todo_id))

    def amend(self, todo_id: str, **members: Any) -> None:
        """Give a todo other members, as an update does; `None` takes one away."""
        if self.promoted:
            patch: dict[str, Any] = {"records": {todo_id: members}}
            self._commit(Transition(None, None, {}, patches={identity_of(GOAL): patch}, goal=GOAL))
        self.todos = {**self.todos, todo_id: {**self.todos[todo_id], **members}}

    def acquire(self, owner: str = A, key: str = "la", *, todo_id: str = GRIND, **more: Any) -> c.AcquireLease:
        """Return the command that takes a lease; more is what `_members` and `LeaseClaim` have."""
        return c.AcquireLease(**self._lease(owner, key, todo_id, more))

    def renew(self, owner: str, key: str, version: int | None, *, todo_id: str = GRIND, **more: Any) -> c.RenewLease:
        """Return the command that makes a lease last longer."""
        return c.RenewLease(**self._lease(owner, key, todo_id, {**more, "expected_version": version}))

    def transfer(
        self, owner: str, key: str, version: int | None, to: str, new_key: str, *, todo_id: str = GRIND, **more: Any
    ) -> c.TransferLease:
        """Return the command that hands a lease on."""
        members = self._lease(owner, key, todo_id, {**more, "expected_version": version})
        return c.TransferLease(**members, new_owner=to, new_idempotency_key=new_key)

    def release(
        self, owner: str, key: str, version: int | None, *, todo_id: str = GRIND, **more: Any
    ) -> c.ReleaseLease:
        """Return the command that gives a lease back."""
        return c.ReleaseLease(**self._lease(owner, key, todo_id, {**more, "expected_version": version}))

    def claim(
        self, who: str = A, key: str | None = None, *, todo_id: str = GRIND, version: int | None = None, **more: Any
    ) -> c.ClaimTodo:
        """Return the command that claims a todo, with a lease when a key is given."""
        ttl_seconds = more.pop("ttl_seconds", None)
        lease = None if key is None else c.LeaseClaim(key, version, ttl_seconds)
        return c.ClaimTodo(**_members(more), todo_id=todo_id, claimed_by=who, lease=lease)

    def _lease(self, owner: str, key: str, todo_id: str, more: dict[str, Any]) -> dict[str, Any]:
        claim = c.LeaseClaim(key, more.pop("expected_version", None), more.pop("ttl_seconds", None))
        todos = None if self.promoted else self.todos
        return {**_members(more), "todo_id": todo_id, "owner": owner, "lease": claim, "todos": todos}

    def _commit(self, transition: Transition) -> None:
        draft = Draft(self.view)
        draft.apply(transition, at="", sequence=self.view.sequence + 1)
        self.view = draft.finish()


def _members(more: dict[str, Any]) -> dict[str, Any]:
    """Return what every operation has; an id that no other has unless one is given."""
    return {"goal_id": GOAL, "operation_id": f"op-{next(_SERIAL)}", **more}
