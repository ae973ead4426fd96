"""`goal_diagnostics`: the problems of a goal document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stateward_daemon import convert
from stateward_daemon.documents import resolved

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol import messages as m


def handle(caller: Caller, params: m.DocumentParams) -> m.GoalDiagnosticsResult:
    """Answer what an editor shows, with places in code points."""
    named = caller.path_of(params.path, params.text, params.goal_id)
    document = caller.document(named, params.text)
    # Here, because no start should wait for what reads a document.
    from stateward_daemon.diagnosis import problems_to_see  # noqa: PLC0415

    path = None if named is None else Path(named)
    # Beside a text the path is a hint, and was not looked at.
    is_place = path is not None and path.is_absolute() and "\0" not in str(path)
    place = resolved(path) if path is not None and is_place else None
    return convert.goal_diagnostics(document, problems_to_see(caller, document, place))
