"""`stateward lsp`: an editor that never notices a restart, and always notices an end."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Self

import pytest

from stand_in import Message, StandIn, result
from stateward_daemon import bridge as bridge_module
from stateward_daemon.bridge import LOSSES_MAX, Bridge
from stateward_daemon.replay import REQUEST_FAILED, RESTARTED, Replay
from stateward_protocol.errors import WireError
from stateward_protocol.framing import FrameReader, Framing, frame

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

URI = "file:///goal/ACTIVE_GOAL_STATE.md"


def request(identifier: int, method: str, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def notification(method: str, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "method": method, "params": params}


INITIALIZE = request(1, "initialize", capabilities={"general": {}})
INITIALIZED = notification("initialized")


def opened(version: int = 1, text: str = "one", uri: str = URI) -> Message:
    return notification("textDocument/didOpen", textDocument={"uri": uri, "version": version, "text": text})


def changed(version: int, text: str, *, whole: bool = False, uri: str = URI) -> Message:
    edit: dict[str, Any] = {"text": text}
    if not whole:
        edit["range"] = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    return notification("textDocument/didChange", textDocument={"uri": uri, "version": version}, contentChanges=[edit])


def closed(uri: str = URI) -> Message:
    return notification("textDocument/didClose", textDocument={"uri": uri})


class Editor:
    """Both ends of a bridge: what an editor says and hears, and the daemon behind it."""

    def __init__(self, folder: Path, framing: Framing = Framing.HEADERS) -> None:
        self.daemon = StandIn(folder / "d.sock", self._answer)
        self.silent: set[str] = set()
        self.starts = 0
        # For tests that must say something while the bridge is without a daemon.
        self.connecting = threading.Semaphore(0)
        self.may_connect = threading.Event()
        self.may_connect.set()
        self.unavailable: WireError | None = None
        self._path = str(folder / "d.sock")
        self._framing = framing
        self._reader = FrameReader()
        bridge_in, self._out = os.pipe()
        self._in, bridge_out = os.pipe()
        self._inner = (bridge_in, bridge_out)
        self.bridge = Bridge(self._connect, bridge_in, bridge_out)
        self.connecting.acquire()
        self.status: int | WireError | None = None
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        self._thread.join(10)
        self.daemon.close()
        for descriptor in (self._in, *self._inner):
            os.close(descriptor)

    def say(self, *messages: Message) -> None:
        for message in messages:
            os.write(self._out, frame(json.dumps(message).encode(), self._framing))

    def hear(self) -> Message:
        while (body := self._reader.next_body()) is None:
            received = os.read(self._in, 65536)
            assert received, "the bridge has ended"
            self._reader.feed(received)
        message: Message = json.loads(body)
        return message

    def initialize(self) -> None:
        self.say(INITIALIZE)
        assert self.hear()["id"] == 1
        self.say(INITIALIZED)
        self.daemon.wait_for("initialized")

    def lose_daemon(self) -> None:
        self.daemon.hang_up()
        logged, told = self.hear(), self.hear()
        assert (logged["method"], logged["params"]["type"]) == ("window/logMessage", 2)
        assert told == {"jsonrpc": "2.0", "method": RESTARTED, "params": {}}

    def hang_up(self) -> None:
        if self._out >= 0:
            os.close(self._out)
            self._out = -1

    def end(self) -> int | WireError | None:
        self._thread.join(10)
        assert not self._thread.is_alive()
        return self.status

    def heard_by(self, number: int) -> list[Message]:
        """Return what the daemon's connection of that number has received."""
        return [message for found, message in self.daemon.received if found == number]

    def _run(self) -> None:
        try:
            self.status = self.bridge.run()
        except WireError as error:
            self.status = error

    def _connect(self) -> socket.socket:
        self.starts += 1
        self.connecting.release()
        assert self.may_connect.wait(10)
        if self.unavailable is not None:
            raise self.unavailable
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._path)
        return connection

    def _answer(self, message: Message) -> list[Message]:
        method = message.get("method")
        if method == "exit":
            self.daemon.hang_up()
        return [] if method is None or method in self.silent else result(message, {"of": method})


