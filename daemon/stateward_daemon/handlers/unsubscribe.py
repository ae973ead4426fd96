"""`unsubscribe`: be told no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_protocol import messages as m

if TYPE_CHECKING:
    from stateward_daemon.host import Caller


def handle(caller: Caller, _params: m.SubscribeParams) -> m.SubscribeResult:
    """End the subscription of this connection, if it has one."""
    caller.host.subscriptions.discard(caller)
    return m.SubscribeResult(topics=[])
