"""`todo_claim`: an actor takes a todo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import goal_convert, mutations

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.todo_messages import TodoClaimParams


def handle(caller: Caller, params: TodoClaimParams) -> Steps:
    """Decide where the authority is; claim, lease and receipt are one commit."""
    return mutations.perform(caller, goal_convert.claim_todo(params))