@pytest.fixture
def editor(folder: Path) -> Iterator[Editor]:
    with Editor(folder) as started:
        yield started


class TestCarrying:
    """Bytes of the editor reach the daemon and the other way round, unchanged and in order."""

    def test_messages_pass_both_ways(self, editor: Editor) -> None:
        editor.initialize()
        editor.say(request(2, "textDocument/hover", position={"line": 1}, other="工作"))
        editor.daemon.wait_for("textDocument/hover")

        assert editor.hear() == {"jsonrpc": "2.0", "id": 2, "result": {"of": "textDocument/hover"}}
        assert editor.heard_by(0)[-1] == request(2, "textDocument/hover", position={"line": 1}, other="工作")

    def test_an_editor_that_speaks_lines_hears_lines(self, folder: Path) -> None:
        with Editor(folder, Framing.LINES) as editor:
            editor.say(request(1, "ping"))

            assert editor.hear()["result"] == {"of": "ping"}
            assert editor._reader.framing is Framing.LINES

    def test_what_is_no_message_is_for_the_daemon_to_refuse(self, editor: Editor) -> None:
        editor.say({"jsonrpc": "2.0", "id": True, "method": 7})
        editor.say(request(5, "ping"))
        editor.hear()
        editor.hear()

        assert editor.heard_by(0)[0] == {"jsonrpc": "2.0", "id": True, "method": 7}

    def test_requests_of_the_daemon_are_answered_by_the_editor(self, editor: Editor) -> None:
        editor.initialize()
        editor.daemon.send(request(77, "client/registerCapability"))
        assert editor.hear()["id"] == 77
        editor.say({"jsonrpc": "2.0", "id": 77, "result": None})
        editor.daemon.wait_for("", 1)

        assert editor.heard_by(0)[-1] == {"jsonrpc": "2.0", "id": 77, "result": None}


