"""protocol.md section 1: connecting to a daemon that is ours, and one call over the wire."""

from __future__ import annotations

import math
import os
import socket
from typing import TYPE_CHECKING, Any

import pytest

from stand_in import HANG_UP, Message, StandIn, refusal, result
from stateward import transport as transport_module
from stateward.transport import NOTIFICATIONS_MAX, SocketTransport, dial, request_body
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def serve(folder: Path) -> Iterator[Callable[[Callable[[Message], list[Message]]], StandIn]]:
    started: list[StandIn] = []

    def start(answer: Callable[[Message], list[Message]]) -> StandIn:
        started.append(StandIn(folder / "d.sock", answer))
        return started[-1]

    yield start
    for stand_in in started:
        stand_in.close()


@pytest.fixture
def connect(folder: Path) -> Iterator[Callable[[], SocketTransport]]:
    opened: list[SocketTransport] = []

    def open_one(timeout_s: float = 10.0) -> SocketTransport:
        opened.append(SocketTransport(str(folder / "d.sock"), timeout_s))
        return opened[-1]

    yield open_one
    for transport in opened:
        transport.close()


def reason_of(refused: pytest.ExceptionInfo[WireError]) -> Any:
    assert refused.value.category == "store_unavailable"
    return refused.value.data["reason_code"]


class TestDialing:
    """Security rows 3 and 5: the socket file and the server behind it are ours."""

    def test_the_pid_is_the_one_that_the_kernel_names(self, serve: Any, connect: Any) -> None:
        serve(lambda message: result(message, {}))

        assert connect().daemon_pid == os.getpid()

    def test_where_nothing_is_nobody_listens(self, folder: Path) -> None:
        with pytest.raises(WireError) as refused:
            dial(str(folder / "d.sock"), 1)

        assert reason_of(refused) == "not_listening"

    def test_a_socket_that_its_daemon_left_behind_is_told_by_connecting(self, folder: Path) -> None:
        """Field case 39: by connecting, not by existence."""
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(folder / "d.sock"))

        with pytest.raises(WireError) as refused:
            dial(str(folder / "d.sock"), 1)

        assert reason_of(refused) == "not_listening"

    def test_a_file_is_no_socket(self, folder: Path) -> None:
        (folder / "d.sock").touch()

        with pytest.raises(WireError) as refused:
            dial(str(folder / "d.sock"), 1)

        assert reason_of(refused) == "not_listening"

    def test_a_socket_file_of_somebody_else_is_not_connected_to(
        self, folder: Path, serve: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stand_in = serve(lambda message: result(message, {}))
        monkeypatch.setattr(transport_module, "_verified_peer", lambda _: 1)
        real_uid = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: real_uid + 1)

        with pytest.raises(WireError, match=f"user {real_uid}") as refused:
            dial(str(folder / "d.sock"), 1)

        assert reason_of(refused) == "foreign_socket"
        assert stand_in.received == []

    def test_a_server_of_somebody_else_behind_our_file_is_refused(
        self, folder: Path, serve: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        serve(lambda message: result(message, {}))
        monkeypatch.setattr(transport_module, "_check_socket_file", lambda _: None)
        real_uid = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: real_uid + 1)

        with pytest.raises(WireError, match=f"user {real_uid}") as refused:
            dial(str(folder / "d.sock"), 1)

        assert reason_of(refused) == "foreign_socket"

    def test_a_sandbox_without_sockets_has_a_reason_of_its_own(
        self, folder: Path, serve: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        serve(lambda message: result(message, {}))

        def forbidden(*_: object) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(socket, "socket", forbidden)

        with pytest.raises(WireError) as refused:
            dial(str(folder / "d.sock"), 1)

        assert reason_of(refused) == "no_socket"

    def test_a_full_backlog_is_waited_for_and_then_named(self, folder: Path) -> None:
        """Security row 22."""
        with socket.socket(socket.AF_UNIX) as busy, socket.socket(socket.AF_UNIX) as first:
            busy.bind(str(folder / "d.sock"))
            busy.listen(0)
            first.connect(str(folder / "d.sock"))

            with pytest.raises(WireError, match=r"0\.05 s") as refused:
                dial(str(folder / "d.sock"), 0.05)
            busy.accept()[0].close()
            dial(str(folder / "d.sock"), 5)[0].close()

        assert reason_of(refused) == "timeout"


class TestCalling:
    """Section 1: every request is answered exactly once, and its caller gets that answer."""

    def test_a_result_comes_back(self, serve: Any, connect: Any) -> None:
        serve(lambda message: result(message, {"echo": message["params"]}))

        assert connect().call("ping", {"工作": [1, None]}) == {"echo": {"工作": [1, None]}}

    def test_a_refusal_is_raised_with_its_facts(self, serve: Any, connect: Any) -> None:
        serve(lambda message: refusal(message, "missing_path", path="cwd.x"))

        with pytest.raises(WireError) as refused:
            connect().call("read_state", {"path": "cwd.x"})

        assert (refused.value.category, refused.value.data) == ("missing_path", {"path": "cwd.x"})

    def test_what_comes_before_the_answer_is_kept_or_passed_over(self, serve: Any, connect: Any) -> None:
        told = {"jsonrpc": "2.0", "method": "state_changed", "params": {"scopes": ["cwd"]}}
        late = {"jsonrpc": "2.0", "id": 99, "result": "of another request"}
        serve(lambda message: [told, late, *result(message, "mine")])
        transport = connect()

        assert transport.call("ping", {}) == "mine"
        assert [note.params for note in transport.notifications] == [{"scopes": ["cwd"]}]

    def test_notifications_that_nobody_reads_are_bounded(self, serve: Any, connect: Any) -> None:
        told = {"jsonrpc": "2.0", "method": "state_changed", "params": {}}
        serve(lambda message: [*([told] * (NOTIFICATIONS_MAX + 7)), *result(message, 1)])
        transport = connect()
        transport.call("ping", {})

        assert len(transport.notifications) == NOTIFICATIONS_MAX

    def test_a_refusal_without_an_id_is_of_the_request_that_waits(self, serve: Any, connect: Any) -> None:
        serve(lambda _: refusal({"id": None}, "too_large", limit=10))

        with pytest.raises(WireError) as refused:
            connect().call("ping", {})

        assert refused.value.category == "too_large"

    def test_a_refusal_of_what_was_not_yet_read_arrives(self, folder: Path, connect: Any) -> None:
        """A daemon refuses an announced length, says so and closes, while the client still sends."""
        body = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32013,"message":"m","data":{"category":"too_large"}}}'
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(folder / "d.sock"))
            listener.listen()
            transport = connect()
            daemon = listener.accept()[0]
            daemon.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            daemon.close()

            with pytest.raises(WireError) as refused:
                transport.call("patch_state", {"patch": {"cwd": {"artifacts": {"big": "x" * 4_000_000}}}})

        assert refused.value.category == "too_large"

    def test_a_connection_that_ends_first_is_lost(self, serve: Any, connect: Any) -> None:
        serve(lambda _: HANG_UP)

        with pytest.raises(WireError) as refused:
            connect().call("ping", {})

        assert reason_of(refused) == "connection_lost"
        assert refused.value.data["retryable"] is True

    def test_a_timeout_names_itself_and_ends_the_connection(self, serve: Any, connect: Any) -> None:
        serve(lambda _: [])
        transport = connect(0.05)

        with pytest.raises(WireError, match=r"ping took longer than the timeout of 0\.05 s") as refused:
            transport.call("ping", {})
        with pytest.raises(WireError) as after:
            transport.call("ping", {})

        assert reason_of(refused) == "timeout"
        assert reason_of(after) == "connection_lost"

    def test_closing_twice_is_fine(self, serve: Any, connect: Any) -> None:
        serve(lambda message: result(message, 1))
        transport = connect()

        transport.close()
        transport.close()


