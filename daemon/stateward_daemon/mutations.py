"""Mutations of goals, decided where the authority is: in the document before promotion, and in the ledger after it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from stateward_daemon import delivering
from stateward_daemon.editing import edit
from stateward_daemon.goal_documents import records_now
from stateward_daemon.steps import OnLane
from stateward_engine.authority.commands import Operation, ReleaseLease
from stateward_engine.authority.goal import find_goal

if TYPE_CHECKING:
    from stateward_daemon.host import Host
    from stateward_daemon.steps import Steps
    from stateward_engine.authority.commands import LeaseOperation, TodoOperation


def perform(host: Host, command: TodoOperation) -> Steps:
    """Take the steps of a mutation of todos: edit the document and keep the receipt, or commit and deliver.

    Raises:
        EngineError: It is refused.
    """
    if not find_goal(host.store.view, command.goal_id).promoted:
        edited = yield OnLane(command.goal_id, partial(edit, host, command))
    else:
        edited = None
    # Without an edit the ledger decides, also of a goal that was promoted while this waited.
    step = command if edited is None else edited
    # What leaves nothing to keep is an answer already.
    answer = (yield step) if isinstance(step, Operation) else step
    return (yield from delivering.settle(host, answer))


def decide_lease(host: Host, command: LeaseOperation) -> Steps:
    """Take the steps of an operation on a lease, which is kept in the ledger always. No display shows it.

    Raises:
        EngineError: It is refused.
    """
    goal = find_goal(host.store.view, command.goal_id)
    # A release asks nothing of the todo, and so of no document that may have been lost.
    if not goal.promoted and not isinstance(command, ReleaseLease):
        records = yield OnLane(command.goal_id, partial(records_now, host, goal))
        command = replace(command, todos={record["todo_id"]: record for record in records})
    return (yield command)
