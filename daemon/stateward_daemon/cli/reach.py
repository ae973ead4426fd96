"""From options to a client: over the daemon's socket, or in this process where there can be none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import stateward
from stateward.opening import opener
from stateward.start import READ_ONLY
from stateward_daemon.cli.printing import note
from stateward_daemon.exits import UsageFault
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from argparse import Namespace

    from stateward import Client, Start

CLIENT_NAME: Final = "stateward-cli"
# Reasons that no daemon will mend: sockets do not work here, as in many sandboxes.
SOCKETLESS: Final = frozenset({"no_socket", "socket_path"})
NOT_RUNNING: Final = "not_running"


def open_client(options: Namespace, *, start: Start = "auto", changes: bool = False, attach: bool = True) -> Client:
    """Return a client for the common options.

    Args:
        options: As `add_state_options` or `add_reach_options` gives them.
        start: `never` is for verbs that start no daemon; where none runs, they work in this process.
        changes: Whether the verb writes: others also read a store in a place that no daemon could write to.
        attach: Whether the verb is about the client's own state. Others also work where a scope of it is damaged.

    Raises:
        WireError: No daemon and no store can be had, or the attachment is refused.
        UsageFault: The current directory is gone.
    """
    client = _attached if attach else _unattached
    # Not every verb offers the choice.
    if getattr(options, "embedded", False):
        return client(options, "embedded")
    try:
        return client(options, start)
    except WireError as error:
        reason = error.data.get("reason_code")
        if reason in SOCKETLESS:
            note(f"note: {error.message}; working in this process")
        elif reason == READ_ONLY and not changes:
            # The advice of the message is for those who write.
            note(f"note: {error.message.partition(';')[0]}; working in this process")
        elif not (start == "never" and reason == NOT_RUNNING):
            raise
    return client(options, "embedded")


def _unattached(options: Namespace, start: Start) -> Client:
    client = stateward.Client(opener(start, options.store, options.socket, options.timeout), CLIENT_NAME)
    # Opens the connection here, where it can be tried in another way.
    client.ping()
    return client


def _attached(options: Namespace, start: Start) -> Client:
    try:
        # A verb about goals is about no directory.
        directory = None if options.cwd is None else os.path.realpath(options.cwd)
    except OSError:
        raise UsageFault("the current directory is gone; change to another or name one with --cwd") from None
    return stateward.connect(
        directory,
        options.session,
        options.wanted,
        store=options.store,
        start=start,
        socket=options.socket,
        timeout_s=options.timeout,
        client_name=CLIENT_NAME,
    )
