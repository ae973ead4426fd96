"""`compact`: shorten what the next start has to replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.store.writer import Compact

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol import messages as m


def handle(_caller: Caller, _params: m.NoParams) -> Compact:
    """Hand the request to the writer, which compacts between two groups."""
    return Compact()
