"""`reset_scope`: give up what a scope holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import convert
from stateward_engine.state.commands import ResetScope

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol.store_messages import ResetScopeParams


def handle(caller: Caller, params: ResetScopeParams) -> ResetScope:
    """Hand the identity of the scope to the writer. It needs no attachment, which a damaged scope would not get."""
    return ResetScope(convert.identity(params.scope, params.cwd, params.session, params.goal_id, caller.host.machine))
