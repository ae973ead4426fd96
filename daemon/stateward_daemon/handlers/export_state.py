"""`export_state`: the stored states of the wanted scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.state.whole_state import exported
from stateward_protocol import messages as m

if TYPE_CHECKING:
    from stateward_daemon.host import Caller


def handle(caller: Caller, _params: m.NoParams) -> m.ExportResult:
    """Answer whole states, as `import_state` takes them."""
    selection, view = caller.selection(), caller.host.store.view
    return m.ExportResult(scopes={name: exported(view.scope(selection.identity(name))) for name in selection.wanted})
