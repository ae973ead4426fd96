"""`goal_diagnostics`: the problems of a goal document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import convert

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol import messages as m


def handle(caller: Caller, params: m.DocumentParams) -> m.GoalDiagnosticsResult:
    """Answer what an editor shows, with places in code points."""
    return convert.goal_diagnostics(caller.document(params.path, params.text))
