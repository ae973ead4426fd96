"""Commands about goals: what the one writer is asked to decide, already checked as far as no state is needed.

The members of a command are what its request is: the same operation id with other members is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.authority.goal import HandoffMode, Machine, Members
    from stateward_engine.json_value import Json


@dataclass(frozen=True, slots=True)
class RegisterGoal:
    """Know a document as that of a goal.

    Attributes:
        goal_id: Its id.
        path: Real path of the document.
        content: What is compared when it is registered again: `metadata` (frontmatter values) and `narrative_sha256`.
        agents: The registered actors, or `None` where nothing is said of them.
        store_id: Names the store, unless a goal has named it already.
        machine: That of the document, in a store that several machines share.
    """

    goal_id: str
    path: str
    content: Mapping[str, Json]
    agents: tuple[str, ...] | None
    store_id: str
    machine: Machine | None = None


@dataclass(frozen=True, slots=True)
class ConfigureGoal:
    """Change what the store knows of a goal; `None` leaves it as it is.

    Attributes:
        goal_id: The goal.
        agents: The registered actors.
        handoff_mode: How todos are handed out once the goal is promoted.
        path: Where its document is now: the real path.
        content: What is compared when that document is registered again, as in `RegisterGoal`.
        machine: That of `path`.
    """

    goal_id: str
    agents: tuple[str, ...] | None = None
    handoff_mode: HandoffMode | None = None
    path: str | None = None
    content: Mapping[str, Json] | None = None
    machine: Machine | None = None


@dataclass(frozen=True, slots=True)
class NoteDelivery:
    """Keep what is about to be put into the document of a goal, and what it replaces.

    Whatever becomes of the writing, the sections are as one of the two says until somebody edits them.

    Attributes:
        goal_id: The goal.
        provider_revision: What is rendered.
        sections: The digest of each section as it will stand in the document, by role.
        replaced: The same of the sections that stand there now.
    """

    goal_id: str
    provider_revision: str
    sections: Mapping[str, str]
    replaced: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What every mutation of a goal has.

    Attributes:
        goal_id: The goal.
        operation_id: Identity of the mutation, unique in the store.
        operation_id_given: Whether the caller chose it; otherwise it is random.
        agent_id: Who acts, or `None`.
        expected_provider_revision: Refuse when the goal is at another one.
        dry_run: Decide and store nothing.
    """

    goal_id: str
    operation_id: str
    operation_id_given: bool = True
    agent_id: str | None = None
    expected_provider_revision: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class LeaseClaim:
    """The lease that a call speaks of: one that it proves to hold, or one that it wants to have.

    Attributes:
        idempotency_key: The key of the lease.
        expected_version: Its version; 0 is none yet.
        ttl_seconds: How long a new one lasts, or `None` for the default.
    """

    idempotency_key: str
    expected_version: int | None = None
    ttl_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddTodo(Operation):
    """Add a todo.

    Attributes:
        role: `user` or `agent`.
        text: Its text, with or without the prefix of its priority.
        fields: Members of the record that the caller gives, by their names; not yet checked.
        declaration: The private validation declaration, or `None`.
    """

    role: str
    text: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    declaration: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTodo(Operation):
    """Claim a todo for an actor, with a lease where one is wanted or needed."""

    todo_id: str
    claimed_by: str
    lease: LeaseClaim | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateTodo(Operation):
    """Change fields of a todo, all or none.

    Attributes:
        todo_id: The todo.
        fields: New values by field; not yet checked.
        clear: Fields to remove.
        lease: Proof of a lease, or `None`.
    """

    todo_id: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    clear: tuple[str, ...] = ()
    lease: LeaseClaim | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompleteTodo(Operation):
    """Finish a todo.

    Attributes:
        todo_id: The todo.
        fields: What the caller gives of `evidence`, `note`, `decision_outcome`, `no_followup`, `successor_todo_ids`,
            `completion_turn_key`; not yet checked.
        next: A todo to create as its successor (`role`, `text` and fields), or `None`.
        lease: Proof of a lease, or `None`.
        declaration: The validation declaration that was run, or `None`.
    """

    todo_id: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    next: Mapping[str, Any] | None = None
    lease: LeaseClaim | None = None
    declaration: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveCompleted(Operation):
    """Archive finished todos of a role, except the newest `max_active_done`."""

    role: str = "agent"
    max_active_done: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseOperation(Operation):
    """What every operation on the lease of a todo has.

    Attributes:
        todo_id: The todo.
        owner: Who holds the lease, or is to hold it.
        lease: Its key and version.
        todos: The todos of an unpromoted goal by id, as its document has them now; `None` where the ledger has them.
            It is what the operation is judged by, and no part of what is asked.
    """

    todo_id: str
    owner: str
    lease: LeaseClaim
    todos: Mapping[str, Members] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquireLease(LeaseOperation):
    """Take the lease of a todo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewLease(LeaseOperation):
    """Make a held lease last longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferLease(LeaseOperation):
    """Give a held lease to another owner under a new key."""

    new_owner: str
    new_idempotency_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseLease(LeaseOperation):
    """Give a lease back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshState(Operation):
    """Record that an actor took stock of a goal; `turn_key` is what makes a repeat of it one.

    Attributes:
        classification: What the actor found.
        next_action: What comes next.
        turn_key: Identity of the turn, or `None`.
        todo_source: What the todos were read from.
        summary: The counts that the diagnosis of missing work is made of.
    """

    classification: str | None = None
    next_action: str | None = None
    turn_key: str | None = None
    todo_source: str
    summary: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordEdit(Operation):
    """Keep the receipt of a mutation that the document of an unpromoted goal has already.

    Attributes:
        edit: The mutation, as it was asked for.
        answer: The members of its answer that are its own.
        status: The word for its first run.
        leases: What it changes of leases, as a merge patch by todo id.
        held: The leases of those todos that it was decided on, `None` for a todo that had none.
    """

    edit: TodoOperation
    answer: Members
    status: Status
    leases: Mapping[str, Any] = field(default_factory=dict)
    held: Mapping[str, Members | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapShadow(Operation):
    """Copy qualified records into a shadow; the document stays the authority.

    What is copied is found when it is decided, and no part of what is asked.

    Attributes:
        records: Records by todo id. They are legacy ones: their place in the document orders them, and nothing else.
        source_sha256: Digest of the document that they were read from.
        declarations: Private validation declarations by todo id.
    """

    records: Mapping[str, Any] = field(default_factory=dict)
    source_sha256: str = ""
    declarations: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromoteGoal(Operation):
    """Make the ledger the authority of a goal's todos. There is no way back.

    Attributes:
        source_sha256: Digest of the document that was qualified just now, under its lock; no part of what is asked.
        handoff_mode: From now on; `None` is the one that was configured.
    """

    source_sha256: str = ""
    handoff_mode: HandoffMode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackShadow(Operation):
    """Quarantine a shadow before promotion."""


TodoOperation: TypeAlias = AddTodo | ClaimTodo | UpdateTodo | CompleteTodo | ArchiveCompleted
GoalCommand: TypeAlias = RegisterGoal | ConfigureGoal | NoteDelivery | Operation
Status: TypeAlias = Literal["applied", "replayed", "no_change", "planned", "done"]
