"""`configure`: the durable setting of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.state.commands import Configure

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol import messages as m


def handle(caller: Caller, params: m.ConfigureParams) -> Configure:
    """Hand the setting to the writer."""
    caller.bound()
    return Configure(params.history_limit)
