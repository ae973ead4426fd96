"""The session: from `initialize` to `exit`, one answer per request, and a daemon that no editor can take along."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import pytest

from editor import PULLS, Editor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

URI = "file:///w/ACTIVE_GOAL_STATE.md"
PLACE = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
TEXT = "# Goal\n\n## Agent Todo\n\n- [ ] ship it\n"


@pytest.fixture
async def editor() -> AsyncIterator[Editor]:
    async with Editor() as editor:
        yield editor


class TestInitialize:
    """protocol.md section 2: `initialize` binds an editor's connection."""

    async def test_a_client_that_says_nothing_is_served(self, editor: Editor) -> None:
        announced = editor.initialize()

        assert announced["positionEncoding"] == "utf-16"
        assert announced["textDocumentSync"] == {
            "openClose": True,
            "change": 2,
            "save": {"includeText": False},
        }
        assert "diagnosticProvider" not in announced
        assert announced["hoverProvider"] is announced["documentSymbolProvider"] is True
        assert announced["experimental"] == {"stateward": {"protocol": 1}}

    async def test_a_client_that_can_be_told_to_ask_again_is_offered_to_ask(self, editor: Editor) -> None:
        assert editor.initialize(PULLS)["diagnosticProvider"] == {
            "interFileDependencies": False,
            "workspaceDiagnostics": True,
            "identifier": "stateward",
            "workDoneProgress": True,
        }

    async def test_nothing_is_announced_that_is_not_served(self, editor: Editor) -> None:
        assert sorted(editor.initialize(PULLS)) == [
            "codeActionProvider",
            "codeLensProvider",
            "completionProvider",
            "definitionProvider",
            "diagnosticProvider",
            "documentFormattingProvider",
            "documentHighlightProvider",
            "documentLinkProvider",
            "documentRangeFormattingProvider",
            "documentSymbolProvider",
            "executeCommandProvider",
            "experimental",
            "foldingRangeProvider",
            "hoverProvider",
            "inlayHintProvider",
            "positionEncoding",
            "referencesProvider",
            "renameProvider",
            "semanticTokensProvider",
            "textDocumentSync",
            "workspace",
            "workspaceSymbolProvider",
        ]

    @pytest.mark.parametrize(
        "capabilities",
        [
            {"workspace": {"symbol": {"symbolKind": {"valueSet": [99]}, "tagSupport": {"valueSet": [2]}}}},
            {"textDocument": {"publishDiagnostics": {"tagSupport": {"valueSet": [3]}}}},
            {"textDocument": {"hover": {"contentFormat": ["asciidoc", "markdown"]}}},
            {"workspace": {"workspaceEdit": {"resourceOperations": ["teleport"]}}},
            {"general": {"positionEncodings": ["utf-7"]}},
            {"general": None, "textDocument": {"hover": True}, "workspace": [], "future": {"x": 1}},
        ],
    )
    async def test_what_nobody_knows_yet_does_no_harm(self, editor: Editor, capabilities: dict[str, Any]) -> None:
        """The LSP specification, enumerations: values that are not known are tolerated."""
        assert editor.initialize(capabilities, trace="compact", locale=5, clientInfo="?")["hoverProvider"]

    @pytest.mark.parametrize(
        ("offered", "chosen"),
        [
            (["utf-8", "utf-16"], "utf-8"),
            (["utf-7", "utf-32", "utf-8"], "utf-32"),
            (["utf-16"], "utf-16"),
            ([], "utf-16"),
            (None, "utf-16"),
        ],
    )
    async def test_the_first_known_encoding_of_the_client_counts(
        self, editor: Editor, offered: list[str] | None, chosen: str
    ) -> None:
        assert editor.initialize({"general": {"positionEncodings": offered}})["positionEncoding"] == chosen

    async def test_who_counts_in_one_unit_and_does_not_say_so_names_it_as_an_option(self, editor: Editor) -> None:
        options = {"stateward": {"position_encodings": ["utf-8"]}}

        assert editor.initialize({}, initializationOptions=options)["positionEncoding"] == "utf-8"

    async def test_it_binds_the_caller_to_the_folder_and_the_session_of_editors(
        self, editor: Editor, tmp_path: Any
    ) -> None:
        editor.initialize({}, "untitled:x", "file:///not/there", tmp_path.as_uri(), clientInfo={"name": "vi" * 100})

        attachment = editor.caller.bound()
        assert (attachment.kind, attachment.client, attachment.mode) == ("editor", ("vi" * 100)[:128], "active")
        assert (attachment.selection.cwd, attachment.selection.session) == (str(tmp_path), "editor")

    async def test_its_options_are_those_of_attach(self, editor: Editor, tmp_path: Any) -> None:
        options = {"cwd": str(tmp_path), "session": "s1", "wanted": ["session"], "mode": "passive"}
        editor.initialize(initializationOptions={"stateward": options})

        attachment = editor.caller.bound()
        assert attachment.selection.wanted == ("session",)
        assert (attachment.selection.session, attachment.mode) == ("s1", "passive")

    @pytest.mark.parametrize("options", [{"mode": "loud"}, {"session": "s1"}, {"protocol": 99}])
    async def test_options_that_cannot_be_are_refused_and_may_be_mended(
        self, editor: Editor, options: dict[str, Any]
    ) -> None:
        refused = editor.refusal("initialize", capabilities={}, initializationOptions={"stateward": options})

        assert refused == (-32602, "invalid_request")
        assert editor.initialize()["hoverProvider"]


