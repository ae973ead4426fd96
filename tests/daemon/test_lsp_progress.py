"""Progress and cancellation: what takes long is told and can be taken back. Source: editors.md section 1, LX-045."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from authority.shown_goal import FIELD_CASES, GOAL, Ledger, serve
from editor import BAD, PULLS, Editor
from stateward_daemon.lanes import Lanes
from stateward_daemon.lsp import progress
from stateward_daemon.lsp import session as session_module

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

URI: Final = "file:///w/ACTIVE_GOAL_STATE.md"
NAMED: Final = {"textDocument": {"uri": URI}}
SHOWS: Final = {"window": {"workDoneProgress": True}}
CLEAN: Final = (FIELD_CASES / "38-dirty-buffer-and-a-render/disk.md").read_text("utf-8")

Job = tuple["Callable[[], Any]", "Callable[[Any], None]", "Callable[[Exception], None]"]


class Held:
    """Threads that run when the test says so."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def __call__(self, *job: Any) -> None:
        self.jobs.append(job)

    def finish(self) -> None:
        """Run the first job."""
        job, done, failed = self.jobs.pop(0)
        try:
            result = job()
        except Exception as error:  # noqa: BLE001 - as a connection does
            failed(error)
        else:
            done(result)


@pytest.fixture
async def editor(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Editor]:
    """Every document takes long, and what takes long is told at once."""
    monkeypatch.setattr(session_module, "READ_INLINE_MAX", 0)
    monkeypatch.setattr(progress, "BEGIN_AFTER_S", 0)
    async with Editor() as editor:
        yield editor


@pytest.fixture
def held(editor: Editor, monkeypatch: pytest.MonkeyPatch) -> Held:
    held = Held()
    monkeypatch.setattr(editor.channel, "work", held)
    return held


def told(editor: Editor) -> list[Any]:
    """Return what was told about progress, without names that are made up."""
    return [m["params"]["value"] for m in editor.channel.sent if m.get("method") == "$/progress"]


def begin(editor: Editor, identifier: int, method: str = "textDocument/hover", **params: Any) -> None:
    place = {"position": {"line": 0, "character": 0}} if method == "textDocument/hover" else {}
    editor.send(id=identifier, method=method, params={**NAMED, **place, **params})


def overheard(editor: Editor, method: str, /, **params: Any) -> bool:
    return editor.session.overhear({"jsonrpc": "2.0", "method": method, "params": params})


BEGUN: Final = {"kind": "begin", "title": "Reading goal documents", "cancellable": True}
ENDED: Final = {"kind": "end"}


async def created(editor: Editor) -> Any:
    await editor.until(lambda: editor.asked("window/workDoneProgress/create"))
    return editor.asked("window/workDoneProgress/create")[-1]


async def test_a_client_that_shows_progress_is_asked_to_and_then_told(editor: Editor, held: Held) -> None:
    editor.initialize(SHOWS)
    editor.open(URI, BAD)
    begin(editor, 7)
    asked = await created(editor)
    assert told(editor) == []
    assert editor.session.overhear({"jsonrpc": "2.0", "id": asked["id"], "result": None})
    assert told(editor) == [BEGUN]
    held.finish()

    assert told(editor) == [BEGUN, ENDED]
    assert editor.channel.sent[-1]["id"] == 7


async def test_under_a_name_of_the_client_nobody_is_asked(editor: Editor, held: Held) -> None:
    editor.initialize()
    editor.open(URI, BAD)
    begin(editor, 7, workDoneToken="mine")
    await editor.until(lambda: told(editor))
    held.finish()

    assert told(editor) == [BEGUN, ENDED]
    assert not editor.asked("window/workDoneProgress/create")
    assert {m["params"]["token"] for m in editor.channel.sent if m.get("method") == "$/progress"} == {"mine"}


@pytest.mark.parametrize("answer", [None, {"error": {"code": -32603, "message": "no"}}])
async def test_a_client_that_refuses_or_never_answers_is_answered_all_the_same(
    editor: Editor, held: Held, answer: Any
) -> None:
    editor.initialize(SHOWS)
    editor.open(URI, BAD)
    begin(editor, 7)
    asked = await created(editor)
    if answer:
        assert editor.session.overhear({"jsonrpc": "2.0", "id": asked["id"], **answer})
    held.finish()
    editor.send(id=asked["id"], result=None)

    assert told(editor) == []
    assert "result" in editor.answers(7)[0]


