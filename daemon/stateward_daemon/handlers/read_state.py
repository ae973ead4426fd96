"""`read_state`: one path or a batch, exactly or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from stateward_engine.state.read import parse_request, read

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol import messages as m


def handle(caller: Caller, params: m.ReadStateParams) -> dict[str, Any]:
    """Answer from the view that is current now."""
    host, request = caller.host, parse_request(msgspec.to_builtins(params))
    answer = read(host.store.view, caller.selection(), request)
    if (since := host.stale_since) is not None:
        answer = {**answer, "stale_since": since}
    return host.encoded.answer(answer, batch=request.batch, limit=host.settings.max_message_bytes)