class TestPhases:
    """DM-001 and protocol.md section 2: nothing before `initialize`, and after `shutdown` only `exit`."""

    @pytest.mark.parametrize("method", ["textDocument/hover", "shutdown", "no/such"])
    async def test_before_initialize_requests_are_refused(self, editor: Editor, method: str) -> None:
        assert editor.refusal(method) == (-32002, "not_attached")

    async def test_before_initialize_notifications_are_dropped(self, editor: Editor) -> None:
        editor.open(URI, TEXT)

        assert not editor.session.buffers
        assert not editor.channel.sent

    async def test_a_second_initialize_is_refused_and_changes_nothing(self, editor: Editor) -> None:
        editor.initialize({"general": {"positionEncodings": ["utf-8"]}})
        editor.open(URI, TEXT)

        assert editor.refusal("initialize", capabilities={}) == (-32600, "invalid_message")
        assert list(editor.session.buffers) == [URI]
        assert editor.session.client.encoding == "utf-8"

    async def test_after_shutdown_requests_are_refused(self, editor: Editor) -> None:
        editor.initialize()
        assert editor.result("shutdown") is None

        for method in ("textDocument/hover", "initialize", "shutdown"):
            assert editor.refusal(method) == (-32600, "invalid_message")

    async def test_exit_ends_this_connection_and_not_the_process(self, editor: Editor) -> None:
        editor.initialize()
        editor.result("shutdown")
        editor.notify("exit")

        assert editor.channel.closed

    async def test_exit_is_heard_in_every_phase(self, editor: Editor) -> None:
        editor.notify("exit")

        assert editor.channel.closed


