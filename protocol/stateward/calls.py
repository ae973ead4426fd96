"""What the synchronous and the asynchronous client have in common: params, repeats and results. No I/O."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from stateward_protocol import __version__
from stateward_protocol.envelope import Call
from stateward_protocol.errors import WireError
from stateward_protocol.methods import METHODS, PROTOCOL_VERSION, Kind
from stateward_protocol.notices import StateChanged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stateward_protocol.messages import AttachResult, Mode, Owner

R = TypeVar("R")

CLIENT_NAME: Final = "stateward-python"
# What the caller of an attach that fails for its protocol number can do about it.
RESTART_COMMAND: Final = "stateward daemon restart"


def given(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the params that the caller gave; `None` stands for the method's default."""
    return {name: value for name, value in params.items() if value is not None}


def attach_params(
    client_name: str,
    cwd: str | None = None,
    session: str | None = None,
    wanted: Sequence[Owner] | None = None,
    mode: Mode = "active",
) -> dict[str, Any]:
    """Return the params of `attach`."""
    client = {"name": client_name, "version": __version__}
    return {
        "client": client,
        "protocol": PROTOCOL_VERSION,
        **given({"cwd": cwd, "session": session, "wanted": wanted, "mode": mode}),
    }


_REPEATABLE: Final = frozenset({Kind.CONNECTION, Kind.READ, Kind.DOCUMENT})


def new_idempotency_key() -> str:
    """Return a key that nobody else uses."""
    return os.urandom(16).hex()


@contextlib.contextmanager
def naming_key(key: str) -> Iterator[None]:
    """Let an error after which nobody knows what became of a mutation say the key that it can be repeated with."""
    try:
        yield
    except WireError as error:
        if error.data.get("outcome") == "unknown" or is_lost(error):
            error.data["idempotency_key"] = key
        raise


def check_open(*, closed: bool) -> None:
    """Refuse a call of a client that was closed: to connect again would be a surprise, and nobody would close it.

    Raises:
        RuntimeError: It was.
    """
    if closed:
        raise RuntimeError("this client is closed; connect again for another one")


def is_lost(error: WireError) -> bool:
    """Whether the connection that raised `error` is of no further use."""
    return error.category == "shutting_down" or error.data.get("reason_code") in ("connection_lost", "timeout")


def may_repeat(error: WireError, method: str, params: Mapping[str, Any]) -> bool:
    """Whether `method` can be sent again over a new connection without doing anything twice.

    A timeout is not repeated: the caller has waited long enough. Nor is a call that concerns the daemon itself: the new
    connection may have started another one.
    """
    if not is_lost(error) or error.data.get("reason_code") == "timeout":
        return False
    return METHODS[method].kind in _REPEATABLE or "idempotency_key" in params


def resumed(attached: AttachResult, revision: str) -> Call:
    """Return what a client that is connected anew tells itself: anything may have changed while it was not."""
    return Call("state_changed", {"scopes": attached.wanted, "revision": revision}, None)


def change_of(told: Call) -> StateChanged | None:
    """Return a notification as its struct; `None` for one that this client does not know."""
    return typed(told.params, StateChanged) if told.method == "state_changed" else None


def typed(result: Any, kind: type[R]) -> R:  # noqa: ANN401 - any JSON value
    """Return a result as its struct.

    Raises:
        WireError: `internal`, when the daemon answered something else.
    """
    try:
        return msgspec.convert(result, kind)
    except msgspec.ValidationError as error:
        raise WireError(
            "internal", f"the daemon's answer does not fit this client: {error}", example=RESTART_COMMAND
        ) from None
