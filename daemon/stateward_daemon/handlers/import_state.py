"""`import_state`: whole states for scopes that nothing ever changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.state.commands import ImportState
from stateward_engine.state.whole_state import parse_scopes

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol import messages as m


def handle(caller: Caller, params: m.ImportStateParams) -> ImportState:
    """Check the states; the writer finds out whether their scopes are empty."""
    selection = caller.selection()
    return ImportState(selection, parse_scopes(params.scopes, selection.wanted))
