"""The shared transcripts, replayed through the connection that the client of an editor makes.

An editor is a relay: a script of it connects to the Unix socket $RELAY and speaks JSON-RPC there, a message a line.
What it is sent it sends on to the server, through the part of its editor that talks to servers, by the command of our
client and with ids of its own; and what comes in it passes on.
When the server ends it hangs up, when we hang up it ends the server, and then it connects anew with another server,
until nobody listens any more.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
from typing import TYPE_CHECKING, Any, Final

from real_editors import EDITORS, HERE, environment

from wire import PATIENCE_S, Daemon, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Relayed(Wire):
    """A connection through an editor."""

    def receive(self) -> Any:
        """Return the next message, as far as an editor has it."""
        return tellable(super().receive())


def tellable(value: Any) -> Any:
    """Return a message without what neither Lua nor Lisp tells from nothing: members that are null or empty objects.

    >>> tellable({"id": 1, "result": {"range": None, "items": [{}]}})
    {'id': 1, 'result': {'items': [None]}}
    """
    if isinstance(value, dict):
        return {name: told for name, member in value.items() if (told := tellable(member)) is not None} or None
    if isinstance(value, list):
        return list(map(tellable, value))
    return value


@contextlib.contextmanager
def scripted(name: str, daemon: Daemon, socket_path: str) -> Iterator[None]:
    """Run the script of a headless editor."""
    editor = EDITORS[name]
    program = editor.program()
    command = [*program.command, *editor.headless, str(HERE / RELAYS[name])]
    told = {**environment(daemon, name), **program.environment, "RELAY": socket_path}
    with (
        (daemon.folder / "relay.log").open("wb") as log,
        # Batch Emacs dies of a write to somebody who has hung up, unless it inherits that this is ignored.
        subprocess.Popen(
            command, env=told, stdin=subprocess.DEVNULL, stdout=log, stderr=log, restore_signals=False
        ) as process,
    ):
        try:
            yield
        finally:
            process.kill()


# Its script, by editor.
RELAYS: Final = {"neovim": "relay.lua", "emacs": "relay.el", "emacs-backports": "relay.el"}


@contextlib.contextmanager
def relay(name: str, daemon: Daemon) -> Iterator[Callable[[], Relayed]]:
    """Run an editor as a relay; each call waits for its next connection, which has a server of its own."""
    path = daemon.folder / "relay.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.settimeout(PATIENCE_S)
        listener.bind(str(path))
        listener.listen()
        with scripted(name, daemon, str(path)):
            yield lambda: Relayed(listener.accept()[0], lines=True)
