"""A small JSON-RPC client for tests: bytes through a socket, so that the client library is tested by something else.

`Wire` is blocking and belongs to one thread. `Daemon` is a `stateward daemon run` of its own, on a store of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Long enough for a machine under load; a test that reaches it has failed.
PATIENCE_S = 30.0


class Refused(Exception):
    """An error answer; `category` is what a program branches on."""

    def __init__(self, error: dict[str, Any]) -> None:
        self.error = error
        self.data: dict[str, Any] = error.get("data") or {}
        self.category = self.data.get("category", "")
        super().__init__(f"{error.get('code')} {self.category}: {error.get('message')}")


def connected(path: str | Path) -> socket.socket:
    """Return a connection to the socket at a path."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(PATIENCE_S)
    try:
        connection.connect(os.fspath(path))
    except OSError:
        connection.close()
        raise
    return connection


class Wire:
    """One connection."""

    def __init__(self, place: str | Path | socket.socket, *, lines: bool = False) -> None:
        """Talk over a socket that is connected, or connect to the one at a path."""
        self.socket = place if isinstance(place, socket.socket) else connected(place)
        self.socket.settimeout(PATIENCE_S)
        self.lines = lines
        self.notifications: list[dict[str, Any]] = []
        self._buffer = b""
        self._next_id = 1
        self._answers: dict[int, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send_body(self, body: bytes) -> None:
        self.socket.sendall(body + b"\n" if self.lines else b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def send(self, message: Any) -> None:
        self.send_body(json.dumps(message).encode())

    def receive(self) -> Any:
        """Return the next message; `ConnectionError` when the daemon has closed the connection."""
        while True:
            if self.lines:
                body, found, rest = self._buffer.partition(b"\n")
                if found:
                    self._buffer = rest
                    return json.loads(body)
            else:
                head, found, rest = self._buffer.partition(b"\r\n\r\n")
                length = int(head.split(b":")[1]) if found else 0
                if found and len(rest) >= length:
                    self._buffer = rest[length:]
                    return json.loads(rest[:length])
            data = self.socket.recv(1 << 20)
            if not data:
                raise ConnectionError("closed")
            self._buffer += data

    def request(self, method: str, params: Any = None) -> int:
        """Send a request and return its id."""
        identifier, self._next_id = self._next_id, self._next_id + 1
        self.send({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params or {}})
        return identifier

    def tell(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def answer(self, identifier: int) -> Any:
        """Return the result of a request, or raise `Refused`; whatever else arrives is kept."""
        while identifier not in self._answers:
            message = self.receive()
            if "method" in message:
                self.notifications.append(message)
            elif message.get("id") is None:
                raise Refused(message["error"])
            else:
                self._answers[message["id"]] = message
        message = self._answers.pop(identifier)
        if "error" in message:
            raise Refused(message["error"])
        return message["result"]

    def outcome(self, identifier: int) -> Any:
        """Return the result of a request, or the refusal as a value."""
        try:
            return self.answer(identifier)
        except Refused as refused:
            return refused

    def call(self, method: str, params: Any = None) -> Any:
        return self.answer(self.request(method, params))

    def attach(self, cwd: Path | None = None, session: str | None = None, **more: Any) -> dict[str, Any]:
        params = {
            "client": {"name": "test", "version": "1"},
            "protocol": 1,
            "cwd": os.fspath(cwd) if cwd else None,
            "session": session,
        }
        result: dict[str, Any] = self.call("attach", {**params, **more})
        return result


class Daemon:
    """A daemon process in a folder of its own. Start it, connect to it, kill it, start it again."""

    def __init__(self, folder: Path, **settings: float | str) -> None:
        self.folder = folder
        self.store = folder / "store"
        self.socket = folder / "d.sock"
        self.cwd = folder / "project"
        self.cwd.mkdir(exist_ok=True)
        home = folder / "home"
        home.mkdir(exist_ok=True)
        self.environment = {
            **os.environ,
            "HOME": str(home),
            "STATEWARD_STORE": str(self.store),
            "STATEWARD_SOCKET": str(self.socket),
            **{f"STATEWARD_{name.upper()}": str(value) for name, value in settings.items()},
        }
        self.environment.pop("XDG_RUNTIME_DIR", None)
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "stateward_daemon", *arguments]

    def start(self, *, prepare: Callable[[], object] | None = None) -> Self:
        """Start it and wait until it says on the ready pipe that it listens; `prepare` runs in the new process."""
        reader, writer = os.pipe()
        with (self.folder / "daemon.err").open("ab") as errors:
            self.process = subprocess.Popen(
                self.command("daemon", "run"),
                env={**self.environment, "STATEWARD_READY_FD": str(writer)},
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                pass_fds=(writer,),
                start_new_session=True,
                preexec_fn=prepare,  # noqa: PLW1509 - tests that use it have no threads at that time
            )
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            said = pipe.readline()
        assert said == b"R\n", said + (self.folder / "daemon.err").read_bytes()[-2000:]
        return self

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def kill(self) -> None:
        """SIGKILL it."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(PATIENCE_S)

    def stop(self) -> int:
        """SIGTERM it and return its exit status; one that never started has none."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)

    def connect(self, **how: Any) -> Wire:
        return Wire(self.socket, **how)

    def agent(self, session: str | None = "s1", **more: Any) -> Wire:
        """Return an attached connection."""
        wire = self.connect()
        try:
            wire.attach(self.cwd, session, **more)
        except BaseException:
            wire.close()
            raise
        return wire

    @contextlib.contextmanager
    def bridge(self) -> Iterator[Wire]:
        """Run `stateward lsp` as an editor does; it ends when its input does."""
        ours, theirs = socket.socketpair()
        end, command = theirs.fileno(), self.command("lsp")
        with subprocess.Popen(command, stdin=end, stdout=end, env=self.environment, cwd=self.cwd) as bridge:
            theirs.close()
            with Wire(ours) as wire:
                yield wire
            bridge.wait(PATIENCE_S)

    def run(self, *arguments: str, **how: Any) -> subprocess.CompletedProcess[str]:
        """Run a verb of the command line with this daemon's environment."""
        return subprocess.run(
            self.command(*arguments),
            env=self.environment,
            cwd=self.cwd,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            **how,
        )
