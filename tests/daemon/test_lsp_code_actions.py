"""Code actions: what mends each problem, what makes many edits at once, and what a client gets of it.

DM-001, LX-045. Source: editors.md section 1, goal-documents section 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from authority.shown_goal import FIELD_CASES, GOAL, GRIND, LENS, Ledger, serve
from editor import Editor, save
from goals.test_problem_pages import example
from stateward_daemon.delivering import deliver
from stateward_engine.goals.codes import CODES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

URI: Final = "file:///w/ACTIVE_GOAL_STATE.md"
CLEAN: Final = (FIELD_CASES / "38-dirty-buffer-and-a-render/disk.md").read_text("utf-8")
LITERALS: Final[dict[str, Any]] = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}}
RESOLVES: Final = LITERALS | {"dataSupport": True, "resolveSupport": {"properties": ["edit"]}}
DISABLES: Final = LITERALS | {"disabledSupport": True}
TWO_ROWS: Final = "---\na: b\n---\n## Next Action\n\n- go\n\n## Agent Todo\n\n- [ ] a\n- [ ] b\n"
TYPED: Final = "- [ ] typed\n  <!-- loopx:todo stats=open -->\n"

# Codes that no edit of the text alone mends, and why: either somebody has to decide, or a command does it.
WITHOUT_A_FIX: Final = {
    "not_utf8": "a wrong guess of the encoding would be written back",
    "nested_or_mismatched_region_marker": "which marker is the wrong one decides whose rows they are",
    "conflict_marker": "which side is right",
    "second_frontmatter_block": "which of two values of a key counts",
    "duplicate_todo_section": "what stands between the rows may belong to them",
    "todo_outside_region": "whether it is a todo, and whose",
    "empty_todo_text": "what is to be done",
    "dangling_todo_reference": "which todo was meant",
    "dangling_state_reference": "which path was meant",
    "blocking_cycle": "which of the rows can begin",
    "edited_projection": "whether the edit was meant",
    "stale_projection": "a command: the goal is projected",
    "claim_without_lease": "a command: whoever claims takes a lease",
    "expired_lease": "a command: the row is claimed anew",
}


@pytest.fixture
async def editor() -> AsyncIterator[Editor]:
    async with Editor() as editor:
        yield editor


def introduce(editor: Editor, **action: Any) -> None:
    versions = {"workspaceEdit": {"documentChanges": True}}
    editor.initialize(
        {"textDocument": {"codeAction": action or LITERALS}, "workspace": versions},
        initializationOptions={"stateward": {"agent": "ada"}},
    )


def actions(editor: Editor, uri: str, line: int, trigger: int = 1) -> Any:
    at = {"line": line, "character": 0}
    end = {"line": line, "character": 9999}
    context = {"diagnostics": [], "triggerKind": trigger}
    return editor.result(
        "textDocument/codeAction", textDocument={"uri": uri}, range={"start": at, "end": end}, context=context
    )


def on_disk(path: Path) -> str:
    return path.read_text("utf-8")


def titles(found: list[Any]) -> list[str]:
    return [action["title"] for action in found]


@pytest.mark.parametrize("code", CODES)
async def test_each_problem_has_a_fix_or_a_reason_why_it_has_none(editor: Editor, code: str) -> None:
    """The wrong example of its page is opened, and the actions at each place with the problem are asked for."""
    introduce(editor)
    editor.open(URI, example(code, "bad") or "")
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}}
    found = editor.result(
        "textDocument/codeAction", textDocument={"uri": URI}, range=whole, context={"diagnostics": []}
    )
    fixes = [action for action in found if code in (item["code"] for item in action.get("diagnostics", ()))]

    assert bool(fixes) != (code in WITHOUT_A_FIX)
    assert all(action["kind"] == "quickfix" and action["edit"]["documentChanges"] for action in fixes)


class TestManyAtOnce:
    async def test_a_client_that_resolves_gets_the_edit_when_somebody_takes_the_action(self, editor: Editor) -> None:
        """So they are offered with each move of the cursor, and cost nothing."""
        introduce(editor, **RESOLVES)
        editor.open(URI, TWO_ROWS)
        found = actions(editor, URI, 9, trigger=2)
        assert titles(found) == ["Give the row its id", "Give all 2 rows their ids", "Make all safe fixes"]
        assert ["edit" in action for action in found] == [True, False, False]

        for action in found[1:]:
            [change] = editor.result("codeAction/resolve", **action)["edit"]["documentChanges"]
            assert change["textDocument"] == {"uri": URI, "version": 1}
            assert sum(edit["newText"].count("todo_id=") for edit in change["edits"]) == 2

    async def test_any_other_gets_them_whole_and_only_where_somebody_asks(self, editor: Editor) -> None:
        introduce(editor)
        editor.open(URI, TWO_ROWS)

        assert titles(actions(editor, URI, 9, trigger=2)) == ["Give the row its id"]
        assert all("edit" in action for action in actions(editor, URI, 9))

    async def test_an_action_of_another_text_is_refused(self, editor: Editor) -> None:
        introduce(editor, **RESOLVES)
        editor.open(URI, TWO_ROWS)
        action = actions(editor, URI, 9)[1]
        editor.change(URI, 2, {"text": f"\n{TWO_ROWS}"})

        assert "another one by now" in editor.ask("codeAction/resolve", **action)["error"]["message"]

    @pytest.mark.parametrize("data", [{}, {"data": 5}, {"data": {"make": "tea"}}, {"data": None}])
    async def test_what_is_no_action_of_this_kind_stays_as_it_is(self, editor: Editor, data: Any) -> None:
        introduce(editor, **RESOLVES)

        assert editor.result("codeAction/resolve", title="x", **data)["title"] == "x"

    async def test_one_row_has_no_second_way(self, editor: Editor) -> None:
        introduce(editor)
        editor.open(URI, TWO_ROWS.replace("- [ ] b\n", ""))

        assert titles(actions(editor, URI, 9)) == ["Give the row its id", "Make all safe fixes"]

    async def test_on_a_refused_document_the_reason_is_shown(self, editor: Editor) -> None:
        introduce(editor, **DISABLES)
        editor.open(URI, f"{TWO_ROWS}<!-- loopx:todo-region-v0 role=user end -->\n")
        [action] = [action for action in actions(editor, URI, 9) if "disabled" in action]

        assert action["disabled"]["reason"].startswith("mend first what refuses the document: ")


class TestPromoted:
    """What is wrong with a display is mended through the ledger."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        document = tmp_path / "ACTIVE_GOAL_STATE.md"
        save(document, CLEAN)
        return document

    def opened(self, editor: Editor, path: Path, text: str, *records: Any, mode: str = "soft_claim") -> Any:
        ledger = Ledger(path, *records, handoff_mode=mode)
        serve(editor.caller.host, ledger)
        introduce(editor, **DISABLES)
        editor.open(path.as_uri(), text)
        return ledger

    async def test_an_old_display_is_projected(self, editor: Editor, path: Path) -> None:
        ledger = self.opened(editor, path, CLEAN)
        editor.close(path.as_uri())
        deliver(editor.caller.host, GOAL)
        editor.open(path.as_uri(), on_disk(path))
        ledger.touch()
        diagnostics = editor.session.diagnostics(path.as_uri(), editor.session.shown(path.as_uri()))
        lines = [item.range.start.line for item in diagnostics if item.code == "stale_projection"]
        [action, *_] = [each for each in actions(editor, path.as_uri(), lines[0]) if "diagnostics" in each]

        assert action["title"] == "Show the todos as they are now"
        assert action["command"]["command"] == "stateward.projectMarkdown"

    @pytest.mark.parametrize(("agent", "offered"), [("ada", True), ("kiro", False)])
    async def test_a_claim_of_ones_own_gets_a_lease(
        self, editor: Editor, path: Path, agent: str, *, offered: bool
    ) -> None:
        text = CLEAN.replace("todo_id=todo_grind", f"todo_id=todo_grind claimed_by={agent}")
        self.opened(editor, path, text, LENS, {**GRIND, "claimed_by": agent}, mode="hard_lease")
        row = next(number for number, line in enumerate(text.split("\n")) if "claimed_by=" in line)
        found = [each for each in actions(editor, path.as_uri(), row) if each["title"] == "Claim it with a lease"]

        assert bool(found) is offered
        assert all(each["command"]["arguments"][0]["todo_id"] == "todo_grind" for each in found)

    async def test_a_fix_that_would_edit_a_section_is_shown_with_the_reason(self, editor: Editor, path: Path) -> None:
        text = CLEAN.replace("- [ ] [P1] Grind it.\n", f"{TYPED}- [ ] [P1] Grind it.\n")
        self.opened(editor, path, text)
        row = next(number for number, line in enumerate(text.split("\n")) if "stats=open" in line)
        disabled = [each for each in actions(editor, path.as_uri(), row) if "disabled" in each]

        assert "Write status" in titles(disabled)
        assert all("edit" not in each and "ledger" not in each for each in disabled)
        assert not [each for each in actions(editor, path.as_uri(), row, trigger=2) if "disabled" in each]


@pytest.mark.parametrize("keeps", [True, False])
async def test_a_diagnostic_says_what_would_mend_it(editor: Editor, *, keeps: bool) -> None:
    editor.initialize({"textDocument": {"publishDiagnostics": {"dataSupport": keeps}}})
    editor.open(URI, TWO_ROWS)
    items = (await editor.next_push(URI))["diagnostics"]

    assert [item.get("data") for item in items] == [{"fix": "give the row its id", "safe": True} if keeps else None] * 2
