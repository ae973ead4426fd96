"""One blocking connection to a daemon: a verified socket, frames, and one call at a time.

Source: protocol.md section 1, security.md rows 1, 3, 5 and 22.
"""

from __future__ import annotations

import itertools
import os
import socket
import stat
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from stateward.backoff import attempts
from stateward.peer import peer
from stateward_protocol.envelope import Call, encode_call, read_message
from stateward_protocol.errors import WireError
from stateward_protocol.framing import FrameReader, Framing, frame
from stateward_protocol.strict_json import Unsendable, find_unsendable

if TYPE_CHECKING:
    from collections.abc import Mapping

READ_BYTES: Final = 256 * 1024
# A caller that subscribes and never looks would collect notifications for ever. The oldest go first: each tells only
# that something changed, and a newer one tells it again.
NOTIFICATIONS_MAX: Final = 1_000
# The daemon bounds its own answers by a setting that we do not know, and it is a process of our own user.
ANSWER_BYTES_MAX: Final = sys.maxsize


class Transport(Protocol):
    """What a client needs of a connection; the daemon's in-process one has the same shape.

    Attributes:
        notifications: What the daemon told unasked, oldest first.
    """

    notifications: deque[Call]

    def call(self, method: str, params: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
        """Return the result of one request, or raise `WireError`."""

    def wait(self, timeout_s: float | None) -> Call | None:
        """Return the next notification, or `None` when none came within so many seconds; `None` waits for ever."""

    def close(self) -> None:
        """End the connection; calling it twice is fine."""


class SocketTransport:
    """A connection over the daemon's Unix socket. Not for several threads at once.

    Attributes:
        notifications: What the daemon told unasked, oldest first; take from it what you read.
        daemon_pid: The process at the other end as the kernel names it; 0 where it lives in another pid namespace.
    """

    def __init__(self, path: str, timeout_s: float) -> None:
        """Connect.

        Args:
            path: The socket.
            timeout_s: Seconds until connecting, and later each call, is given up.

        Raises:
            WireError: As `dial`.
        """
        self._connection, self.daemon_pid = dial(path, timeout_s)
        self._timeout_s = timeout_s
        self._reader = FrameReader(ANSWER_BYTES_MAX)
        self._identifiers = itertools.count(1)
        self.notifications: deque[Call] = deque(maxlen=NOTIFICATIONS_MAX)

    def call(self, method: str, params: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
        """Return the result of one request.

        Raises:
            WireError: The daemon's error answer, or `store_unavailable` with the `reason_code` `timeout` or
                `connection_lost`; after those two the connection is closed.
        """
        identifier = next(self._identifiers)
        request = frame(request_body(method, params, identifier), Framing.HEADERS)
        deadline = time.monotonic() + self._timeout_s
        try:
            self._send(request)
            return self._answer(identifier, deadline)
        except TimeoutError:
            # A late answer would meet nobody, and half a request may have been sent.
            self.close()
            raise timed_out(method, self._timeout_s) from None
        except OSError:
            self.close()
            raise connection_lost() from None

    def wait(self, timeout_s: float | None) -> Call | None:
        """Return the next notification, or `None` when none came in time.

        Raises:
            WireError: `store_unavailable` with the `reason_code` `connection_lost`; then the connection is closed.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            while not self.notifications:
                message = read_message(msgspec.json.decode(self._next_body(deadline)))
                if isinstance(message, Call):
                    self.notifications.append(message)
        except TimeoutError:
            return None
        except OSError:
            self.close()
            raise connection_lost() from None
        return self.notifications.popleft()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def detach(self) -> socket.socket:
        """Return the connected socket, blocking, for another kind of client; this transport must not be used again."""
        self._connection.settimeout(None)
        return self._connection

    def _send(self, request: bytes) -> None:
        self._connection.settimeout(self._timeout_s)
        try:
            self._connection.sendall(request)
        except (BrokenPipeError, ConnectionResetError):
            # A daemon that refuses a request before it has read all of it answers first: reading tells.
            return

    def _answer(self, identifier: int, deadline: float) -> Any:  # noqa: ANN401 - any JSON value
        while True:
            message = read_message(msgspec.json.decode(self._next_body(deadline)))
            if isinstance(message, Call):
                self.notifications.append(message)
            elif message.error is not None and message.id in (identifier, None):
                raise WireError.from_error(message.error)
            elif message.id == identifier:
                return message.result

    def _next_body(self, deadline: float | None) -> bytes:
        while (body := self._reader.next_body()) is None:
            left_s = None if deadline is None else deadline - time.monotonic()
            if left_s is not None and left_s <= 0:
                raise TimeoutError
            self._connection.settimeout(left_s)
            received = self._connection.recv(READ_BYTES)
            if not received:
                raise ConnectionResetError
            self._reader.feed(received)
        return body


# -- connecting ------------------------------------------------------------------------------------------------------


def dial(path: str, timeout_s: float) -> tuple[socket.socket, int]:
    """Return a connection to the daemon that listens at `path`, and its pid.

    Raises:
        WireError: `store_unavailable`, with a `reason_code`: `not_listening` (nobody is there), `foreign_socket` (the
            socket or its server is not ours), `no_socket` (sockets do not work here), `timeout`.
    """
    _check_socket_file(path)
    try:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    except OSError as error:
        raise _no_socket(error) from None
    try:
        connection.settimeout(timeout_s)
        _connect(connection, path, time.monotonic() + timeout_s)
        return connection, _verified_peer(connection)
    except PermissionError as error:
        connection.close()
        raise _no_socket(error) from None
    except TimeoutError:
        connection.close()
        raise timed_out("connecting", timeout_s) from None
    except OSError as error:
        connection.close()
        raise _not_listening(path, error) from None
    except WireError:
        connection.close()
        raise


def _check_socket_file(path: str) -> None:
    try:
        found = os.lstat(path)
    except OSError as error:
        raise _not_listening(path, error) from None
    if found.st_uid != os.geteuid():
        raise _foreign_socket(found.st_uid, path)
    if not stat.S_ISSOCK(found.st_mode):
        raise unavailable("there is no socket at the daemon's path", "not_listening", path=path)


def _connect(connection: socket.socket, path: str, deadline: float) -> None:
    for _ in attempts(deadline):
        try:
            connection.connect(path)
        except BlockingIOError:
            # EAGAIN: the backlog of the daemon is full for a moment.
            continue
        return
    raise TimeoutError


def _verified_peer(connection: socket.socket) -> int:
    """Return the pid of the server, once it is known to run as our user."""
    pid, uid = peer(connection)
    if uid != os.geteuid():
        raise _foreign_socket(uid)
    return pid


# -- requests --------------------------------------------------------------------------------------------------------


def request_body(method: str, params: Mapping[str, Any], identifier: int) -> bytes:
    """Return the body of a request; what JSON cannot carry is refused before anything is sent.

    Raises:
        WireError: As `plain_params`.
    """
    return encode_call(method, plain_params(params), identifier)


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return params as JSON carries them, in containers of their own.

    The encoder would write a number that is not finite as null, and in a patch null deletes.

    Raises:
        WireError: `invalid_patch` inside a patch, else `invalid_request`; `path` names the place where it is known.

    Source: protocol.md section 1, on framing.
    """
    try:
        # Sets, structs and tuples become what they are on the wire, so that the search sees all of them.
        plain: dict[str, Any] = _without_tuples(msgspec.to_builtins(params))
        fault = find_unsendable({"params": plain})
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise WireError("invalid_request", f"the params cannot be sent as JSON: {error}", path="$.params") from None
    if fault is not None:
        raise Unsendable(plain, *fault).refusal()
    return plain


def _without_tuples(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return {key: _without_tuples(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_tuples(item) for item in value]
    return value


# -- errors ----------------------------------------------------------------------------------------------------------


def unavailable(message: str, reason_code: str, **data: Any) -> WireError:  # noqa: ANN401 - any JSON value
    """Return the error for a daemon that cannot be had; `reason_code` is what programs branch on."""
    return WireError("store_unavailable", message, reason_code=reason_code, retryable=True, **data)


def timed_out(what: str, timeout_s: float) -> WireError:
    """Return the error for an answer that did not come in time; whether a write was done is unknown."""
    return unavailable(f"{what} took longer than the timeout of {timeout_s:g} s", "timeout", timeout_s=timeout_s)


def connection_lost() -> WireError:
    """Return the error for a connection that ended before its answer; whether a write was done is unknown."""
    return unavailable("the daemon ended the connection before it answered; repeat the call", "connection_lost")


def _not_listening(path: str, error: OSError) -> WireError:
    reason = error.strerror or str(error)
    return unavailable(f"no daemon listens at its socket ({reason})", "not_listening", path=path)


def _no_socket(error: OSError) -> WireError:
    return unavailable(f"Unix sockets do not work here ({error.strerror})", "no_socket")


def _foreign_socket(uid: int, path: str | None = None) -> WireError:
    place = {} if path is None else {"path": path}
    return unavailable(
        f"the socket belongs to user {uid}, not to you; set STATEWARD_SOCKET to a path of your own",
        "foreign_socket",
        **place,
    )
