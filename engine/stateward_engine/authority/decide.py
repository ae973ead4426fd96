"""The authority's verb for change: `decide` looks at a basis, a command and a time, and says what must be stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stateward_engine.authority import commands as c
from stateward_engine.authority.additions import decide_add
from stateward_engine.authority.archival import decide_archive
from stateward_engine.authority.claims import decide_claim
from stateward_engine.authority.completion import decide_complete
from stateward_engine.authority.lease_operations import decide_acquire, decide_release, decide_renew, decide_transfer
from stateward_engine.authority.operations import decide_operation
from stateward_engine.authority.refresh import decide_refresh
from stateward_engine.authority.registration import decide_configuration, decide_note, decide_registration
from stateward_engine.authority.updates import decide_update

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.authority.operations import Decider
    from stateward_engine.state.transition import Repeat, Transition
    from stateward_engine.state.view import Basis

DECIDERS: Final[Mapping[type[c.Operation], Decider]] = {
    c.AddTodo: decide_add,
    c.ClaimTodo: decide_claim,
    c.UpdateTodo: decide_update,
    c.CompleteTodo: decide_complete,
    c.ArchiveCompleted: decide_archive,
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
