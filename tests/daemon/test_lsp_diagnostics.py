"""Diagnostics: about the client's own text, never older than it, and about the file where there is no such text."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from editor import PULLS, Editor, codes
from stateward_daemon.lsp import scan

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CASE = Path(__file__).parents[1] / "conformance/field_cases/37-atomic-save-and-stale-diagnostics"
GOOD, BAD = ((CASE / name).read_text("utf-8") for name in ("good.md", "bad.md"))
DUPLICATES = BAD.replace(
    "no id here", "a\n  <!-- loopx:todo todo_id=todo_twin -->\n- [ ] b\n  <!-- loopx:todo todo_id=todo_twin -->"
)


@pytest.fixture
async def editor() -> AsyncIterator[Editor]:
    editor = Editor()
    yield editor
    editor.session.closed()
    await editor.watcher.close()


@pytest.fixture
def goal(tmp_path: Path) -> Path:
    path = tmp_path / "a b" / "ACTIVE_GOAL_STATE.md"
    path.parent.mkdir()
    path.write_text(GOOD)
    return path


def save(path: Path, text: str | bytes) -> None:
    """Save by renaming a new file."""
    draft = path.with_name("draft~")
    draft.write_bytes(text if isinstance(text, bytes) else text.encode())
    draft.replace(path)


def delete(path: Path) -> None:
    """Delete a file."""
    path.unlink()


async def searched(editor: Editor) -> None:
    """Wait until the folders are searched."""
    await asyncio.gather(*editor.session.folders._scans)


def items(report: dict[str, Any]) -> list[tuple[str, list[str] | None]]:
    """Return kind and codes of the parts of a workspace report."""
    return [(part["kind"], codes(part) if "items" in part else None) for part in report["items"]]


class TestPush:
    """DM-001 and editors.md section 1: with a version, never older than the text, only to clients that do not pull."""

    async def test_an_open_document_has_those_of_its_text(self, editor: Editor, goal: Path) -> None:
        editor.initialize()
        editor.open(goal.as_uri(), BAD, version=7)
        pushed = await editor.next_push(goal.as_uri())

        assert pushed["version"] == 7
        [item] = pushed["diagnostics"]
        assert item["range"] == {"start": {"line": 9, "character": 0}, "end": {"line": 9, "character": 16}}
        assert (item["severity"], item["code"], item["source"]) == (2, "implicit_todo_ids", "stateward")

    async def test_edits_in_quick_succession_are_one_push_of_the_last(self, editor: Editor, goal: Path) -> None:
        uri = goal.as_uri()
        editor.initialize()
        editor.open(uri, BAD)
        for version in range(2, 50):
            editor.change(uri, version, {"text": GOOD if version % 2 else BAD})
        await editor.next_push(uri)

        assert [(push["version"], codes(push)) for push in editor.pushed(uri)] == [(49, [])]

    async def test_versions_never_go_back(self, editor: Editor, goal: Path) -> None:
        uri = goal.as_uri()
        editor.initialize()
        editor.open(uri, BAD)
        for version in range(2, 6):
            await editor.next_push(uri)
            editor.change(uri, version, {"text": BAD})
        await editor.next_push(uri)

        assert [push["version"] for push in editor.pushed(uri)] == [1, 2, 3, 4, 5]

    @pytest.mark.parametrize("related", [True, False])
    async def test_other_places_are_sent_to_those_who_take_them(
        self, editor: Editor, goal: Path, *, related: bool
    ) -> None:
        editor.initialize({"textDocument": {"publishDiagnostics": {"relatedInformation": related}}})
        editor.open(goal.as_uri(), DUPLICATES)
        pushed = await editor.next_push(goal.as_uri())

        first, second = pushed["diagnostics"]
        assert ("relatedInformation" in first) is related
        if related:
            [place] = first["relatedInformation"]
            assert place["location"] == {"uri": goal.as_uri(), "range": second["range"]}

    async def test_places_are_in_the_units_of_the_client(self, editor: Editor, goal: Path) -> None:
        editor.initialize({"general": {"positionEncodings": ["utf-8"]}})
        editor.open(goal.as_uri(), BAD.replace("no id here", "🌊 核"))
        [item] = (await editor.next_push(goal.as_uri()))["diagnostics"]

        assert item["range"]["end"]["character"] == len("- [ ] 🌊 核".encode())

    async def test_a_client_that_does_not_read_gets_one_push_when_it_reads_again(
        self, editor: Editor, goal: Path
    ) -> None:
        editor.initialize()
        editor.open(goal.as_uri(), BAD)
        await editor.next_push(goal.as_uri())
        editor.channel.paused = True
        for version in range(2, 5):
            editor.change(goal.as_uri(), version, {"text": BAD})
            # As if the delay of each were over.
            editor.session._outbox._send_one()
        editor.channel.paused = False
        editor.session.resumed()
        await editor.next_push(goal.as_uri())

        assert [push["version"] for push in editor.pushed()] == [1, 4]

    async def test_other_documents_are_left_alone(self, editor: Editor, tmp_path: Path) -> None:
        editor.initialize()
        for uri in (
            (tmp_path / "README.md").as_uri(),
            "untitled:ACTIVE_GOAL_STATE.md",
            "file://host/ACTIVE_GOAL_STATE.md",
        ):
            editor.open(uri, BAD)

        assert not editor.session.buffers

    async def test_after_closing_it_is_about_the_file_of_a_folder(self, editor: Editor, goal: Path) -> None:
        save(goal, DUPLICATES)
        editor.initialize({}, goal.parent.as_uri())
        await editor.next_push(goal.as_uri())
        editor.open(goal.as_uri(), BAD)
        await editor.next_push(goal.as_uri())
        editor.close(goal.as_uri())

        pushed = await editor.next_push(goal.as_uri())
        assert (codes(pushed), "version" in pushed) == (["duplicate_todo_ids"] * 2, False)

    async def test_after_closing_it_is_about_nothing_elsewhere(self, editor: Editor, goal: Path) -> None:
        save(goal, BAD)
        editor.initialize()
        editor.open(goal.as_uri(), BAD)
        await editor.next_push(goal.as_uri())
        editor.close(goal.as_uri())

        assert codes(await editor.next_push(goal.as_uri())) == []


class TestOutsideChanges:
    """Field case 37, and daemon.md section 1, 8: an open buffer is a session's own, and a clean one is the file's."""

    async def test_a_clean_buffer_shows_the_new_file_until_the_editor_speaks(self, editor: Editor, goal: Path) -> None:
        uri = goal.as_uri()
        editor.initialize()
        editor.open(uri, GOOD)
        await editor.next_push(uri)

        for text in (BAD, DUPLICATES):
            save(goal, text)
            pushed = await editor.next_push(uri)
            assert "version" not in pushed
            assert codes(pushed)
        editor.change(uri, 2, {"text": DUPLICATES})
        assert (await editor.next_push(uri))["version"] == 2

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            (GOOD.split("---\n")[2], "missing_frontmatter"),
            (GOOD.replace("- x", ""), "missing_next_action"),
            (GOOD.replace("- [ ]", "-"), "missing_todo_sections"),
            (BAD, "implicit_todo_ids"),
            (DUPLICATES, "duplicate_todo_ids"),
        ],
    )
    async def test_each_problem_of_the_projection_reaches_an_open_editor(
        self, editor: Editor, goal: Path, text: str, code: str
    ) -> None:
        """DM-007: after an outside edit, without save or restart."""
        editor.initialize()
        editor.open(goal.as_uri(), GOOD)
        assert codes(await editor.next_push(goal.as_uri())) == []

        save(goal, text)
        assert code in codes(await editor.next_push(goal.as_uri()))

    async def test_a_dirty_buffer_shows_its_own_text(self, editor: Editor, goal: Path) -> None:
        uri = goal.as_uri()
        editor.initialize()
        editor.open(uri, GOOD)
        editor.change(uri, 2, {"text": GOOD + "\n"})
        await editor.next_push(uri)

        save(goal, BAD)
        editor.session.file_changed(goal)
        editor.change(uri, 3, {"text": GOOD})
        pushed = await editor.next_push(uri)
        assert (pushed["version"], codes(pushed)) == (3, [])

    async def test_its_own_save_makes_a_buffer_clean(self, editor: Editor, goal: Path) -> None:
        uri = goal.as_uri()
        editor.initialize()
        editor.open(uri, GOOD)
        editor.change(uri, 2, {"text": BAD})
        await editor.next_push(uri)
        save(goal, BAD)
        editor.notify("textDocument/didSave", textDocument={"uri": uri})

        save(goal, GOOD)
        pushed = await editor.next_push(uri)
        assert ("version" in pushed, codes(pushed)) == (False, [])

    async def test_hover_and_outline_stay_with_the_text_that_the_editor_shows(self, editor: Editor, goal: Path) -> None:
        uri = goal.as_uri()
        editor.initialize()
        editor.open(uri, GOOD)
        save(goal, "")
        editor.session.file_changed(goal)

        assert editor.result("textDocument/documentSymbol", textDocument={"uri": uri})

    async def test_a_document_that_is_deleted_and_comes_back(self, editor: Editor, goal: Path) -> None:
        save(goal, BAD)
        editor.initialize({}, goal.parent.as_uri())
        uri = goal.as_uri()
        assert codes(await editor.next_push(uri)) == ["implicit_todo_ids"]

        delete(goal)
        assert codes(await editor.next_push(uri)) == []
        save(goal, BAD)
        assert codes(await editor.next_push(uri)) == ["implicit_todo_ids"]

    async def test_a_clean_buffer_whose_file_is_deleted_shows_nothing(self, editor: Editor, goal: Path) -> None:
        save(goal, BAD)
        editor.initialize()
        editor.open(goal.as_uri(), BAD)
        assert codes(await editor.next_push(goal.as_uri()))

        delete(goal)
        assert codes(await editor.next_push(goal.as_uri())) == []


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


class TestPull:
    """editors.md section 1: `resultId`, unchanged reports, and a hint to ask again after outside changes."""

    async def test_what_the_client_has_is_not_sent_again(self, editor: Editor, goal: Path) -> None:
        editor.initialize(PULLS)
        document = {"textDocument": {"uri": goal.as_uri()}}
        editor.open(goal.as_uri(), BAD)
        full = editor.result("textDocument/diagnostic", **document)
        again = editor.result("textDocument/diagnostic", **document, previousResultId=full["resultId"])
        assert (full["kind"], codes(full)) == ("full", ["implicit_todo_ids"])
        assert again == {"kind": "unchanged", "resultId": full["resultId"]}

        editor.change(goal.as_uri(), 2, {"text": GOOD})
        other = editor.result("textDocument/diagnostic", **document, previousResultId=full["resultId"])
        assert (other["kind"], codes(other)) == ("full", [])
        assert other["resultId"] != full["resultId"]

    async def test_a_document_that_is_not_open_is_read_from_its_file(self, editor: Editor, goal: Path) -> None:
        save(goal, BAD)
        editor.initialize(PULLS)

        full = editor.result("textDocument/diagnostic", textDocument={"uri": goal.as_uri()})
        assert codes(full) == ["implicit_todo_ids"]

    @pytest.mark.parametrize("uri", ["file:///w/README.md", "file:///not/there/ACTIVE_GOAL_STATE.md", "untitled:x"])
    async def test_everything_else_has_none(self, editor: Editor, uri: str) -> None:
        editor.initialize(PULLS)

        assert editor.result("textDocument/diagnostic", textDocument={"uri": uri}) == {"kind": "full", "items": []}

    async def test_nothing_is_pushed(self, editor: Editor, goal: Path) -> None:
        save(goal, BAD)
        editor.initialize(PULLS, goal.parent.as_uri())
        await editor.until(lambda: editor.asked("workspace/diagnostic/refresh"))
        editor.open(goal.as_uri(), BAD)
        save(goal, GOOD)
        await editor.until(lambda: len(editor.asked("workspace/diagnostic/refresh")) > 1)

        assert editor.pushed() == []

    async def test_a_client_that_cannot_be_told_is_not(self, editor: Editor, goal: Path) -> None:
        editor.initialize({"textDocument": {"diagnostic": {}}})
        editor.open(goal.as_uri(), GOOD)
        save(goal, BAD)
        editor.session.file_changed(goal)

        assert editor.session._outbox._due == {}
        full = editor.result("textDocument/diagnostic", textDocument={"uri": goal.as_uri()})
        assert codes(full) == ["implicit_todo_ids"]

    async def test_the_workspace_is_every_open_document_and_every_one_of_a_folder(
        self, editor: Editor, goal: Path, tmp_path: Path
    ) -> None:
        save(goal, BAD)
        opened = (tmp_path / "x" / goal.name).as_uri()
        editor.initialize(PULLS, goal.parent.as_uri())
        editor.open(opened, DUPLICATES, version=3)
        await editor.until(lambda: editor.asked("workspace/diagnostic/refresh"))
        full = editor.result("workspace/diagnostic", previousResultIds=[])
        assert [(part["uri"], part["version"]) for part in full["items"]] == [(opened, 3), (goal.as_uri(), None)]
        assert items(full) == [("full", ["duplicate_todo_ids"] * 2), ("full", ["implicit_todo_ids"])]

        known = [{"uri": part["uri"], "value": part["resultId"]} for part in full["items"]]
        assert items(editor.result("workspace/diagnostic", previousResultIds=known)) == [("unchanged", None)] * 2

        delete(goal)
        editor.close(opened)
        gone = editor.result("workspace/diagnostic", previousResultIds=known)
        assert sorted(part["uri"] for part in gone["items"]) == sorted([opened, goal.as_uri()])
        assert items(gone) == [("full", [])] * 2
