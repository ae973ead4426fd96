"""A network between a client and a server on this machine, which a test disturbs."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# What becomes of the bytes of a connection, once a test says so: none of the server arrives any more, none of either
# side does, or with the next ones of the server the connection is reset.
Trouble = Literal["silence", "hung", "reset"]
_PIECE: Final = 1 << 16


class Network:
    """Carries connections to the TCP port of a server.

    Attributes:
        port: Where clients come.
        troubles: By the number of a connection in order, counted from 0, what is wrong with it.
    """

    def __init__(self, server_port: int) -> None:
        self.troubles: dict[int, Trouble] = {}
        self._server_port = server_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._down = False
        self._ends: list[tuple[socket.socket, socket.socket]] = []
        self._threads: list[threading.Thread] = []
        self._run(self._accept)

    @property
    def connections(self) -> int:
        """How many clients have come so far."""
        return len(self._ends)

    def number_of(self, port: int) -> int:
        """Return the number of the connection that the server sees come from a port."""
        return next(number for number, (_, server) in enumerate(self._ends) if server.getsockname()[1] == port)

    def trouble(self, kind: Trouble) -> None:
        """Let something be wrong with every connection that there is."""
        self.troubles.update(dict.fromkeys(range(self.connections), kind))

    def cut(self) -> None:
        """Reset every connection, and every one that comes until `mend`."""
        self._down = True
        for pair in self._ends:
            _reset(*pair)

    def mend(self) -> None:
        """Carry again what comes from now on."""
        self._down = False

    def close(self) -> None:
        """Take nobody any more."""
        _reset(self._listener)
        self.cut()
        for thread in list(self._threads):
            thread.join()
        for end in (self._listener, *itertools.chain(*self._ends)):
            end.close()

    def _run(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._down:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self._server_port))
            number = len(self._ends)
            self._ends.append((client, server))
            self._run(partial(self._to_server, number, client, server))
            self._run(partial(self._to_client, number, client, server))

    def _to_server(self, number: int, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := client.recv(_PIECE):
                if self.troubles.get(number) != "hung":
                    server.sendall(piece)
        _reset(client, server)

    def _to_client(self, number: int, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := server.recv(_PIECE):
                trouble = self.troubles.get(number)
                if trouble == "reset":
                    break
                if trouble is None:
                    client.sendall(piece)
        _reset(client, server)


@contextlib.contextmanager
def network(server_port: int) -> Iterator[Network]:
    """Carry connections until the end."""
    between = Network(server_port)
    try:
        yield between
    finally:
        between.close()


def _reset(*ends: socket.socket) -> None:
    for end in ends:
        # To close it would not wake who waits on it in another thread.
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
