"""Diagnostics: about the client's own text, never older than it, and about the file where there is no such text."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

from editor import BAD, DUPLICATES, GOOD, PULLS, Editor, codes, delete, save
from stateward_daemon.lsp.session import READ_INLINE_MAX
from stateward_engine.goals.codes import page_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path


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

    @pytest.mark.parametrize("takes", [True, False])
    async def test_pages_and_tags_are_sent_to_those_who_take_them(
        self, editor: Editor, goal: Path, *, takes: bool
    ) -> None:
        """editors.md section 1: `codeDescription.href` is the page of the code; what nobody reads is faded."""
        odd = GOOD.replace("todo_id=", "color=red todo_id=", 1)
        tags = {"tagSupport": {"valueSet": [1, 2, 7, "x"]}} if takes else {}
        editor.initialize({"textDocument": {"publishDiagnostics": {"codeDescriptionSupport": takes, **tags}}})
        editor.open(goal.as_uri(), odd)
        [item] = (await editor.next_push(goal.as_uri()))["diagnostics"]

        assert item["code"] == "unknown_metadata_key"
        assert item.get("codeDescription") == ({"href": page_of("unknown_metadata_key")} if takes else None)
        assert item.get("tags") == ([1] if takes else None)

    async def test_the_rules_of_the_project_hold(self, editor: Editor, goal: Path) -> None:
        (goal.parent / "stateward.toml").write_text('rules = { implicit_todo_ids = "error" }')
        editor.initialize()
        editor.open(goal.as_uri(), BAD)
        [item] = (await editor.next_push(goal.as_uri()))["diagnostics"]

        assert (item["code"], item["severity"]) == ("implicit_todo_ids", 1)

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
            editor.session.showing.outbox._send_one()
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


class Held(ThreadPoolExecutor):
    """Holds up the readings of long documents, which are done in threads, until somebody lets them end.

    Attributes:
        readings: What ends each of those that are held up.
        begun: Set when there is one.
        begun_again: Set when there is another.
    """

    def __init__(self) -> None:
        super().__init__()
        self.readings: list[Callable[[], None]] = []
        self.begun = asyncio.Event()
        self.begun_again = asyncio.Event()
        self.holds = True

    def submit(self, job: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do a job; the reading of a document is done at once and ends later."""
        is_reading = getattr(job, "__name__", "") == "_made"
        if is_reading:
            (self.begun_again if self.begun.is_set() else self.begun).set()
        if not (is_reading and self.holds):
            return super().submit(job, *args, **kwargs)
        made: Future[Any] = Future()
        self.readings.append(partial(made.set_result, job(*args, **kwargs)))
        return made

    def release(self) -> None:
        """End the readings, the last one first, and hold up none any more."""
        self.holds = False
        while self.readings:
            self.readings.pop()()


class TestLongDocuments:
    """A long document is read in a thread, and meanwhile there may be another one; what comes late is not shown."""

    LONG: Final = "\n" + "Prose.\n" * READ_INLINE_MAX
    TWICE: Final = ["duplicate_todo_ids"] * 2

    @pytest.fixture
    async def held(self) -> AsyncIterator[Held]:
        held = Held()
        asyncio.get_running_loop().set_default_executor(held)
        yield held
        held.release()

    async def test_one_that_is_opened_again_with_the_same_version(self, editor: Editor, goal: Path, held: Held) -> None:
        uri = goal.as_uri()
        editor.initialize()
        editor.open(uri, BAD + self.LONG)
        await held.begun.wait()
        editor.close(uri)
        editor.open(uri, DUPLICATES + self.LONG)
        held.release()

        assert codes(await editor.next_push(uri)) == self.TWICE

    async def test_one_that_is_edited_while_it_is_read(self, editor: Editor, goal: Path, held: Held) -> None:
        uri = goal.as_uri()
        editor.initialize()
        editor.open(uri, BAD + self.LONG)
        await held.begun.wait()
        editor.change(uri, 2, {"text": DUPLICATES + self.LONG})
        held.release()
        pushed = await editor.next_push(uri)

        assert (pushed["version"], codes(pushed)) == (2, self.TWICE)

    async def test_one_that_is_to_be_shown_anew_while_it_is_read(self, editor: Editor, goal: Path, held: Held) -> None:
        """For a reason beside its text: its goal has moved on."""
        uri = goal.as_uri()
        editor.initialize()
        editor.open(uri, BAD + self.LONG)
        await held.begun.wait()
        editor.session.showing.push(uri)
        assert len(held.readings) == 1
        held.release()
        await editor.next_push(uri)

        await held.begun_again.wait()

    async def test_a_file_that_is_saved_while_it_is_read(self, editor: Editor, goal: Path, held: Held) -> None:
        """What was read first is sent first: or else it would stay."""
        uri = goal.as_uri()
        save(goal, BAD + self.LONG)
        editor.initialize({}, goal.parent.as_uri())
        await held.begun.wait()
        save(goal, DUPLICATES + self.LONG)
        editor.session.showing.push(uri)
        held.release()
        await editor.until(lambda: self.TWICE in map(codes, editor.pushed(uri)))

        found = list(map(codes, editor.pushed(uri)))
        assert found == sorted(found, key=self.TWICE.__eq__)


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
        editor.file_changed(goal)
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
        editor.file_changed(goal)

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

    async def test_other_rules_make_another_report(self, editor: Editor, goal: Path) -> None:
        editor.initialize(PULLS)
        document = {"textDocument": {"uri": goal.as_uri()}}
        editor.open(goal.as_uri(), BAD)
        full = editor.result("textDocument/diagnostic", **document)
        (goal.parent / "stateward.toml").write_text('rules = { implicit_todo_ids = "off" }')
        again = editor.result("textDocument/diagnostic", **document, previousResultId=full["resultId"])

        assert (codes(full), codes(again)) == (["implicit_todo_ids"], [])

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

    async def test_a_client_that_cannot_be_told_to_ask_again_is_pushed_to(self, editor: Editor, goal: Path) -> None:
        """Neovim 0.11: it asks when somebody types, and would never see what others save."""
        editor.initialize({"textDocument": {"diagnostic": {}}})
        editor.open(goal.as_uri(), GOOD)
        save(goal, BAD)
        editor.file_changed(goal)

        await editor.until(lambda: any(codes(shown) for shown in editor.pushed()))

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
