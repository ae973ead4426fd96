"""Odd editors: those that support nothing, refuse what they offered, come from the future, or speak out of turn.

All are served or refused as the LSP specification says, through `stateward lsp` and on the socket. DM-001, LX-045.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from lsp_scripts import TROUBLED

from stateward_daemon.lsp.dispatch import FEATURES
from stateward_protocol.framing import Framing, frame
from wire import Refused

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable, Iterator

    from wire import Daemon, Wire

NOTIFICATIONS: Final = ("initialized", "exit")
# What does no harm, in the order of the table.
REQUESTS: Final = [
    method
    for method in FEATURES
    if method not in {*NOTIFICATIONS, "shutdown"} and "/did" not in method and not method.startswith("window/")
]
# What a member of any params is to these requests, where no member has two meanings.
PLACE: Final = {"line": 14, "character": 3}
CAN: Final = {"dynamicRegistration": True}


def params_for(uri: str) -> dict[str, Any]:
    """Return params that hold what any request needs; what a request has no use for is passed over."""
    return {
        "textDocument": {"uri": uri},
        "position": PLACE,
        "range": {"start": PLACE, "end": PLACE},
        "ranges": [],
        "positions": [PLACE],
        "options": {"tabSize": 2, "insertSpaces": True},
        "context": {"diagnostics": [], "includeDeclaration": True, "triggerKind": 1},
        "previousResultIds": [],
        "previousResultId": "none",
        "query": "a",
        "newName": "todo_new",
        "command": "stateward.projectMarkdown",
        "arguments": [{"uri": uri}],
        "title": "an action",
        "label": "an item",
        "uri": "stateward:/cwd/none.json",
    }


@pytest.fixture(params=["socket", "bridge"])
def connect(request: pytest.FixtureRequest, daemon: Daemon) -> Callable[[], contextlib.AbstractContextManager[Wire]]:
    return daemon.connect if request.param == "socket" else daemon.bridge


@pytest.fixture
def uri(daemon: Daemon) -> Iterator[str]:
    document = daemon.cwd / "odd" / "ACTIVE_GOAL_STATE.md"
    document.parent.mkdir(exist_ok=True)
    document.write_text(TROUBLED, encoding="utf-8")
    yield document.as_uri()
    document.unlink()


def introduce(wire: Wire, capabilities: Any, **more: Any) -> Any:
    result = wire.call("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities, **more})
    wire.tell("initialized")
    return result


def opened(wire: Wire, uri: str) -> None:
    item = {"uri": uri, "languageId": "markdown", "version": 1, "text": TROUBLED}
    wire.tell("textDocument/didOpen", textDocument=item)


def code_of(wire: Wire, method: str, params: Any = None) -> int:
    """Send a request and return the code of its error, 0 when it has none."""
    try:
        wire.call(method, params)
    except Refused as refused:
        return int(refused.error["code"])
    return 0


def until(wire: Wire, fits: Callable[[Any], bool]) -> Any:
    """Return the first message of the server that fits and was not returned before."""
    while (found := next(filter(fits, wire.notifications), None)) is None:
        wire.notifications.append(wire.receive())
    wire.notifications.remove(found)
    return found


def test_one_that_supports_nothing_is_answered_everything_and_asked_nothing(
    connect: Callable[[], contextlib.AbstractContextManager[Wire]], uri: str
) -> None:
    with connect() as wire:
        introduce(wire, {})
        opened(wire, uri)
        found = until(wire, lambda message: message.get("method") == "textDocument/publishDiagnostics")
        asked = {method: code_of(wire, method, params_for(uri)) for method in REQUESTS}

    assert found["params"]["version"] == 1
    # A refusal is a decision, and no mistake.
    assert {code for code in asked.values() if code in {-32601, -32603, -32700}} == set()
    assert asked["textDocument/hover"] == asked["textDocument/codeAction"] == asked["textDocument/formatting"] == 0


@pytest.mark.parametrize("answer", ["an error", "nothing"])
def test_one_that_refuses_what_it_offered_is_served(
    connect: Callable[[], contextlib.AbstractContextManager[Wire]], uri: str, answer: str
) -> None:
    with connect() as wire:
        offers = {"didChangeWatchedFiles": CAN, "didChangeConfiguration": CAN, "configuration": True}
        introduce(wire, {"workspace": offers, "window": {"workDoneProgress": True}})
        opened(wire, uri)
        asked: list[Any] = []
        while len(asked) < 3:
            asked.append(until(wire, lambda message: "id" in message and "method" in message))
        if answer == "an error":
            for request in asked:
                wire.send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "no"}})
        assert code_of(wire, "textDocument/hover", params_for(uri)) == 0
        wire.tell("workspace/didChangeConfiguration", settings=None)
        until(wire, lambda message: message.get("method") == "workspace/configuration")
        assert code_of(wire, "textDocument/codeLens", params_for(uri)) == 0

    assert sorted(request["method"] for request in asked) == [
        "client/registerCapability",
        "client/registerCapability",
        "workspace/configuration",
    ]


FUTURE: Final[dict[str, Any]] = {
    "general": {"positionEncodings": ["utf-64", "utf-8"], "markdown": {"parser": 7}},
    "textDocument": {
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["teleport", 9]}}},
        "completion": {"completionItem": {"tagSupport": {"valueSet": [9]}}, "completionItemKind": {"valueSet": [99]}},
        "documentSymbol": {"symbolKind": {"valueSet": [99]}, "tagSupport": {"valueSet": [2]}},
        "foldingRange": {"foldingRangeKind": {"valueSet": ["moon"]}},
        "hover": {"contentFormat": ["asciidoc", "markdown"]},
        "publishDiagnostics": {"tagSupport": {"valueSet": [3]}},
        "semanticTokens": {"tokenTypes": ["quark"], "formats": ["absolute"], "requests": {"full": {"delta": 3}}},
    },
    "workspace": {
        "symbol": {"symbolKind": {"valueSet": [99]}, "tagSupport": {"valueSet": [2]}},
        "workspaceEdit": {"resourceOperations": ["teleport"], "failureHandling": "pray"},
    },
    "telepathy": {"range": [1, 2]},
}


def test_one_from_the_future_is_served(
    connect: Callable[[], contextlib.AbstractContextManager[Wire]], uri: str
) -> None:
    """The LSP specification, enumerations: a value that is not known is tolerated, wherever it stands."""
    with connect() as wire:
        result = introduce(wire, FUTURE, trace="compact", clientInfo={"name": "later", "version": 9})
        assert result["capabilities"]["positionEncoding"] == "utf-8"
        opened(wire, uri)
        problem = {"range": {"start": PLACE, "end": PLACE}, "message": "x", "severity": 9, "tags": [9]}
        params = params_for(uri) | {
            "context": {
                "diagnostics": [problem],
                "includeDeclaration": True,
                "triggerKind": 99,
                "only": ["teleport", "quickfix"],
            }
        }
        asked = {method: code_of(wire, method, params) for method in REQUESTS}
        today = {method: code_of(wire, method, params_for(uri)) for method in REQUESTS}
        wire.tell("workspace/didChangeWatchedFiles", changes=[{"uri": uri, "type": 99}])
        wire.tell("textDocument/didSave", textDocument={"uri": uri}, reason=9)
        wire.tell("$/setTrace", value="compact")
        wire.tell("$/moonPhase", phase=3)
        assert code_of(wire, "$/moonPhase") == -32601
        assert code_of(wire, "textDocument/hover", params) == 0

    assert asked == today
    assert asked["textDocument/codeAction"] == 0


def test_one_that_speaks_out_of_turn_is_refused_as_the_specification_says(
    connect: Callable[[], contextlib.AbstractContextManager[Wire]], uri: str
) -> None:
    with connect() as wire:
        opened(wire, uri)
        for method in [*REQUESTS, "shutdown"]:
            assert code_of(wire, method, params_for(uri)) == -32002
        introduce(wire, {})
        assert code_of(wire, "initialize", {"processId": None, "capabilities": {}}) == -32600
        assert code_of(wire, "textDocument/hover", params_for(uri)) == 0
        assert code_of(wire, "shutdown") == 0
        for method in [*REQUESTS, "shutdown", "initialize"]:
            assert code_of(wire, method, params_for(uri)) == -32600
        opened(wire, uri)
        wire.tell("exit")
        with pytest.raises(ConnectionError):
            wire.receive()


def test_what_a_thread_works_on_is_taken_back_and_what_comes_behind_is_served(daemon: Daemon, uri: str) -> None:
    """All frames come in one piece, so that the last one is there before any thread could be done."""
    with daemon.connect() as wire:
        introduce(wire, {})
        rows = "".join(f"- [ ] row {number}\n" for number in range(10_000))
        item = {"uri": uri, "languageId": "markdown", "version": 1, "text": f"{TROUBLED}{rows}"}
        wire.tell("textDocument/didOpen", textDocument=item)
        symbols = {"id": 71, "method": "textDocument/documentSymbol", "params": {"textDocument": {"uri": uri}}}
        hover = {"id": 72, "method": "textDocument/hover", "params": params_for(uri)}
        cancel = {"method": "$/cancelRequest", "params": {"id": 71}}
        bodies = [json.dumps({"jsonrpc": "2.0", **each}).encode() for each in (symbols, hover, cancel)]
        wire.socket.sendall(b"".join(frame(body, Framing.HEADERS) for body in bodies))
        found = [until(wire, lambda message: message.get("id") in {71, 72}) for _ in range(2)]

    assert [message["id"] for message in found] == [71, 72]
    assert found[0]["error"]["code"] == -32800
    assert "result" in found[1]
