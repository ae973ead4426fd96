"""`set_mode`: the mode of this connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_protocol import messages as m

if TYPE_CHECKING:
    from stateward_daemon.host import Caller


def handle(caller: Caller, params: m.SetModeParams) -> m.SetModeResult:
    """Change it at once, for the calls that come after this one. Mode off can be left, too."""
    caller.attachment = caller.bound()._replace(mode=params.mode)
    return m.SetModeResult(mode=params.mode)
