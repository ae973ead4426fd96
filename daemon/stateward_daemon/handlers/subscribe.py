"""`subscribe`: be told when state changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_protocol.notices import SubscribeParams, SubscribeResult

if TYPE_CHECKING:
    from stateward_daemon.host import Caller


def handle(caller: Caller, _params: SubscribeParams) -> SubscribeResult:
    """Tell this connection of every change from now on, until it unsubscribes or ends."""
    caller.selection()
    caller.host.subscriptions.add(caller)
    return SubscribeResult(topics=["state"])
