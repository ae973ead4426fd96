"""Formatting in an editor: what machines own as the renderer writes it. Source: editors.md section 1, LX-045."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from authority.shown_goal import FIELD_CASES, Ledger, serve
from editor import Editor, save
from stateward_daemon.positions import Encoding, LineIndex

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

CLEAN: Final = (FIELD_CASES / "38-dirty-buffer-and-a-render/disk.md").read_text("utf-8")
URI: Final = "file:///w/ACTIVE_GOAL_STATE.md"
END: Final = "<!-- loopx:todo-region-v0 role=agent end -->"
OPTIONS: Final = {"tabSize": 8, "insertSpaces": False}
MARKED: Final = """## Agent Todo
<!-- loopx:todo-region-v0 role=agent begin -->
* [ ] 🎉 one
  <!-- loopx:todo todo_id=todo_one -->
*  [X] two
   <!-- loopx: status=done todo_id=todo_two -->
<!-- loopx:todo-region-v0 role=agent end -->

*  words of a person
"""
FORMATTED: Final = (
    MARKED.replace("* [ ]", "- [ ]")
    .replace("*  [X]", "- [x]")
    .replace("   <!-- loopx: status=done todo_id=todo_two", "  <!-- loopx:todo todo_id=todo_two status=done")
)


@pytest.fixture
async def editor() -> AsyncIterator[Editor]:
    async with Editor() as editor:
        yield editor


def told(editor: Editor) -> list[str]:
    return [m["params"]["message"] for m in editor.channel.sent if m.get("method") == "window/showMessage"]


def edits(editor: Editor, uri: str = URI, within: tuple[int, int] | None = None) -> Any:
    named = {"textDocument": {"uri": uri}, "options": OPTIONS}
    if within is None:
        return editor.result("textDocument/formatting", **named)
    start, end = ({"line": line, "character": 0} for line in within)
    return editor.result("textDocument/rangeFormatting", range={"start": start, "end": end}, **named)


def applied(text: str, changes: list[Any], encoding: Encoding = Encoding.UTF_16) -> str:
    index = LineIndex(text)

    def offset(position: Any) -> int:
        return index.offset(position["line"], position["character"], encoding)

    for change in sorted(changes, key=lambda change: -offset(change["range"]["start"])):
        text = text[: offset(change["range"]["start"])] + change["newText"] + text[offset(change["range"]["end"]) :]
    return text


@pytest.mark.parametrize("encoding", list(Encoding))
async def test_rows_of_marked_regions_become_as_the_renderer_writes_them(editor: Editor, encoding: Encoding) -> None:
    editor.initialize({"general": {"positionEncodings": [encoding]}})
    editor.open(URI, MARKED)
    changes = edits(editor)
    assert applied(MARKED, changes, encoding) == FORMATTED
    editor.change(URI, 2, {"text": FORMATTED})

    assert edits(editor) == []


async def test_of_a_range_only_the_rows_that_it_touches(editor: Editor) -> None:
    editor.initialize()
    editor.open(URI, MARKED)

    assert applied(MARKED, edits(editor, within=(3, 3))) == MARKED.replace("* [ ]", "- [ ]")
    assert applied(MARKED, edits(editor, within=(2, 5))) == FORMATTED
    assert edits(editor, within=(0, 1)) == []
    assert edits(editor, within=(6, 9)) == []


async def test_what_would_lose_something_is_left_and_told_once(editor: Editor) -> None:
    editor.initialize()
    editor.open(URI, MARKED.replace("status=done", "color=red"))
    assert edits(editor) is None
    assert edits(editor) is None
    await editor.until(lambda: told(editor))

    assert told(editor) == [
        "nothing was formatted, because something would be lost or guessed: unknown_metadata_key in line 6"
    ]


async def test_a_refused_document_is_left(editor: Editor) -> None:
    editor.initialize()
    editor.open(URI, MARKED.replace("role=agent end", ""))
    assert edits(editor) is None
    await editor.until(lambda: told(editor))

    assert edits(editor, "file:///w/README.md") is None


class TestPromoted:
    """The sections of a promoted goal are a display: they are formatted as the ledger says."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        document = tmp_path / "ACTIVE_GOAL_STATE.md"
        save(document, CLEAN)
        return document

    async def test_an_old_display_is_shown_as_the_ledger_says(self, editor: Editor, path: Path) -> None:
        ledger = Ledger(path)
        serve(editor.caller.host, ledger)
        ledger.finish("todo_grind")
        uri = path.as_uri()
        editor.initialize()
        editor.open(uri, CLEAN)
        current = edits(editor, uri)
        shown = applied(CLEAN, current)
        assert "- [ ] [P1] Grind it." in CLEAN
        assert "- [x] [P1] Grind it." in shown
        editor.change(uri, 2, {"text": shown})

        assert edits(editor, uri) == []

    async def test_a_line_that_somebody_wrote_there_stays(self, editor: Editor, path: Path) -> None:
        serve(editor.caller.host, Ledger(path))
        uri = path.as_uri()
        editor.initialize()
        editor.open(
            uri,
            CLEAN.replace(END, f"- [ ] typed\n{END}"),
        )
        assert edits(editor, uri) is None
        await editor.until(lambda: told(editor))

        assert "somebody wrote into a todo section" in told(editor)[0]
