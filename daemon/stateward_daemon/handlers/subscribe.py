"""`subscribe`: be told of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_protocol.notices import SubscribeParams, SubscribeResult

if TYPE_CHECKING:
    from stateward_daemon.host import Caller


def handle(caller: Caller, params: SubscribeParams) -> SubscribeResult:
    """Tell this connection of every change from now on, until it unsubscribes or ends."""
    caller.selection()
    return SubscribeResult(topics=caller.host.subscriptions.add(caller, params.topics))
