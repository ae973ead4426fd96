"""`patch_state`: merge a patch into the state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.state.commands import PatchState
from stateward_engine.state.patch import parse_patch

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol import messages as m


def handle(caller: Caller, params: m.PatchStateParams) -> PatchState:
    """Check what needs no state; the writer decides the rest on its own basis."""
    selection = caller.selection()
    patch = parse_patch(params.patch, selection.wanted)
    return PatchState(selection, patch, params.idempotency_key, params.if_revision)