class TestRequestBody:
    """Section 1: what JSON cannot carry is refused by place, and before it is sent: the encoder makes it a null."""

    @pytest.mark.parametrize(
        ("params", "category", "path"),
        [
            ({"patch": {"cwd": {"x": math.nan}}}, "invalid_patch", "$.params.patch.cwd.x"),
            ({"patch": {"cwd": {"x": (1, [math.inf])}}}, "invalid_patch", "$.params.patch.cwd.x[1][0]"),
            ({"patch": {"cwd": {"x": "\ud800"}}}, "invalid_patch", "$.params.patch.cwd.x"),
            ({"patch": {"cwd": {"x": {1: 1, "1": 2}}}}, "invalid_patch", "$.params.patch.cwd.x"),
            ({"text": "\udfff"}, "invalid_request", "$.params.text"),
            ({"patch": {"cwd": {"x": object()}}}, "invalid_request", "$.params"),
        ],
    )
    def test_a_value_without_json_is_refused(self, params: Any, category: str, path: str) -> None:
        with pytest.raises(WireError) as refused:
            request_body("patch_state", params, 1)

        assert (refused.value.category, refused.value.data["path"]) == (category, path)

    def test_a_value_that_contains_itself_is_refused(self) -> None:
        loop: list[Any] = []
        loop.append(loop)

        with pytest.raises(WireError):
            request_body("patch_state", {"patch": loop}, 1)
