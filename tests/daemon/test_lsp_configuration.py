"""Configuration in an editor: its settings, the files of projects, and what is shown when either changes.

LX-045, DM-001. Source: editors.md section 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from editor import BAD, PULLS, Editor, codes, save

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ASKS: dict[str, Any] = {"workspace": {"configuration": True}}
CODE = "implicit_todo_ids"
HUSHED = {"rules": {CODE: "off"}}
OFF = '[rules]\nimplicit_todo_ids = "off"\n'
TYPO = '[rules]\nimplicit_todo_id = "off"\n'


@pytest.fixture
async def editor() -> AsyncIterator[Editor]:
    async with Editor() as editor:
        yield editor


@pytest.fixture
def uri(folder: Path) -> str:
    document = folder / "ACTIVE_GOAL_STATE.md"
    document.write_text(BAD, encoding="utf-8")
    return document.as_uri()


def told(editor: Editor) -> list[str]:
    """Return what the person was shown."""
    return [m["params"]["message"] for m in editor.channel.sent if m.get("method") == "window/showMessage"]


def answer(editor: Editor, *settings: Any) -> None:
    """Answer the last question for settings."""
    editor.send(id=editor.asked("workspace/configuration")[-1]["id"], result=list(settings))


class TestSettings:
    """`stateward.*` of the client."""

    async def test_they_are_asked_for_when_the_client_is_ready(self, editor: Editor, folder: Path, uri: str) -> None:
        editor.initialize(ASKS, folder.as_uri())
        [asked] = editor.asked("workspace/configuration")
        assert asked["params"]["items"] == [
            {"section": "stateward"},
            {"section": "stateward", "scopeUri": folder.as_uri()},
        ]
        editor.open(uri, BAD)
        assert CODE in codes(await editor.next_push(uri))
        answer(editor, None, HUSHED)

        assert CODE not in codes(await editor.next_push(uri))

    async def test_those_of_the_innermost_folder_count(self, editor: Editor, folder: Path) -> None:
        inner = folder / "inner"
        inner.mkdir()
        editor.initialize(ASKS, folder.as_uri(), inner.as_uri())
        answer(editor, {"code_lens": False}, {"rules": {CODE: "error"}}, HUSHED)

        def rules(path: Path) -> Any:
            return editor.session.configured.of(path).rules

        assert rules(inner / "ACTIVE_GOAL_STATE.md") == {CODE: "off"}
        assert rules(folder / "ACTIVE_GOAL_STATE.md") == {CODE: "error"}
        assert not editor.session.configured.of(folder.parent / "ACTIVE_GOAL_STATE.md").code_lens

    async def test_a_client_that_cannot_be_asked_sends_them(self, editor: Editor, uri: str) -> None:
        editor.initialize()
        editor.open(uri, BAD)
        editor.notify("workspace/didChangeConfiguration", settings={"stateward": HUSHED})
        assert not editor.asked("workspace/configuration")
        assert CODE not in codes(await editor.next_push(uri))
        nothing: Any
        for nothing in ({}, None, 5, {"other": {}}):
            editor.notify("workspace/didChangeConfiguration", settings=nothing)
        editor.send(method="workspace/didChangeConfiguration")
        assert editor.session.configuration(uri).rules
        editor.notify("workspace/didChangeConfiguration", settings={"stateward": {}})

        assert CODE in codes(await editor.next_push(uri))

    async def test_one_that_can_be_asked_is_asked_again(self, editor: Editor) -> None:
        editor.initialize(ASKS)
        editor.notify("workspace/didChangeConfiguration", settings=None)

        assert len(editor.asked("workspace/configuration")) == 2

    async def test_an_older_answer_does_not_count(self, editor: Editor, uri: str) -> None:
        editor.initialize(ASKS)
        editor.notify("workspace/didChangeConfiguration", settings=None)
        answer(editor, {})
        editor.send(id=editor.asked("workspace/configuration")[0]["id"], result=[HUSHED])

        assert not editor.session.configuration(uri).rules

    async def test_those_of_the_introduction_count_until_others_come(self, editor: Editor, uri: str) -> None:
        """Some clients say all that they are configured with there, beside the params of `attach`."""
        editor.initialize(ASKS, initializationOptions={"stateward": {"agent": "ada", **HUSHED}})
        assert editor.session.configuration(uri).rules == {CODE: "off"}
        answer(editor, None)
        assert editor.session.configuration(uri).rules == {CODE: "off"}
        editor.notify("workspace/didChangeConfiguration", settings=None)
        answer(editor, {})

        assert not editor.session.configuration(uri).rules

    @pytest.mark.parametrize("result", [None, 5, [], [5], [None], {}, [[]], [{"rules": None}]])
    async def test_answers_of_any_shape_do_no_harm(self, editor: Editor, uri: str, result: Any) -> None:
        editor.initialize(ASKS)
        editor.send(id=editor.asked("workspace/configuration")[-1]["id"], result=result)

        assert not editor.session.configuration(uri).rules
        assert editor.session.is_serving

    async def test_a_refusal_does_no_harm(self, editor: Editor, uri: str) -> None:
        editor.initialize(ASKS)
        editor.send(
            id=editor.asked("workspace/configuration")[-1]["id"], error={"code": -32601, "message": "no such method"}
        )

        assert not editor.session.configuration(uri).rules

    async def test_what_is_wrong_is_told_once_and_the_rest_counts(self, editor: Editor, uri: str) -> None:
        editor.initialize(ASKS)
        wrong = {"rules": {CODE: "off", "nested_todos": "off"}, "code_lense": True, "trace": {"server": "on"}}
        answer(editor, wrong)
        editor.notify("workspace/didChangeConfiguration", settings=None)
        answer(editor, {**wrong, "inlay_hints": 1})
        await editor.until(lambda: len(told(editor)) >= 3)

        assert told(editor) == [
            "stateward.rules.nested_todos: there is no problem nested_todos; did you mean nested_todo?",
            "stateward.code_lense: there is no setting code_lense; did you mean code_lens?",
            "stateward.inlay_hints: inlay_hints is true or false",
        ]
        assert editor.session.configuration(uri).rules == {CODE: "off"}

    async def test_a_change_is_registered_for_beside_the_files(self, editor: Editor) -> None:
        can = {"dynamicRegistration": True}
        editor.initialize({"workspace": {"didChangeConfiguration": can, "didChangeWatchedFiles": can}})
        asked = [request["params"]["registrations"] for request in editor.asked("client/registerCapability")]

        assert [[each["method"] for each in registrations] for registrations in asked] == [
            ["workspace/didChangeConfiguration"],
            ["workspace/didChangeWatchedFiles"],
        ]

    async def test_lenses_are_switched_off(self, editor: Editor, uri: str) -> None:
        editor.initialize()
        editor.open(uri, BAD)
        assert editor.result("textDocument/codeLens", textDocument={"uri": uri})
        editor.notify("workspace/didChangeConfiguration", settings={"stateward": {"code_lens": False}})

        assert editor.result("textDocument/codeLens", textDocument={"uri": uri}) is None


class TestFiles:
    """`stateward.toml` and `[tool.stateward]` are looked at when they change, without another edit."""

    @pytest.mark.parametrize("name", ["stateward.toml", "pyproject.toml"])
    async def test_an_edit_shows_other_diagnostics(self, editor: Editor, folder: Path, uri: str, name: str) -> None:
        editor.initialize()
        editor.open(uri, BAD)
        assert CODE in codes(await editor.next_push(uri))
        save(folder / name, OFF if name == "stateward.toml" else OFF.replace("[", "[tool.stateward."))
        assert CODE not in codes(await editor.next_push(uri))
        (folder / name).unlink()

        assert CODE in codes(await editor.next_push(uri))

    async def test_so_does_one_at_the_root_of_the_folder(self, editor: Editor, folder: Path) -> None:
        document = folder / "deep/below/ACTIVE_GOAL_STATE.md"
        document.parent.mkdir(parents=True)
        document.write_text(BAD, encoding="utf-8")
        editor.initialize({}, folder.as_uri())
        await editor.until(lambda: editor.pushed(document.as_uri()))
        save(folder / "stateward.toml", OFF)

        assert CODE not in codes(await editor.next_push(document.as_uri()))

    async def test_a_client_that_asks_is_told_to_ask_again(self, editor: Editor, folder: Path, uri: str) -> None:
        editor.initialize(PULLS)
        editor.open(uri, BAD)
        named = {"textDocument": {"uri": uri}}
        before = editor.result("textDocument/diagnostic", **named)
        save(folder / "stateward.toml", OFF)
        await editor.until(lambda: editor.asked("workspace/diagnostic/refresh"))
        after = editor.result("textDocument/diagnostic", **named, previousResultId=before["resultId"])

        assert CODE in codes(before)
        assert CODE not in codes(after)

    async def test_a_file_that_is_wrong_is_told_once_with_its_place(
        self, editor: Editor, folder: Path, uri: str
    ) -> None:
        file = folder / "stateward.toml"
        save(file, TYPO)
        editor.initialize()
        editor.open(uri, BAD)
        complaint = f"{file}:2: there is no problem implicit_todo_id; did you mean implicit_todo_ids?"
        await editor.until(lambda: told(editor))
        editor.change(uri, 2, {"text": f"{BAD}\n"})
        await editor.next_push(uri)
        assert told(editor) == [complaint]
        save(file, OFF)
        assert CODE not in codes(await editor.next_push(uri))
        save(file, TYPO)
        await editor.until(lambda: len(told(editor)) > 1)

        assert told(editor) == [complaint, complaint]

    async def test_nothing_is_watched_for_a_document_that_is_closed(self, editor: Editor, uri: str) -> None:
        editor.initialize()
        editor.open(uri, BAD)
        assert len(editor.watcher._watched) == 3
        editor.close(uri)

        assert not editor.watcher._watched
