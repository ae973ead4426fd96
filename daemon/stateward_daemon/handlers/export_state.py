"""`export_state`: the stored states of the wanted scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.state.view import in_table_order
from stateward_protocol import messages as m

if TYPE_CHECKING:
    from stateward_daemon.host import Caller


def handle(caller: Caller, _params: m.NoParams) -> m.ExportResult:
    """Answer whole states, as `import_state` takes them."""
    planes = caller.host.store.view.planes(caller.selection())
    return m.ExportResult(scopes={scope: in_table_order(found) for scope, found in planes.items()})
