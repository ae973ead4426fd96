"""`todo_receipt`: whether an operation was accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import goal_convert
from stateward_engine.authority.goal import find_goal

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol.todo_messages import TodoReceiptParams, TodoReceiptResult


def handle(caller: Caller, params: TodoReceiptParams) -> TodoReceiptResult:
    """Answer from the captured view."""
    view = caller.host.store.view
    return goal_convert.receipt(view, find_goal(view, params.goal_id), params.operation_id)
