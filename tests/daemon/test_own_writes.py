"""What the daemon writes itself: editors are told at once, and told once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import pytest

from authority.shown_goal import FIELD_CASES, GOAL, Ledger, serve
from editor import PATIENCE_S, PULLS, Editor, codes, save
from stateward_daemon.delivering import deliver

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

TEXT: Final = (FIELD_CASES / "38-dirty-buffer-and-a-render" / "disk.md").read_text("utf-8")
END: Final = "<!-- loopx:todo-region-v0 role=agent end"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    document = tmp_path / "ACTIVE_GOAL_STATE.md"
    document.write_text(TEXT, "utf-8")
    return document


@pytest.fixture
async def editor(path: Path) -> AsyncIterator[Editor]:
    async with Editor() as editor:
        serve(editor.caller.host, Ledger(path))
        yield editor


async def reached(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - no event tells of any condition
            await asyncio.sleep(0)


async def quiet(editor: Editor) -> None:
    outbox = editor.session.showing.outbox
    await reached(lambda: not outbox._due and outbox._rested_at is not None)


def delivered(editor: Editor) -> None:
    assert deliver(editor.caller.host, GOAL)["projection_delivery"] == "delivered"


async def test_an_editor_that_takes_in_what_was_written_while_somebody_saves_follows_the_file(
    editor: Editor, path: Path
) -> None:
    """Many report what they loaded a moment later. That text is no unsaved edit, though its file is gone by then."""
    uri = path.as_uri()
    editor.initialize()
    editor.open(uri, TEXT)
    await editor.next_push(uri)
    delivered(editor)
    loaded = path.read_bytes().decode()  # noqa: ASYNC240 - a small file, and nothing else to do
    # The watcher hears of both when they are done.
    save(path, loaded.replace(END, f"- [ ] theirs\n{END}"))
    await reached(lambda: editor.session.shown_version(uri) is None)
    await editor.watcher._check({path})

    editor.change(uri, 2, {"text": loaded})

    assert editor.session.shown_version(uri) is None
    await editor.until(lambda: "implicit_todo_ids" in codes(editor.pushed(uri)[-1]))


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "in the folder"])
async def test_the_watcher_has_no_news_of_what_was_written(editor: Editor, path: Path, is_open: bool) -> None:
    """DM-006: own writes have no echo."""
    editor.initialize(PULLS, path.parent.as_uri())
    await reached(lambda: path in editor.session.folders.goals)
    if is_open:
        editor.open(path.as_uri(), TEXT)
    await quiet(editor)
    editor.channel.sent.clear()

    delivered(editor)
    await reached(lambda: editor.channel.sent)
    await quiet(editor)
    told = list(editor.channel.sent)
    await editor.watcher._check({path})
    await quiet(editor)

    assert editor.channel.sent == told
