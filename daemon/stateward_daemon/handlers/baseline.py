"""`baseline`: what a run starts with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from stateward_engine.state.baseline import baseline
from stateward_protocol import messages as m

if TYPE_CHECKING:
    from stateward_daemon.host import Caller


def handle(caller: Caller, _params: m.NoParams) -> m.BaselineResult:
    """Answer from the view that is current now; the mode says whether the answer slot is shown."""
    selection = caller.selection()
    found = baseline(caller.host.store.view, selection, answers=caller.bound().mode == "active")
    return msgspec.convert(found, m.BaselineResult)