class TestAnswers:
    """protocol.md section 1: every request is answered exactly once."""

    @pytest.mark.parametrize(
        ("params", "path"),
        [
            ({"bogus": 1}, "$.params.textDocument"),
            ({**PLACE, "position": {"line": "x", "character": 0}}, "$.params.position.line"),
            ({**PLACE, "textDocument": {}}, "$.params.textDocument.uri"),
        ],
    )
    async def test_params_that_do_not_fit_are_refused_with_their_place(
        self, editor: Editor, params: dict[str, Any], path: str
    ) -> None:
        editor.initialize()

        error = editor.ask("textDocument/hover", **params)["error"]
        assert (error["code"], error["data"]["category"]) == (-32602, "invalid_request")
        assert error["data"]["path"] == path

    @pytest.mark.parametrize("id_", ["text", 0, -1])
    async def test_the_answer_has_the_id_of_the_request(self, editor: Editor, id_: int | str) -> None:
        editor.initialize()
        editor.send(id=id_, method="textDocument/hover", params=PLACE)

        assert [answer["result"] for answer in editor.answers(id_)] == [None]

    async def test_an_unknown_method_is_refused_with_the_nearest_name(self, editor: Editor) -> None:
        editor.initialize()

        error = editor.ask("textDocument/hovver")["error"]
        assert (error["code"], error["data"]["category"]) == (-32601, "unknown_method")
        assert error["data"]["did_you_mean"] == "textDocument/hover"

    async def test_a_request_without_params_is_answered(self, editor: Editor) -> None:
        editor.initialize()
        editor.send(id="x", method="shutdown")

        assert [answer["result"] for answer in editor.answers("x")] == [None]

    async def test_a_notification_that_is_sent_as_a_request_is_answered(self, editor: Editor) -> None:
        editor.initialize()

        assert editor.result("textDocument/didClose", textDocument={"uri": URI}) is None

    async def test_a_request_that_is_sent_as_a_notification_is_not(self, editor: Editor) -> None:
        editor.initialize()
        before = len(editor.channel.sent)
        editor.notify("textDocument/hover", **PLACE)
        editor.notify("no/such")
        editor.notify("textDocument/hover", bogus=1)

        assert len(editor.channel.sent) == before

    async def test_a_member_named_jsonrpc_inside_params_is_a_member(self, editor: Editor) -> None:
        """By itself pygls takes every object with that member for a message."""
        editor.initialize()
        nested = {"jsonrpc": "2.0", "id": 9, "method": "shutdown"}
        assert editor.ask("textDocument/hover", **PLACE, workDoneToken="t", extra=nested)["result"] is None

        assert not editor.answers(9)

    async def test_initialized_needs_no_params(self, editor: Editor) -> None:
        editor.initialize({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}})
        editor.channel.sent.clear()
        editor.send(method="initialized")

        [asked] = editor.asked("client/registerCapability")
        assert asked["params"]["registrations"][0]["method"] == "workspace/didChangeWatchedFiles"

    async def test_a_client_that_refuses_what_it_offered_is_served(self, editor: Editor) -> None:
        editor.initialize({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}})
        [asked] = editor.asked("client/registerCapability")
        editor.send(id=asked["id"], error={"code": -32601, "message": "no"})
        editor.send(id=asked["id"], result=None)
        editor.send(id="never asked", result=None)
        editor.send(id=[], error=None)

        assert editor.result("textDocument/hover", **PLACE) is None

    async def test_a_mistake_of_ours_is_answered_without_its_traceback_and_shown_to_nobody(
        self, editor: Editor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        editor.initialize()
        editor.open(URI, TEXT)

        def broken(_uri: str) -> None:
            raise ZeroDivisionError("a secret")

        monkeypatch.setattr(editor.session, "reading", broken)
        error = editor.ask("textDocument/hover", **PLACE)["error"]

        assert (error["code"], error["data"]["category"]) == (-32603, "internal")
        assert sorted(error["data"]) == ["category", "incident"]
        assert "secret" not in str(error)
        assert error["data"]["incident"] in caplog.text
        assert not [message for message in editor.channel.sent if message.get("method") == "window/showMessage"]

    async def test_an_edit_of_a_document_that_is_not_open_is_ignored(
        self, editor: Editor, caplog: pytest.LogCaptureFixture
    ) -> None:
        editor.initialize()
        editor.change("file:///w/README.md", 2, {"text": TEXT})
        assert not caplog.text
        editor.change(URI, 2, {"text": TEXT})

        assert not editor.session.buffers
        assert "not open" in caplog.text

    async def test_positions_beyond_every_number_of_lsp_are_clamped(self, editor: Editor) -> None:
        editor.initialize()
        editor.open(URI, "ab\ncd")
        far = {"line": 2**40, "character": 2**40}
        editor.change(URI, 2, {"range": {"start": {"line": 0, "character": 2**32 - 1}, "end": far}, "text": "!"})

        assert editor.session.buffers[URI].text == "ab!"
        assert editor.result("textDocument/hover", textDocument={"uri": URI}, position=far) is not None


async def test_a_session_that_is_gone_leaves_nothing_behind() -> None:
    """By itself pygls keeps the protocol object of every connection in the caches of its methods."""
    editor = Editor()
    editor.initialize({}, "file:///w")
    editor.open(URI, TEXT)
    editor.result("textDocument/hover", **PLACE)
    gone = weakref.ref(editor.session)
    editor.session.closed()
    await editor.watcher.close()
    assert not editor.watcher._watched

    del editor
    gc.collect()
    assert gone() is None


class TestEditsThatDoNotFit:
    """What is shown is never older than the text: an edit that cannot be read ends the text that it is about."""

    @pytest.mark.parametrize(
        ("document", "change"),
        [
            ({}, {"range": {"start": {"line": "x", "character": 0}}, "text": ""}),
            ({}, {"text": 5}),
            ({}, {"text": None}),
            ({}, {}),
            ({"version": None}, {"text": "# New\n"}),
        ],
    )
    async def test_the_text_is_let_go_and_the_person_is_told(
        self, editor: Editor, document: dict[str, Any], change: dict[str, Any]
    ) -> None:
        editor.initialize()
        editor.open(URI, "# Old\n")
        about = {"uri": URI, "version": 2, **document}
        editor.notify("textDocument/didChange", textDocument=about, contentChanges=[change])

        assert editor.result("textDocument/documentSymbol", textDocument={"uri": URI}) == []
        [said] = [
            sent["params"]["message"] for sent in editor.channel.sent if sent.get("method") == "window/showMessage"
        ]
        assert "open the document again" in said

    async def test_a_null_is_as_good_as_nothing(self, editor: Editor) -> None:
        editor.initialize()
        editor.open(URI, "# Old\n")
        editor.change(URI, 2, {"range": None, "rangeLength": None, "text": "# New\n"})

        [symbol] = editor.result("textDocument/documentSymbol", textDocument={"uri": URI})
        assert symbol["name"] == "New"
