"""Documents of registered goals in editors: whatever their names are, and whenever their goals are registered.

editors.md section 1; LX-087.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from authority.shown_goal import NOON, Ledger, serve
from editor import BAD, GOOD, PULLS, Editor, codes, save
from stateward_daemon.lsp import opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

GONE = "/elsewhere/gone.md"


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "w" / "a b" / "plan.md"
    path.parent.mkdir(parents=True)
    path.write_text(BAD)
    return path


@pytest.fixture
def ledger() -> Ledger:
    """A goal whose document is elsewhere, until `move`."""
    return Ledger(Path(GONE), promoted=False)


@pytest.fixture
async def editor(ledger: Ledger) -> AsyncIterator[Editor]:
    async with Editor() as editor:
        serve(editor.caller.host, ledger)
        yield editor


def put(ledger: Ledger, path: Path | str) -> None:
    """Let the goal have its document there."""
    ledger.change(registration={"path": str(path), "content": {}, "at": NOON})


def move(editor: Editor, ledger: Ledger, path: Path | str) -> None:
    """Give the goal its document elsewhere, as `goal_configure` does, and let editors know."""
    put(ledger, path)
    editor.caller.host.subscriptions.published(ledger.view)


async def searched(editor: Editor) -> None:
    await asyncio.gather(*editor.session.folders._scans)


def symbols(editor: Editor, uri: str) -> Any:
    return editor.result("textDocument/documentSymbol", textDocument={"uri": uri})


def held_unsaved(editor: Editor, path: Path) -> bool:
    return bool(editor.caller.host.unsaved.holders(path))


class TestFolders:
    """Those in the workspace folders are looked after like those found by name."""

    async def test_one_that_is_registered_before_is_found(self, editor: Editor, ledger: Ledger, plan: Path) -> None:
        put(ledger, plan)
        editor.initialize({}, plan.parents[1].as_uri())
        pushed = await editor.next_push(plan.as_uri())

        assert codes(pushed) == ["implicit_todo_ids"]
        assert "version" not in pushed

    async def test_one_that_is_registered_later_is_taken_on_and_watched(
        self, editor: Editor, ledger: Ledger, plan: Path
    ) -> None:
        editor.initialize({}, plan.parents[1].as_uri())
        await searched(editor)
        assert not editor.session.looks_after(plan.as_uri())
        move(editor, ledger, plan)
        assert codes(await editor.next_push(plan.as_uri())) == ["implicit_todo_ids"]
        save(plan, GOOD)

        assert codes(await editor.next_push(plan.as_uri())) == []

    async def test_a_hidden_directory_hides_none(self, editor: Editor, ledger: Ledger, tmp_path: Path) -> None:
        hidden = tmp_path / ".goals" / "ACTIVE_GOAL_STATE.md"
        hidden.parent.mkdir()
        hidden.write_text(BAD)
        move(editor, ledger, hidden)
        editor.initialize({}, tmp_path.as_uri())

        assert codes(await editor.next_push(hidden.as_uri())) == ["implicit_todo_ids"]

    async def test_a_folder_that_is_a_link_keeps_its_name(
        self, editor: Editor, ledger: Ledger, plan: Path, tmp_path: Path
    ) -> None:
        link = tmp_path / "link"
        link.symlink_to(plan.parents[1], target_is_directory=True)
        move(editor, ledger, plan)
        editor.initialize({}, link.as_uri())

        assert await editor.next_push(f"{link.as_uri()}/a%20b/plan.md")

    async def test_a_client_that_asks_gets_it(self, editor: Editor, ledger: Ledger, plan: Path) -> None:
        move(editor, ledger, plan)
        editor.initialize(PULLS, plan.parents[1].as_uri())
        await searched(editor)
        reports = editor.result("workspace/diagnostic", previousResultIds=[])["items"]

        assert [codes(report) for report in reports if report["uri"] == plan.as_uri()] == [["implicit_todo_ids"]]
        assert symbols(editor, plan.as_uri())

    async def test_one_that_moves_is_shown_where_it_is(self, editor: Editor, ledger: Ledger, plan: Path) -> None:
        other = plan.with_name("other.md")
        save(other, BAD)
        move(editor, ledger, plan)
        editor.initialize({}, plan.parents[1].as_uri())
        await editor.next_push(plan.as_uri())
        move(editor, ledger, other)

        assert codes(await editor.next_push(other.as_uri())) == ["implicit_todo_ids"]
        await editor.until(lambda: codes(editor.pushed(plan.as_uri())[-1]) == [])
        assert not editor.session.looks_after(plan.as_uri())
        assert symbols(editor, plan.as_uri()) == []

    async def test_it_is_let_go_with_its_folder(self, editor: Editor, ledger: Ledger, plan: Path) -> None:
        folder = {"uri": plan.parents[1].as_uri(), "name": "w"}
        move(editor, ledger, plan)
        editor.initialize({}, folder["uri"])
        await editor.next_push(plan.as_uri())
        editor.notify("workspace/didChangeWorkspaceFolders", event={"added": [], "removed": [folder]})

        assert codes(await editor.next_push(plan.as_uri())) == []
        assert not editor.session.looks_after(plan.as_uri())

    async def test_outside_of_the_folders_none_is_shown(self, editor: Editor, ledger: Ledger, plan: Path) -> None:
        apart = plan.parents[2] / "apart"
        apart.mkdir()
        save(apart / "ACTIVE_GOAL_STATE.md", BAD)
        move(editor, ledger, plan)
        editor.initialize({}, apart.as_uri())
        await editor.next_push(f"{apart.as_uri()}/ACTIVE_GOAL_STATE.md")

        assert not editor.session.looks_after(plan.as_uri())


class TestOpened:
    """A document that was open before its goal was registered need not be opened again."""

    async def test_it_is_served_and_guarded_from_then_on(self, editor: Editor, ledger: Ledger, plan: Path) -> None:
        editor.initialize()
        editor.open(plan.as_uri(), BAD)
        editor.change(plan.as_uri(), 2, {"text": GOOD})
        assert symbols(editor, plan.as_uri()) == []
        assert editor.pushed() == []
        move(editor, ledger, plan)
        pushed = await editor.next_push(plan.as_uri())

        assert (pushed["version"], codes(pushed)) == (2, [])
        assert symbols(editor, plan.as_uri())
        assert held_unsaved(editor, plan)
        save(plan, GOOD)
        editor.notify("textDocument/didSave", textDocument={"uri": plan.as_uri()})
        assert not held_unsaved(editor, plan)

    async def test_it_is_guarded_before_its_editor_is_told(self, editor: Editor, ledger: Ledger, plan: Path) -> None:
        """The daemon may write as soon as it is asked to, however late it looks at what its editors have open."""
        editor.initialize()
        editor.open(plan.as_uri(), BAD)
        editor.change(plan.as_uri(), 2, {"text": GOOD})
        move(editor, ledger, plan)

        assert held_unsaved(editor, plan)
        editor.close(plan.as_uri())
        assert not held_unsaved(editor, plan)

    async def test_one_without_changes_follows_its_file(self, editor: Editor, ledger: Ledger, plan: Path) -> None:
        editor.initialize()
        editor.open(plan.as_uri(), BAD)
        save(plan, GOOD)
        move(editor, ledger, plan)
        pushed = await editor.next_push(plan.as_uri())

        assert codes(pushed) == []
        assert "version" not in pushed
        save(plan, BAD)
        assert codes(await editor.next_push(plan.as_uri())) == ["implicit_todo_ids"]

    async def test_it_is_left_alone_when_its_goal_has_another(self, editor: Editor, ledger: Ledger, plan: Path) -> None:
        move(editor, ledger, plan)
        editor.initialize()
        editor.open(plan.as_uri(), BAD)
        await editor.next_push(plan.as_uri())
        move(editor, ledger, GONE)

        assert codes(await editor.next_push(plan.as_uri())) == []
        assert symbols(editor, plan.as_uri()) == []
        editor.change(plan.as_uri(), 2, {"text": BAD + "\n"})
        move(editor, ledger, plan)
        assert (await editor.next_push(plan.as_uri()))["version"] == 2

    async def test_one_of_the_name_stays(self, editor: Editor, ledger: Ledger, plan: Path) -> None:
        """Another name of the same file, by a link, is where its goal is known."""
        named = plan.with_name("ACTIVE_GOAL_STATE.md")
        named.symlink_to(plan)
        editor.initialize()
        editor.open(named.as_uri(), BAD)
        assert editor.session.path(named.as_uri()) == named
        move(editor, ledger, plan)
        # Nothing else is shown, so there is nothing to wait for.
        editor.session._look()
        assert editor.session.path(named.as_uri()) == plan
        editor.change(named.as_uri(), 2, {"text": GOOD})
        assert held_unsaved(editor, plan)
        assert not held_unsaved(editor, named)
        move(editor, ledger, GONE)
        editor.session._look()

        assert editor.session.path(named.as_uri()) == named
        assert held_unsaved(editor, named)
        assert symbols(editor, named.as_uri())

    async def test_one_in_a_folder_has_one_uri(self, editor: Editor, ledger: Ledger, plan: Path) -> None:
        link = plan.with_name("link.md")
        link.symlink_to(plan)
        editor.initialize(PULLS, plan.parents[1].as_uri())
        await searched(editor)
        editor.open(link.as_uri(), BAD)
        move(editor, ledger, plan)
        await editor.until(lambda: editor.session.looks_after(link.as_uri()))
        reports = editor.result("workspace/diagnostic", previousResultIds=[])["items"]

        assert {report["uri"] for report in reports if report["items"]} == {link.as_uri()}

    async def test_the_longest_text_is_let_go_where_they_are_too_much(
        self, editor: Editor, ledger: Ledger, plan: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(opened, "OTHERS_CHARACTERS_MAX", len(BAD) + 10)
        long = plan.with_name("long.md")
        editor.initialize()
        editor.open(plan.as_uri(), BAD)
        editor.open(long.as_uri(), "")
        editor.change(long.as_uri(), 2, {"text": GOOD * 9})
        assert not held_unsaved(editor, long)
        editor.open(long.as_uri(), GOOD * 9)
        assert not held_unsaved(editor, long)
        move(editor, ledger, plan)

        assert codes(await editor.next_push(plan.as_uri())) == ["implicit_todo_ids"]

    async def test_nothing_is_kept_of_a_connection_that_is_gone(self, editor: Editor, plan: Path) -> None:
        editor.initialize()
        editor.open(plan.as_uri(), GOOD)
        assert held_unsaved(editor, plan)
        editor.session.closed()

        assert not held_unsaved(editor, plan)
