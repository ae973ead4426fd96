"""Folders: the goal documents of a workspace, open or not, found and kept in sight."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from editor import BAD, GOOD, Editor, codes, save
from stateward_daemon.lsp import scan

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def editor() -> AsyncIterator[Editor]:
    async with Editor() as editor:
        yield editor


@pytest.fixture
def goal(tmp_path: Path) -> Path:
    path = tmp_path / "a b" / "ACTIVE_GOAL_STATE.md"
    path.parent.mkdir()
    path.write_text(GOOD)
    return path


async def searched(editor: Editor) -> None:
    """Wait until the folders are searched."""
    await asyncio.gather(*editor.session.folders._scans)


class TestFolders:
    """editors.md section 1: the goal documents of the workspace folders, open or not."""

    async def test_documents_anywhere_in_a_folder_are_shown(self, editor: Editor, goal: Path) -> None:
        root = goal.parents[1]
        save(goal, BAD)
        hidden = root / ".git" / goal.name
        hidden.parent.mkdir()
        save(hidden, BAD)
        editor.initialize({}, root.as_uri())
        pushed = await editor.next_push(f"{root.as_uri()}/a%20b/{goal.name}")

        assert "version" not in pushed
        assert {push["uri"] for push in editor.pushed()} == {goal.as_uri()}

    async def test_the_document_of_the_folder_itself_is_waited_for(self, editor: Editor, tmp_path: Path) -> None:
        goal = tmp_path / "ACTIVE_GOAL_STATE.md"
        editor.initialize({}, tmp_path.as_uri())
        await searched(editor)
        save(goal, BAD)

        assert codes(await editor.next_push(goal.as_uri())) == ["implicit_todo_ids"]

    async def test_a_folder_that_is_a_link_to_itself_keeps_no_document_from_being_shown(
        self, editor: Editor, goal: Path
    ) -> None:
        loop = goal.parents[1] / "loop"
        loop.symlink_to(loop)
        editor.initialize({}, loop.as_uri())
        await searched(editor)
        editor.open(goal.as_uri(), BAD)

        assert codes(await editor.next_push(goal.as_uri())) == ["implicit_todo_ids"]

    async def test_a_folder_that_is_a_link_keeps_its_name(self, editor: Editor, goal: Path) -> None:
        link = goal.parents[1] / "link"
        link.symlink_to(goal.parent)
        uri = f"{link.as_uri()}/{goal.name}"
        save(goal, BAD)
        editor.initialize({}, link.as_uri())
        assert codes(await editor.next_push(uri)) == ["implicit_todo_ids"]

        save(goal, GOOD)
        assert codes(await editor.next_push(uri)) == []

    async def test_one_document_is_shown_under_one_name(self, editor: Editor, goal: Path) -> None:
        save(goal, BAD)
        editor.initialize({}, goal.parent.as_uri())
        await editor.next_push(goal.as_uri())
        other = goal.as_uri().replace("ACTIVE", "%41CTIVE")
        editor.open(other, BAD)
        await editor.until(lambda: editor.pushed(other) and len(editor.pushed(goal.as_uri())) > 1)

        assert codes(editor.pushed(goal.as_uri())[-1]) == []
        assert codes(editor.pushed(other)[-1]) == ["implicit_todo_ids"]

    async def test_folders_come_and_go(self, editor: Editor, goal: Path) -> None:
        save(goal, BAD)
        folder = {"uri": goal.parent.as_uri(), "name": "w"}
        editor.initialize()
        editor.notify("workspace/didChangeWorkspaceFolders", event={"added": [folder], "removed": []})
        assert codes(await editor.next_push(goal.as_uri())) == ["implicit_todo_ids"]
        editor.notify("workspace/didChangeWorkspaceFolders", event={"added": [], "removed": [folder]})
        assert codes(await editor.next_push(goal.as_uri())) == []

        assert not editor.watcher._watched

    async def test_the_client_may_report_new_documents(self, editor: Editor, goal: Path) -> None:
        editor.initialize({}, goal.parents[1].as_uri())
        await searched(editor)
        new = goal.parent / "deep" / "er" / goal.name
        new.parent.mkdir(parents=True)
        save(new, BAD)
        events = [{"uri": new.as_uri(), "type": 1}, {"uri": "file:///elsewhere/ACTIVE_GOAL_STATE.md", "type": 1}]
        editor.notify("workspace/didChangeWatchedFiles", changes=events)

        assert codes(await editor.next_push(new.as_uri())) == ["implicit_todo_ids"]
        assert Path("/elsewhere/ACTIVE_GOAL_STATE.md") not in editor.session.folders.goals

    async def test_a_file_that_is_no_text_says_so_on_its_line(self, editor: Editor, goal: Path) -> None:
        save(goal, b"# Goal\n\n\xff\xfe\n")
        editor.initialize({}, goal.parent.as_uri())
        [item] = (await editor.next_push(goal.as_uri()))["diagnostics"]

        assert (item["code"], item["range"]["start"]) == ("not_utf8", {"line": 2, "character": 0})

    async def test_the_mark_of_a_file_moves_no_place(self, editor: Editor, goal: Path) -> None:
        save(goal, "\ufeff" + BAD.split("---\n")[2])
        editor.initialize({}, goal.parent.as_uri())
        pushed = await editor.next_push(goal.as_uri())

        assert [item["range"]["start"]["character"] for item in pushed["diagnostics"]] == [0, 0]


class TestScan:
    """A search through a folder is bounded."""

    def test_the_nearest_come_first_and_hidden_and_foreign_directories_are_skipped(self, tmp_path: Path) -> None:
        for name in ("b/c", "a", ".git", "node_modules/x", ".venv", "."):
            (tmp_path / name).mkdir(parents=True, exist_ok=True)
            (tmp_path / name / "ACTIVE_GOAL_STATE.md").touch()
        (tmp_path / "a" / "loop").symlink_to(tmp_path)

        assert [str(path.parent) for path in scan.find_goal_documents(tmp_path)] == [".", "a", "b/c"]

    @pytest.mark.parametrize(("name", "found"), [("DIRECTORIES_MAX", 2), ("DOCUMENTS_MAX", 3)])
    def test_it_ends(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, found: int) -> None:
        for number in range(5):
            (tmp_path / str(number)).mkdir()
            (tmp_path / str(number) / "ACTIVE_GOAL_STATE.md").touch()
        monkeypatch.setattr(scan, name, 3)

        assert len(scan.find_goal_documents(tmp_path)) == found

    def test_a_folder_that_is_not_there_holds_nothing(self, tmp_path: Path) -> None:
        assert scan.find_goal_documents(tmp_path / "none") == []