async def test_what_is_done_soon_tells_nothing(editor: Editor, held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BEGIN_AFTER_S", 3600)
    editor.initialize(SHOWS)
    editor.open(URI, BAD)
    begin(editor, 7, workDoneToken="mine")
    held.finish()

    assert told(editor) == []
    assert not editor.asked("window/workDoneProgress/create")


@pytest.mark.parametrize(
    ("method", "params"), [("$/cancelRequest", {"id": 7}), ("window/workDoneProgress/cancel", {"token": "mine"})]
)
async def test_what_is_cancelled_is_answered_at_once_and_what_comes_of_it_dropped(
    editor: Editor, held: Held, method: str, params: Any
) -> None:
    editor.initialize()
    editor.open(URI, BAD)
    begin(editor, 7, workDoneToken="mine")
    await editor.until(lambda: told(editor))
    assert not overheard(editor, "$/cancelRequest", id=8)
    assert not overheard(editor, "window/workDoneProgress/cancel", **dict.fromkeys(["token"], "other"))
    assert not overheard(editor, "textDocument/hover")
    assert overheard(editor, method, **params)
    overheard(editor, method, **params)
    [answer] = editor.answers(7)
    assert answer["error"]["code"] == -32800
    assert told(editor) == [BEGUN, ENDED]
    held.finish()

    assert editor.answers(7) == [answer]
    assert not overheard(editor, "$/cancelRequest", id=7)


class TestManyDocuments:
    """`workspace/diagnostic` counts, and stops between two documents."""

    async def opened(self, editor: Editor) -> None:
        editor.initialize({**SHOWS, **PULLS})
        for name in "abc":
            editor.open(f"file:///{name}/ACTIVE_GOAL_STATE.md", BAD)

    async def test_it_counts(self, editor: Editor, held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(progress, "REPORT_EVERY_S", 0)
        await self.opened(editor)
        begin(editor, 7, "workspace/diagnostic", previousResultIds=[], workDoneToken="mine")
        await editor.until(lambda: told(editor))
        job, done, _ = held.jobs.pop()
        result = job()
        await editor.until(lambda: len(told(editor)) == 4)
        done(result)

        assert [value.get("message") for value in told(editor)] == [None, "0/3", "1/3", "2/3", None]
        assert told(editor)[2]["percentage"] == 33

    async def test_a_client_that_takes_parts_gets_one_per_document(self, editor: Editor, held: Held) -> None:
        await self.opened(editor)
        begin(editor, 7, "workspace/diagnostic", previousResultIds=[], partialResultToken="parts")
        job, done, _ = held.jobs.pop()
        result = job()
        await editor.until(lambda: len(told(editor)) == 3)
        done(result)

        assert [[report["uri"] for report in part["items"]] for part in told(editor)] == [
            [f"file:///{name}/ACTIVE_GOAL_STATE.md"] for name in "abc"
        ]
        assert editor.answers(7)[0]["result"] == {"items": []}

    async def test_parts_of_what_is_made_at_once_come_before_the_answer_too(
        self, editor: Editor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A client stops listening for parts with the answer."""
        monkeypatch.setattr(session_module, "READ_INLINE_MAX", 1 << 20)
        await self.opened(editor)
        begin(editor, 7, "workspace/diagnostic", previousResultIds=[], partialResultToken="parts")
        await editor.until(lambda: len(told(editor)) == 3)

        sent = [message.get("method", message.get("id")) for message in editor.channel.sent]
        assert [found for found in sent if found in ("$/progress", 7)] == ["$/progress"] * 3 + [7]

    async def test_nobody_works_for_what_was_cancelled(
        self, editor: Editor, held: Held, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await self.opened(editor)
        begin(editor, 7, "workspace/diagnostic", previousResultIds=[])
        overheard(editor, "$/cancelRequest", id=7)
        monkeypatch.setattr(editor.session, "diagnostics", pytest.fail)
        held.finish()

        assert [answer["error"]["code"] for answer in editor.answers(7)] == [-32800]


class TestCommands:
    """A command that waits behind others of its goal is told, and taken back as long as it has not begun."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        document = tmp_path / "ACTIVE_GOAL_STATE.md"
        document.write_text(CLEAN, encoding="utf-8")
        return document

    async def waiting(self, editor: Editor, path: Path, **params: Any) -> Held:
        """Have a command wait behind another one in the lane of its goal."""
        serve(editor.caller.host, Ledger(path, promoted=False))
        held = Held()
        editor.caller.host.lanes = Lanes(held)
        editor.initialize()
        argument = {"goal_id": GOAL, "todo_id": "todo_grind"}
        for identifier in (7, 8):
            editor.send(
                id=identifier,
                method="workspace/executeCommand",
                params={"command": "stateward.completeTodo", "arguments": [argument], **params},
            )
        return held

    @pytest.mark.parametrize(
        ("method", "params"),
        [("$/cancelRequest", {"id": 8}), ("window/workDoneProgress/cancel", {"token": "mine"})],
    )
    async def test_it_is_taken_back(self, editor: Editor, path: Path, method: str, params: Any) -> None:
        held = await self.waiting(editor, path, workDoneToken="mine")
        await editor.until(lambda: len(told(editor)) == 2)
        assert [value["title"] for value in told(editor)] == ["Working on todos"] * 2
        editor.notify(method, **params)

        assert [answer["error"]["code"] for answer in editor.answers(8)] == [-32800]
        assert not editor.answers(7)
        assert len(held.jobs) == 1
        assert told(editor)[2:] == [ENDED]

    async def test_what_has_begun_is_not(self, editor: Editor, path: Path) -> None:
        await self.waiting(editor, path)
        editor.notify("$/cancelRequest", id=7)

        assert not editor.answers(7)
