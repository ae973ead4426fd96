"""`respond`: keep an answer in the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.state.commands import Respond, parse_answer

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol import messages as m


def handle(caller: Caller, params: m.RespondParams) -> Respond:
    """Check who answers; the writer finds out whether the text is another one."""
    return parse_answer(caller.selection(), params.text, active=caller.bound().mode == "active")
