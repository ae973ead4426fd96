"""An editor with unsaved changes and a display that moves on under it: nobody's text is lost, in any order.

Field case 38; store.md section 5; LX-087. The delivery stays pending, the sections are offered, and the save settles.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import pytest

from authority.shown_goal import FIELD_CASES, GOAL, Ledger, answered, serve
from editor import TWIN, Editor, codes
from stateward_daemon.delivering import deliver, settle
from stateward_daemon.positions import Encoding, LineIndex
from stateward_daemon.standing import goal_status
from stateward_engine.authority.display import render_display

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

CASE: Final = FIELD_CASES / "38-dirty-buffer-and-a-render"
DISK: Final = (CASE / "disk.md").read_text("utf-8")
TYPED: Final = "Unsaved paragraph 🌊 the human is typing right no"
BUFFER: Final = (CASE / "buffer.md").read_text("utf-8").replace("Unsaved paragraph the", "Unsaved paragraph 🌊 the")
TWINS: Final = f"\n## Agent Todo\n\n- [ ] a{TWIN}\n- [ ] b{TWIN}\n"
TICK: Final = "- [x] [P1] Grind it."
TAKES_EDITS: Final = {"workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    document = tmp_path / "ACTIVE_GOAL_STATE.md"
    document.write_text(DISK, "utf-8")
    return document


@pytest.fixture
def ledger(path: Path) -> Ledger:
    return Ledger(path)


@pytest.fixture
async def editor(ledger: Ledger) -> AsyncIterator[Editor]:
    async with Editor() as editor:
        serve(editor.caller.host, ledger)
        yield editor


def on_disk(path: Path) -> str:
    return path.read_text("utf-8")


def type_into(editor: Editor, path: Path, text: str = BUFFER) -> None:
    editor.open(path.as_uri(), DISK)
    editor.change(path.as_uri(), 2, {"text": text})


def saved(editor: Editor, path: Path, text: str, uri: str | None = None) -> None:
    path.write_text(text, "utf-8")
    editor.notify("textDocument/didSave", textDocument={"uri": uri or path.as_uri()})


def finished(editor: Editor, ledger: Ledger) -> Any:
    return answered(settle(editor.caller.host, ledger.finish()))


class TestPending:
    async def test_nothing_is_written_under_an_editor(self, editor: Editor, ledger: Ledger, path: Path) -> None:
        editor.initialize()
        type_into(editor, path)
        answer = finished(editor, ledger)

        report = answer["projection_outbox"]
        assert (answer["projection_delivery"], report["reason_code"]) == ("pending", "todo_projection_buffer_dirty")
        assert report["retry_business_mutation"] is False
        assert on_disk(path) == DISK
        assert goal_status(editor.caller.host, GOAL)["display"]["state"] == "buffer_dirty"

    async def test_the_save_settles_it_and_the_stale_box_reopens_nothing(
        self, editor: Editor, ledger: Ledger, path: Path
    ) -> None:
        editor.initialize()
        type_into(editor, path)
        finished(editor, ledger)
        revision = ledger.head
        saved(editor, path, BUFFER)

        text = on_disk(path)
        assert TYPED in text
        assert TICK in text
        assert ledger.head == revision
        assert ledger.delivered == {"provider_revision": revision}
        assert goal_status(editor.caller.host, GOAL)["display"] == {"state": "current"}

    @pytest.mark.parametrize("gone", ["closed", "lost"])
    async def test_closing_without_a_save_settles_it_too(
        self, editor: Editor, ledger: Ledger, path: Path, gone: str
    ) -> None:
        editor.initialize()
        type_into(editor, path)
        finished(editor, ledger)
        if gone == "closed":
            editor.close(path.as_uri())
        else:
            editor.session.closed()

        assert TICK in on_disk(path)
        assert TYPED not in on_disk(path)

    async def test_a_save_settles_only_what_waited(self, editor: Editor, ledger: Ledger, path: Path) -> None:
        """A delivery needs a cause, and a save by itself is none."""
        editor.initialize()
        deliver(editor.caller.host, GOAL)
        shown = on_disk(path)
        editor.open(path.as_uri(), shown)
        ledger.finish()
        editor.change(path.as_uri(), 2, {"text": shown + "\n"})
        saved(editor, path, shown + "\n")

        assert on_disk(path) == shown + "\n"

    async def test_a_delivery_that_waited_and_was_made_waits_no_more(
        self, editor: Editor, ledger: Ledger, path: Path
    ) -> None:
        """The human takes the edit back; what is committed next is delivered, and a later save is no cause."""
        editor.initialize()
        type_into(editor, path)
        finished(editor, ledger)
        editor.change(path.as_uri(), 3, {"text": DISK})
        ledger.touch()
        assert deliver(editor.caller.host, GOAL)["projection_delivery"] == "delivered"

        assert editor.caller.host.unsaved.ended(path) is None

    async def test_a_buffer_without_changes_is_no_hindrance(self, editor: Editor, ledger: Ledger, path: Path) -> None:
        editor.initialize()
        editor.open(path.as_uri(), DISK)
        assert finished(editor, ledger)["projection_delivery"] == "delivered"

        # The buffer is that of the file as it was, until its editor loads the new one.
        assert deliver(editor.caller.host, GOAL)["projection_delivery"] == "current"
        editor.file_changed(path)
        ledger.touch()
        assert deliver(editor.caller.host, GOAL)["projection_delivery"] == "delivered"

    async def test_a_document_that_is_current_needs_no_writing(self, editor: Editor, path: Path) -> None:
        editor.initialize()
        deliver(editor.caller.host, GOAL)
        editor.open(path.as_uri(), on_disk(path))
        editor.change(path.as_uri(), 2, {"text": BUFFER})

        assert deliver(editor.caller.host, GOAL)["projection_delivery"] == "current"

    async def test_it_waits_for_every_editor(self, editor: Editor, ledger: Ledger, path: Path) -> None:
        async with Editor() as other:
            other.caller.host.unsaved = editor.caller.host.unsaved
            serve(other.caller.host, ledger)
            for one in (editor, other):
                one.initialize()
                type_into(one, path)
            finished(editor, ledger)
            saved(editor, path, BUFFER)
            assert TICK not in on_disk(path)

            other.close(path.as_uri())
            assert TICK in on_disk(path)

    async def test_a_document_that_is_opened_again_counts_once(
        self, editor: Editor, ledger: Ledger, path: Path
    ) -> None:
        editor.initialize()
        type_into(editor, path)
        editor.open(path.as_uri(), DISK, 3)

        assert finished(editor, ledger)["projection_delivery"] == "delivered"

    async def test_an_edit_that_begins_at_the_last_moment_is_seen(
        self, editor: Editor, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Between the rendering and its publication: what is merged is decided again then."""
        editor.initialize()
        editor.open(path.as_uri(), DISK)
        typing = iter([False, True])
        unsaved = editor.caller.host.unsaved
        wait = unsaved.wait

        def late(place: Path, goal_id: str) -> Any:
            if next(typing):
                editor.change(path.as_uri(), 2, {"text": BUFFER})
            return wait(place, goal_id)

        monkeypatch.setattr(unsaved, "wait", late)
        report = deliver(editor.caller.host, GOAL)["projection_outbox"]

        assert report["reason_code"] == "todo_projection_buffer_dirty"
        assert on_disk(path) == DISK


