"""How far the connection of an editor has come, and what it may send by then."""

from __future__ import annotations

from enum import Enum, auto

from lsprotocol import types as lsp

from stateward_protocol.errors import WireError, shortened


class Phase(Enum):
    """How far a connection has come."""

    NEW = auto()
    SERVING = auto()
    SHUT_DOWN = auto()


def admit(phase: Phase, method: str, *, is_request: bool) -> None:
    """Check that a connection has come as far as a method needs.

    Raises:
        WireError: `not_attached` before `initialize`, `invalid_message` for a second one and after `shutdown`.
    """
    if method == lsp.EXIT:
        return
    if phase is Phase.SHUT_DOWN:
        raise WireError("invalid_message", "after shutdown nothing is served but exit; open a new connection")
    if method == lsp.INITIALIZE and (phase is not Phase.NEW or not is_request):
        raise WireError("invalid_message", "initialize is the first request of a connection, and sent once")
    if method != lsp.INITIALIZE and phase is Phase.NEW:
        raise WireError("not_attached", "send initialize first", got=shortened(method))
