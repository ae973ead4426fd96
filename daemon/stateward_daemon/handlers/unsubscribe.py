"""`unsubscribe`: be told no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_protocol.notices import SubscribeParams, SubscribeResult

if TYPE_CHECKING:
    from stateward_daemon.host import Caller


def handle(caller: Caller, _params: SubscribeParams) -> SubscribeResult:
    """End the subscription of this connection, if it has one."""
    caller.host.subscriptions.discard(caller)
    return SubscribeResult(topics=[])
