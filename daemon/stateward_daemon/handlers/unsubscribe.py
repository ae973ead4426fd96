"""`unsubscribe`: be told no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_protocol.notices import SubscribeParams, SubscribeResult

if TYPE_CHECKING:
    from stateward_daemon.host import Caller


def handle(caller: Caller, params: SubscribeParams) -> SubscribeResult:
    """Take the topics back from the subscription of this connection, if it has one."""
    return SubscribeResult(topics=caller.host.subscriptions.remove(caller, params.topics))