class TestOtherNames:
    """editors.md section 1: the document of a registered goal is served whatever its name is, and guarded alike."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        document = tmp_path / "plan.md"
        document.write_text(DISK, "utf-8")
        return document

    @pytest.mark.parametrize("name", ["plan.md", "folder/plan.md", "link.md", "ACTIVE_GOAL_STATE.md"])
    async def test_its_text_is_the_editors_until_it_is_saved(
        self, editor: Editor, ledger: Ledger, path: Path, name: str
    ) -> None:
        """Links of every kind lead to it."""
        (path.parent / "folder").symlink_to(path.parent, target_is_directory=True)
        for link in ("link.md", "ACTIVE_GOAL_STATE.md"):
            (path.parent / link).symlink_to(path)
        uri = (path.parent / name).as_uri()
        editor.initialize()
        editor.open(uri, DISK)
        editor.change(uri, 2, {"text": BUFFER + TWINS})
        assert finished(editor, ledger)["projection_outbox"]["reason_code"] == "todo_projection_buffer_dirty"
        assert on_disk(path) == DISK
        assert goal_status(editor.caller.host, GOAL)["display"]["state"] == "buffer_dirty"
        pushed = await editor.next_push(uri)
        assert (pushed["version"], "duplicate_todo_ids" in codes(pushed)) == (2, True)
        assert editor.result("textDocument/documentSymbol", textDocument={"uri": uri})

        editor.change(uri, 3, {"text": BUFFER})
        saved(editor, path, BUFFER, uri)
        assert TYPED in on_disk(path)
        assert TICK in on_disk(path)

    async def test_it_is_let_go_when_it_is_closed(self, editor: Editor, ledger: Ledger, path: Path) -> None:
        editor.initialize()
        type_into(editor, path)
        finished(editor, ledger)
        editor.close(path.as_uri())

        assert TICK in on_disk(path)
        assert not editor.session.looks_after(path.as_uri())

    async def test_a_document_beside_it_is_left_alone(self, editor: Editor, path: Path) -> None:
        other = path.with_name("notes.md")
        editor.initialize()
        for uri in (other.as_uri(), "untitled:plan.md"):
            editor.open(uri, DISK)
            editor.change(uri, 2, {"text": BUFFER})
            assert not editor.session.looks_after(uri)
            assert editor.result("textDocument/documentSymbol", textDocument={"uri": uri}) == []


class TestOffer:
    """The region edit is offered to an editor that makes edits of a version."""

    @pytest.mark.parametrize("encoding", list(Encoding))
    async def test_it_shows_the_head_in_the_editors_own_text(
        self, editor: Editor, ledger: Ledger, path: Path, encoding: Encoding
    ) -> None:
        editor.initialize({**TAKES_EDITS, "general": {"positionEncodings": [encoding]}})
        type_into(editor, path)
        finished(editor, ledger)
        await editor.until(lambda: editor.asked("workspace/applyEdit"))

        [change] = editor.asked("workspace/applyEdit")[0]["params"]["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": path.as_uri(), "version": 2}
        after = edited(BUFFER, change["edits"], encoding)
        assert after == render_display(BUFFER.encode(), ledger.snapshot()).markdown
        assert TYPED in after

        editor.change(path.as_uri(), 3, {"text": after})
        assert on_disk(path) == DISK
        saved(editor, path, after)
        assert on_disk(path) == after
        assert ledger.delivered == {"provider_revision": ledger.head}

    @pytest.mark.parametrize(
        "workspace", [{}, {"applyEdit": True}, {"workspaceEdit": {"documentChanges": True}}], ids=str
    )
    async def test_other_editors_are_not_asked(
        self, editor: Editor, ledger: Ledger, path: Path, workspace: dict[str, Any]
    ) -> None:
        editor.initialize({"workspace": workspace})
        type_into(editor, path)
        finished(editor, ledger)
        # What was handed to the loop before this is done before this.
        turned = asyncio.Event()
        asyncio.get_running_loop().call_soon_threadsafe(turned.set)
        await turned.wait()

        assert not editor.asked("workspace/applyEdit")

    @pytest.mark.parametrize(
        "text",
        [BUFFER.replace("- [ ] [P1] Grind", "- [ ] typed\n- [ ] [P1] Grind"), "no section"],
        ids=["edited", "none"],
    )
    async def test_a_text_that_cannot_take_it_is_left_alone(
        self, editor: Editor, ledger: Ledger, path: Path, text: str
    ) -> None:
        editor.initialize(TAKES_EDITS)
        type_into(editor, path, text)
        asked: list[Any] = []
        editor.session.buffers[path.as_uri()].ask = asked.append

        assert finished(editor, ledger)["projection_outbox"]["reason_code"] == "todo_projection_buffer_dirty"
        assert not asked


def edited(text: str, edits: list[dict[str, Any]], encoding: Encoding) -> str:
    """The text after edits that an editor was asked for, each of which is about the text before all of them."""
    index = LineIndex(text)

    def offset(position: dict[str, int]) -> int:
        return index.offset(position["line"], position["character"], encoding)

    spans = [(offset(edit["range"]["start"]), offset(edit["range"]["end"]), edit["newText"]) for edit in edits]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text
