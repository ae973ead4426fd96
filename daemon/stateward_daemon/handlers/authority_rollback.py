"""`authority_rollback`: a shadow is put aside before promotion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import goal_convert
from stateward_engine.authority.commands import RollbackShadow

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.authority_messages import RollbackParams


def handle(_caller: Caller, params: RollbackParams) -> Steps:
    """Hand it to the writer; the document was the authority all the time."""
    return (yield RollbackShadow(**goal_convert.operation(params)))
