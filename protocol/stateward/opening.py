"""Getting a client: over the daemon's socket, or in this process."""

from __future__ import annotations

import functools
import importlib
import os
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from stateward.calls import CLIENT_NAME
from stateward.client import Client
from stateward.location import store_place
from stateward.start import TIMEOUT_S, check_start, open_transport

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stateward.transport import Transport
    from stateward_protocol.messages import Mode, Owner

Start: TypeAlias = Literal["auto", "never", "embedded"]


def connect(
    cwd: str | os.PathLike[str] | None = None,
    session: str | None = None,
    wanted: Sequence[Owner] | None = None,
    mode: Mode = "active",
    *,
    store: str | os.PathLike[str] | None = None,
    start: Start = "auto",
    socket: str | None = None,
    timeout_s: float = TIMEOUT_S,
    client_name: str = CLIENT_NAME,
) -> Client:
    """Return an attached client.

    Args:
        cwd: The directory whose state is meant; made absolute here.
        session: The session's id; needs `cwd`.
        wanted: Owners to work with; by default `global`, and `cwd` and `session` where they are given.
        mode: `active`, `passive` or `off`.
        store: The store directory, or the address of its database; else `STATEWARD_STORE`, else the user's data
            directory.
        start: `auto` starts a daemon where none runs, `never` does not, `embedded` works in this process, without
            sockets, while no daemon holds the store.
        socket: Where a daemon that is started here listens; else `STATEWARD_SOCKET`, else a place of its own choice.
        timeout_s: Seconds until connecting, and later each call, is given up.
        client_name: Who calls, for `sessions` and the log.

    Raises:
        StatewardError: `store_unavailable` when no daemon can be had; else why it refuses the attachment.
        ValueError: There is no such `start`.

    Source: protocol.md section 5.
    """
    check_start(start, get_args(Start))
    client = Client(opener(start, store, socket, timeout_s), client_name)
    try:
        client.attach(
            cwd=None if cwd is None else os.path.abspath(cwd),  # noqa: PTH100 - what it returns is sent as text
            session=session,
            wanted=wanted,
            mode=mode,
        )
    except BaseException:
        client.close()
        raise
    return client


def opener(
    start: Start, store: str | os.PathLike[str] | None, socket: str | None, timeout_s: float
) -> Callable[[], Transport]:
    """Return what opens a connection that is not attached yet; arguments are those of `connect`."""
    place = store_place(store)
    if start == "embedded":
        # By name: this library must work where only the protocol is installed, and may not import the daemon.
        return functools.partial(importlib.import_module("stateward_daemon.embedded").open_transport, place)
    return functools.partial(open_transport, place, start=start, socket=socket, timeout_s=timeout_s)
