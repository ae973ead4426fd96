"""A stand-in for the daemon: one function answers what its clients say, over a real Unix socket."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from typing import TYPE_CHECKING, Any, Final

from stateward_protocol.framing import FrameReader, Framing, frame

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stateward.location import Announcement

Message = dict[str, Any]

# What an answering function returns to end the connection instead.
HANG_UP: Final[list[Message]] = [{"hang": "up"}]


def result(message: Message, value: Any) -> list[Message]:
    """Return a successful answer; a notification gets none."""
    return [{"jsonrpc": "2.0", "id": message["id"], "result": value}] if "id" in message else []


def refusal(message: Message, category: str, **data: Any) -> list[Message]:
    """Return an error answer."""
    error = {"code": -32000, "message": f"refused as {category}", "data": {"category": category, **data}}
    return [{"jsonrpc": "2.0", "id": message["id"], "error": error}]


def attached(message: Message) -> list[Message]:
    """Return an answer to `attach` that fits the wire."""
    params = message["params"]
    return result(
        message,
        {
            "protocol": 1,
            "daemon": {"version": "0.1.0", "pid": os.getpid(), "store": "/store", "provider": "embedded"},
            "cwd": params.get("cwd"),
            "session": params.get("session"),
            "wanted": params.get("wanted", ["global"]),
            "mode": params.get("mode", "active"),
            "history_limit": 7,
            "limits": {"max_message_bytes": 1 << 26, "max_entry_bytes": 1 << 26, "queue_length_max": 64},
            "sessions": [],
        },
    )


def lock_file(announced: Announcement) -> bytes:
    """Return a lock file as a daemon writes it; `tests/store/test_lock.py` holds daemons to it."""
    text = json.dumps(announced._asdict(), ensure_ascii=False)
    return os.fsencode(text).ljust(511) + b"\n"


class StandIn:
    """Listens at a path and serves each connection in a thread of its own.

    Attributes:
        received: Every message, with the number of its connection from 0, in the order of arrival.
    """

    def __init__(self, path: Path, answer: Callable[[Message], list[Message]]) -> None:
        self._answer = answer
        self.received: list[tuple[int, Message]] = []
        # What is sent when a client has closed its side and can still hear.
        self.farewell: list[Message] = []
        self._arrived = threading.Condition()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(os.fspath(path))
        self._listener.listen(64)
        self._connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def methods(self) -> list[str]:
        """Return the methods in the order of arrival; an answer of the client has none."""
        return [message.get("method", "") for _, message in self.received]

    def wait_for(self, method: str, count: int = 1) -> None:
        """Wait until a method has arrived so many times."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: self.methods().count(method) >= count, timeout=10), self.methods()

    def send(self, message: Message) -> None:
        """Send a message of our own over the newest connection."""
        self._connections[-1].sendall(frame(json.dumps(message).encode(), Framing.HEADERS))

    def hang_up(self) -> None:
        """End every connection, as a daemon does that is killed."""
        # A copy: whoever is hung up may be back while we go on.
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Stop listening, end every connection and wait for the threads."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join()
        self._listener.close()
        self.hang_up()
        for thread in self._threads[1:]:
            thread.join()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                thread = threading.Thread(target=self._serve, args=(connection, len(self._connections) - 1))
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        reader = FrameReader()
        with connection, contextlib.suppress(OSError):
            while received := connection.recv(65536):
                reader.feed(received)
                while (body := reader.next_body()) is not None:
                    if not self._reply(connection, number, json.loads(body)):
                        return
            for message in self.farewell:
                connection.sendall(frame(json.dumps(message).encode(), Framing.HEADERS))

    def _reply(self, connection: socket.socket, number: int, message: Message) -> bool:
        with self._arrived:
            self.received.append((number, message))
            self._arrived.notify_all()
        answers = self._answer(message)
        if answers is HANG_UP:
            return False
        for answer in answers:
            connection.sendall(frame(json.dumps(answer).encode(), Framing.HEADERS))
        return True