class TestEnding:
    """Section 7: half-close on end of input, and 0 after a clean exit."""

    def test_a_clean_exit_ends_with_0(self, editor: Editor) -> None:
        editor.initialize()
        editor.say(request(2, "shutdown"))
        editor.hear()
        editor.say(notification("exit"))

        assert editor.end() == 0
        assert editor.starts == 1

    def test_late_answers_arrive_after_the_editor_has_closed_its_side(self, editor: Editor) -> None:
        late = {"jsonrpc": "2.0", "id": 2, "result": "late"}
        editor.silent = {"ping"}
        editor.daemon.farewell = [late]
        editor.say(request(2, "ping"))
        editor.daemon.wait_for("ping")
        editor.hang_up()

        assert editor.hear() == late
        assert editor.end() == 0

    def test_input_that_is_no_lsp_ends_with_1(self, editor: Editor, capsys: pytest.CaptureFixture[str]) -> None:
        os.write(editor._out, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")

        assert editor.end() == 1
        assert "stateward: the editor's input is no LSP" in capsys.readouterr().err


class TestSurviving:
    """A daemon that is killed or restarted comes back, and the editor goes on."""

    def test_a_new_daemon_hears_what_the_old_one_knew(self, editor: Editor) -> None:
        editor.initialize()
        editor.say(opened(3), changed(4, "a"), changed(5, "b"), request(9, "ping"))
        editor.hear()
        editor.lose_daemon()
        editor.say(request(10, "ping"))
        editor.hear()

        documents = [opened(3), changed(4, "a"), changed(5, "b")]
        assert editor.heard_by(1) == [INITIALIZE, INITIALIZED, *documents, request(10, "ping")]

    def test_the_editor_has_one_answer_to_initialize(self, editor: Editor) -> None:
        editor.initialize()
        editor.lose_daemon()
        editor.say(request(2, "ping"))

        assert editor.hear()["id"] == 2

    def test_requests_in_flight_are_answered_with_an_error_that_says_repeat(self, editor: Editor) -> None:
        editor.silent = {"textDocument/hover"}
        editor.initialize()
        editor.say(request(2, "textDocument/hover"))
        editor.daemon.wait_for("textDocument/hover")
        editor.daemon.hang_up()

        answer = editor.hear()
        assert (answer["id"], answer["error"]["code"]) == (2, REQUEST_FAILED)
        assert "may be repeated" in answer["error"]["message"]
        assert answer["error"]["data"] == {"category": "store_unavailable", "retryable": True}
        assert editor.hear()["method"] == "window/logMessage"

    def test_an_initialize_in_flight_is_answered_by_the_new_daemon(self, editor: Editor) -> None:
        editor.silent = {"initialize"}
        editor.say(INITIALIZE)
        editor.daemon.wait_for("initialize")
        editor.silent = set()
        editor.daemon.hang_up()

        heard = [editor.hear() for _ in range(3)]
        assert {"jsonrpc": "2.0", "id": 1, "result": {"of": "initialize"}} in heard
        assert [message["method"] for message in heard if "method" in message] == ["window/logMessage", RESTARTED]

    def test_what_the_editor_says_meanwhile_comes_after_the_replay(self, editor: Editor) -> None:
        editor.initialize()
        editor.say(opened())
        editor.daemon.wait_for("textDocument/didOpen")
        editor.may_connect.clear()
        editor.daemon.hang_up()
        editor.connecting.acquire()
        editor.say(changed(2, "meanwhile"), request(2, "ping"))
        editor.may_connect.set()
        while editor.hear().get("id") != 2:
            pass

        assert editor.heard_by(1) == [INITIALIZE, INITIALIZED, opened(), changed(2, "meanwhile"), request(2, "ping")]

    def test_answers_to_questions_of_the_dead_daemon_are_dropped(self, editor: Editor) -> None:
        editor.initialize()
        editor.daemon.send(request(77, "workspace/configuration"))
        editor.hear()
        editor.lose_daemon()
        editor.say({"jsonrpc": "2.0", "id": 77, "result": []}, request(2, "ping"))
        editor.hear()

        assert [message.get("method") for message in editor.heard_by(1)] == ["initialize", "initialized", "ping"]

    def test_a_daemon_that_is_lost_again_and_again_ends_with_1(
        self, editor: Editor, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(bridge_module, "ONE_LOSS_S", 0.0)
        editor.initialize()
        for _ in range(LOSSES_MAX - 1):
            editor.lose_daemon()
        editor.daemon.hang_up()

        assert editor.end() == 1
        assert capsys.readouterr().err == (
            f"stateward: the daemon was lost {LOSSES_MAX} times in a short time; see stateward daemon logs\n"
        )

    def test_a_killed_daemon_that_still_takes_connections_is_lost_once(
        self, editor: Editor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its listening socket outlives its connections by a moment, and the bridge may be back before."""
        monkeypatch.setattr(bridge_module, "ONE_LOSS_S", 60.0)
        editor.initialize()
        editor.lose_daemon()
        for number in range(2, LOSSES_MAX):
            editor.daemon.hang_up()
            editor.say(request(number, "ping"))

            assert editor.hear().get("id") == number
        assert len(editor.bridge._losses) == 1

    def test_losses_far_apart_are_survived(self, editor: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bridge_module, "ONE_LOSS_S", 0.0)
        monkeypatch.setattr(bridge_module, "LOSS_INTERVAL_S", 0.0)
        editor.initialize()
        for _ in range(LOSSES_MAX + 2):
            editor.lose_daemon()
        editor.say(request(2, "ping"))

        assert editor.hear()["id"] == 2

    def test_more_than_can_be_handed_over_is_not_survived(
        self, editor: Editor, capsys: pytest.CaptureFixture[str]
    ) -> None:
        editor.bridge._replay._bytes_max = 1000
        editor.initialize()
        editor.say(opened(text="x" * 2000), request(2, "ping"))
        editor.hear()
        editor.daemon.hang_up()

        assert editor.end() == 1
        assert "too large to hand over" in capsys.readouterr().err

    @pytest.mark.parametrize("reason", ["no daemon to be had", "lost too often"])
    def test_a_request_in_flight_is_answered_also_when_the_bridge_gives_up(
        self, editor: Editor, reason: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        editor.silent = {"textDocument/hover"}
        editor.initialize()
        editor.say(request(2, "textDocument/hover"))
        editor.daemon.wait_for("textDocument/hover")
        if reason == "no daemon to be had":
            editor.unavailable = WireError("store_unavailable", "no daemon")
        else:
            monkeypatch.setattr(bridge_module, "LOSSES_MAX", 1)
            monkeypatch.setattr(editor.bridge, "_losses", deque(maxlen=1))
        editor.daemon.hang_up()

        answer = editor.hear()
        assert (answer["id"], answer["error"]["code"]) == (2, REQUEST_FAILED)
        assert editor.end() in {editor.unavailable, 1}

    def test_a_daemon_that_cannot_be_started_again_is_the_callers_to_report(self, editor: Editor) -> None:
        editor.initialize()
        editor.unavailable = WireError("store_unavailable", "no daemon")
        editor.daemon.hang_up()

        assert editor.end() is editor.unavailable


def test_no_daemon_at_all_is_one_line_and_3(capsys: pytest.CaptureFixture[str]) -> None:
    def connect() -> socket.socket:
        raise WireError("store_unavailable", "the daemon died", reason="first\nlast \x1b[31mline")

    assert bridge_module.run(connect) == 3
    assert capsys.readouterr().err == "stateward: the daemon died: last \\u001b[31mline\n"


class TestReplay:
    """What a new daemon must be told is as little as possible, and bounded."""

    def replayed(self, *messages: Message) -> list[Message]:
        replay = Replay()
        for message in messages:
            replay.from_editor(json.dumps(message).encode())
        return [json.loads(body) for body in replay.documents()]

    def test_a_closed_document_is_forgotten(self) -> None:
        assert self.replayed(opened(), changed(2, "a"), closed()) == []

    def test_a_document_that_is_opened_again_begins_anew(self) -> None:
        assert self.replayed(opened(), changed(2, "a"), closed(), opened(7)) == [opened(7)]

    def test_documents_do_not_mix(self) -> None:
        other = "file:///other/ACTIVE_GOAL_STATE.md"
        messages = [opened(), opened(1, uri=other), changed(2, "a", uri=other), changed(2, "b"), closed(other)]

        assert self.replayed(*messages) == [opened(), changed(2, "b")]

    def test_a_whole_text_stands_for_the_changes_before_it(self) -> None:
        messages = [opened(), changed(2, "a"), changed(3, "whole", whole=True), changed(4, "b")]

        assert self.replayed(*messages) == [opened(), changed(3, "whole", whole=True), changed(4, "b")]

    def test_a_virtual_document_that_is_shown_is_opened_without_a_text(self) -> None:
        """Whatever it showed, the new daemon lets the editor ask for it again."""
        uri = "stateward:/cwd/lazy.json"
        shown = request(2, "workspace/textDocumentContent", uri=uri)
        [told] = self.replayed(shown, shown)

        assert (told["method"], "id" in told) == ("textDocument/didOpen", False)
        assert told["params"]["textDocument"] == {"uri": uri, "languageId": "json", "version": 0, "text": ""}
        assert self.replayed(shown, closed(uri)) == []
        assert self.replayed(opened(), request(2, "workspace/textDocumentContent", uri=URI)) == [opened()]

    def test_typing_whole_texts_for_ever_stays_within_the_bound(self) -> None:
        replay = Replay(bytes_max=5000)
        replay.from_editor(json.dumps(opened()).encode())
        for version in range(2, 200):
            replay.from_editor(json.dumps(changed(version, "x" * 1000, whole=True)).encode())

        assert not replay.overflown

    def test_beyond_the_bound_nothing_is_kept(self) -> None:
        replay = Replay(bytes_max=5000)
        replay.from_editor(json.dumps(opened()).encode())
        for version in range(2, 200):
            replay.from_editor(json.dumps(changed(version, "x" * 100)).encode())

        assert replay.overflown
        assert sum(map(len, replay.documents())) < 5000

    def test_params_of_another_shape_are_the_daemons_to_refuse(self) -> None:
        assert self.replayed(notification("textDocument/didOpen", textDocument=7)) == []
