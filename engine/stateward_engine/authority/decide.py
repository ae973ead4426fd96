"""The authority's verb for change: `decide` looks at a basis, a command and a time, and says what must be stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stateward_engine.authority import commands as c
from stateward_engine.authority.additions import decide_add
from stateward_engine.authority.archival import decide_archive
from stateward_engine.authority.claims import decide_claim
from stateward_engine.authority.completion import decide_complete
from stateward_engine.authority.lease_operations import decide_acquire, decide_release, decide_renew, decide_transfer
from stateward_engine.authority.operations import Decision, decide_operation
from stateward_engine.authority.promotion import decide_bootstrap, decide_promote, decide_rollback
from stateward_engine.authority.refresh import decide_refresh
from stateward_engine.authority.refusals import refused
from stateward_engine.authority.registration import decide_configuration, decide_note, decide_registration
from stateward_engine.authority.updates import decide_update

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.authority.goal import Goal
    from stateward_engine.authority.operations import Decider
    from stateward_engine.state.transition import Repeat, Transition
    from stateward_engine.state.view import Basis


def _decide_edit(goal: Goal, command: c.RecordEdit, now: str) -> Decision:
    """Keep what a document has already; of a goal that was promoted meanwhile it is decided like any other mutation.

    Raises:
        Refused: `todo_lease_conflict`; the edit stands, and asking for it again goes on from there.
    """
    if goal.promoted:
        return DECIDERS[type(command.edit)](goal, command.edit, now)
    if taken := [todo_id for todo_id, lease in command.held.items() if goal.leases.get(todo_id) != lease]:
        raise refused(
            "todo_lease_conflict",
            "the document is edited, and the lease was changed by another call meanwhile; ask again to see who has it",
            member="lease",
            todo_ids=taken,
        )
    leases = {"leases": command.leases} if command.leases else {}
    return Decision(command.answer, {"authority": {"at": now}, **leases}, command.status)


DECIDERS: Final[Mapping[type[c.Operation], Decider]] = {
    c.AddTodo: decide_add,
    c.ClaimTodo: decide_claim,
    c.UpdateTodo: decide_update,
    c.CompleteTodo: decide_complete,
    c.ArchiveCompleted: decide_archive,
    c.RecordEdit: _decide_edit,
    c.BootstrapShadow: decide_bootstrap,
    c.PromoteGoal: decide_promote,
    c.RollbackShadow: decide_rollback,
    c.AcquireLease: decide_acquire,
    c.RenewLease: decide_renew,
    c.TransferLease: decide_transfer,
    c.ReleaseLease: decide_release,
}


def decide(basis: Basis, command: c.GoalCommand, at: str) -> Transition | Repeat:
    """Return what `command` stores on top of `basis`, or the answer when it stores nothing.

    Args:
        basis: Where it is decided.
        command: What is asked.
        at: What the clock says, as RFC 3339 text in UTC.

    Raises:
        RequestError: `basis` does not take the command; nothing was changed.
        CorruptStore: It depends on a damaged stream.
    """
    match command:
        case c.RegisterGoal():
            return decide_registration(basis, command, at)
        case c.ConfigureGoal():
            return decide_configuration(basis, command, at)
        case c.NoteDelivery():
            return decide_note(basis, command)
        case c.RefreshState():
            return decide_refresh(basis, command, at)
        case c.Operation():
            return decide_operation(basis, command, at, DECIDERS[type(command)])
