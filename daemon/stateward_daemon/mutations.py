"""Mutations of goals, decided where the authority is: in the document before promotion, and in the ledger after it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from stateward_daemon import delivering
from stateward_daemon.editing import edit
from stateward_daemon.fresh_problems import with_problems
from stateward_daemon.goal_documents import todos_now
from stateward_daemon.steps import OnLane
from stateward_engine.authority.commands import Operation, ReleaseLease
from stateward_engine.authority.goal import find_goal
from stateward_engine.errors import StoreUnavailable

if TYPE_CHECKING:
    from stateward_daemon.host import Caller, Host
    from stateward_daemon.steps import Steps
    from stateward_engine.authority.commands import LeaseOperation, TodoOperation
    from stateward_engine.authority.goal import Members


def perform(caller: Caller, command: TodoOperation) -> Steps:
    """Take the steps of a mutation of todos: edit the document and keep the receipt, or commit and deliver.

    The answer has the problems of the document where that was changed.

    Raises:
        EngineError: It is refused.
    """
    answer: Members | None = None
    host = caller.host
    if not find_goal(host.store.view, command.goal_id).promoted:
        answer = yield OnLane(command.goal_id, partial(_edit, host, command))
    if answer is None:
        # The ledger decides, also of a goal that was promoted while this waited.
        answer = yield command
    answer = yield from delivering.settle(host, answer)
    return (yield from with_problems(caller, answer))


def _edit(host: Host, command: TodoOperation) -> Members | None:
    """Edit the document and keep the receipt, before another call of the same operation can look for it."""
    if host.store.health != "ok":
        # Nothing could be kept of it.
        raise StoreUnavailable(f"the store takes no mutation ({host.store.health}); the document stays as it is")
    due = edit(host, command)
    if not isinstance(due, Operation):
        return due
    try:
        return host.store.commit_now(due).receipt
    except StoreUnavailable as error:
        raise StoreUnavailable(
            f"the document was changed, and its receipt could not be kept: {error}; repeat the call with the same "
            "operation_id once the store is well",
            outcome="unknown",
            operation_id=command.operation_id,
        ) from error


def decide_lease(host: Host, command: LeaseOperation) -> Steps:
    """Take the steps of an operation on a lease, which is kept in the ledger always. No display shows it.

    Raises:
        EngineError: It is refused.
    """
    goal = find_goal(host.store.view, command.goal_id)
    # A release asks nothing of the todo, and so of no document that may have been lost.
    if not goal.promoted and not isinstance(command, ReleaseLease):
        todos = yield OnLane(command.goal_id, partial(todos_now, host, goal, command.todo_id))
        command = replace(command, todos=todos)
    return (yield command)
