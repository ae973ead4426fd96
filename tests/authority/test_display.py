"""Whether a section is safe to replace, how a display stands, and what a document becomes when it was gone.

Rows LX-058 to LX-063, LX-088, LX-089, LX-115, LX-145, LX-148. Source: authority.md section 5.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from authority.shown_goal import DOCUMENT, FIELD_CASES, GOAL, GRIND, LENS, Ledger, record
from stateward_engine.authority.commands import NoteDelivery
from stateward_engine.authority.delivery_failures import NotReplaceable
from stateward_engine.authority.display import (
    edited_lines,
    recovery_document,
    render_display,
    rendered_digests,
    section_digests,
    section_edits,
    state_of,
)
from stateward_engine.errors import UnsafeDocument
from stateward_engine.goals.document import read_document
from stateward_engine.goals.owned import survey
from stateward_engine.goals.todos import generated_id


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(Path("/w/ACTIVE_GOAL_STATE.md"))


def shown(ledger: Ledger, source: str = DOCUMENT) -> str:
    return render_display(source.encode(), ledger.snapshot()).markdown


def edited(text: str, ledger: Ledger) -> list[str]:
    """The texts of the lines that keep a document from being rendered onto."""
    lines = text.split("\n")
    return [lines[number - 1] for number in edited_lines(survey(text), ledger.snapshot())]


class TestSafe:
    def test_what_the_head_renders_is_safe(self, ledger: Ledger) -> None:
        assert edited(shown(ledger), ledger) == []

    def test_what_a_retained_revision_rendered_is_safe(self, ledger: Ledger) -> None:
        before = shown(ledger)
        for _ in range(5):
            ledger.touch()
        ledger.finish()

        assert edited(before, ledger) == []

    def test_what_was_delivered_last_is_safe_though_its_revision_is_not_retained(self, ledger: Ledger) -> None:
        before, revision = shown(ledger), ledger.head
        ledger.commit_now(NoteDelivery(GOAL, revision, section_digests(before)))
        for _ in range(20):
            ledger.touch()

        assert edited(before, ledger) == []
        assert edited(before.replace("- [ ] [P1]", "- [x] [P1]"), ledger) != []

    def test_so_is_what_was_delivered_before(self, ledger: Ledger) -> None:
        """An editor that had the file open for long saves the sections that it has."""
        stale = shown(ledger)
        for _ in range(5):
            ledger.commit_now(NoteDelivery(GOAL, ledger.head, section_digests(shown(ledger))))
            ledger.touch()
            ledger.touch()

        assert edited(stale, ledger) == []

    def test_how_lines_end_is_no_edit(self, ledger: Ledger) -> None:
        before = shown(ledger).replace("\n", "\r\n")
        assert edited_lines(survey(before), ledger.snapshot()) == []

    def test_a_section_that_was_never_rendered_is_safe_when_its_rows_are_records(self, ledger: Ledger) -> None:
        """Field case 26, without the edits; the boxes and the words of metadata are the authority's."""
        source = (FIELD_CASES / "26-human-typed-inside-the-region/input.md").read_text("utf-8")
        for typed in (
            "Anna says the 50 mm one, see photo.\n",
            "- [ ] [P2] also clean the bench (typed by a human)\n",
        ):
            source = source.replace(typed, "")

        assert edited(source, ledger) == []
        assert edited(source.replace("- [ ] [P1] Grind", "- [x] [P1] Grind"), ledger) == []

    def test_it_is_safe_with_the_text_that_a_record_had(self, ledger: Ledger) -> None:
        source = DOCUMENT.replace(
            "## Agent Todo\n", "## Agent Todo\n\n- [ ] [P1] Grind it.\n  <!-- loopx:todo todo_id=todo_grind -->\n"
        )
        ledger.change(records={"todo_grind": {"text": "[P1] Grind it twice."}})

        assert edited(source, ledger) == []


class TestEdited:
    """A human's edit in a section is never dropped."""

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("- [ ] [P1] Grind it.", "- [x] [P1] Grind it."),
            ("- [ ] [P1] Grind it.", "- [ ] [P1] Grind it slowly."),
            ("todo_id=todo_grind status=open", "todo_id=todo_grind status=done"),
            ("- [ ] [P1] Grind it.\n", "- [ ] typed\n- [ ] [P1] Grind it.\n"),
            ("role=agent provider_revision=file:s:1 ", "role=agent provider_revision=file:s:999 "),
            ("- [ ] [P1] Grind it.\n", "- [ ] [P1] Grind it.\n  and mind the dust\n"),
        ],
    )
    def test_a_line_that_was_not_rendered_is_told(self, ledger: Ledger, old: str, new: str) -> None:
        text = shown(ledger).replace(old, new)
        assert text != shown(ledger)

        [line] = edited(text, ledger)
        assert any(part in line for part in new.strip("\n").split("\n"))

    def test_lines_that_are_gone_are_told_by_what_stands_there(self, ledger: Ledger) -> None:
        text = shown(ledger)
        gone = text[: text.index("- [ ] [P1]")] + text[text.index("<!-- loopx:todo-region-v0 role=agent end") :]

        assert edited(gone, ledger) == ["<!-- loopx:todo-region-v0 role=agent end -->"]

    def test_typed_lines_in_two_sections_are_told_together(self, ledger: Ledger) -> None:
        """Field case 26: a note that belongs to no row, and a row that belongs to no record."""
        source = (FIELD_CASES / "26-human-typed-inside-the-region/input.md").read_text("utf-8")

        assert edited(source, ledger) == [
            "Anna says the 50 mm one, see photo.",
            "- [ ] [P2] also clean the bench (typed by a human)",
        ]

    @pytest.mark.parametrize(
        "row",
        [
            "- [ ] [P1] Grind it.\n",
            "- [ ] [P1] Grind it.\n  <!-- loopx:todo todo_id=todo_other -->\n",
            "- [ ] [P1] Grind something.\n  <!-- loopx:todo todo_id=todo_grind -->\n",
            "- [ ] [P1] Grind it.\n  <!-- loopx:todo todo_id=todo_grind -->\n  by noon\n",
        ],
        ids=["no id", "the id of no record", "another text", "more text"],
    )
    def test_a_row_of_an_unmarked_section_that_no_record_accounts_for(self, ledger: Ledger, row: str) -> None:
        source = DOCUMENT.replace("## Agent Todo\n", f"## Agent Todo\n\n{row}")

        assert edited(source, ledger)[0] == row.split("\n", 1)[0]

    def test_an_id_that_is_generated_is_nobodys(self) -> None:
        """It names the row by its text and place, so a row that was typed could have it by chance."""
        grind = GRIND | {"todo_id": generated_id("agent", "Agent Todo", 1, GRIND["text"])}
        source = DOCUMENT.replace("## Agent Todo\n", f"## Agent Todo\n\n- [ ] {GRIND['text']}\n")

        assert edited(source, Ledger(Path("/w/g.md"), grind)) == [f"- [ ] {GRIND['text']}"]

    def test_stray_metadata_in_an_unmarked_section_is_an_edit(self, ledger: Ledger) -> None:
        source = DOCUMENT.replace("## Agent Todo\n", "## Agent Todo\n<!-- loopx:todo note=keep -->\n")

        assert edited(source, ledger) == ["<!-- loopx:todo note=keep -->"]

    def test_a_section_whose_revision_nobody_knows_any_more_is_not_replaced(self, ledger: Ledger) -> None:
        before = shown(ledger)
        for _ in range(20):
            ledger.touch()

        assert [line.split(" ")[1] for line in edited(before, ledger)] == ["loopx:todo-section-projection-v0"] * 2

    def test_a_damaged_region_is_not_compared_but_refused(self, ledger: Ledger) -> None:
        """Field case 25: a damaged marked region is never read as an unmarked one."""
        case = FIELD_CASES / "25-damaged-region-markers"
        for file in sorted(case.glob("*.md")):
            if file.name in ("ok.md", "expect.md"):
                continue
            with pytest.raises(UnsafeDocument) as caught:
                render_display(file.read_bytes(), ledger.snapshot())
            assert caught.value.line > 1, file.name

    def test_it_is_not_rendered(self, ledger: Ledger) -> None:
        with pytest.raises(NotReplaceable) as caught:
            render_display(shown(ledger).replace("[ ] [P1]", "[x] [P1]").encode(), ledger.snapshot())

        assert caught.value.reason_code == "todo_projection_region_edited"
        assert len(caught.value.lines) == 1


class TestState:
    """`goal_status` says how a display stands."""

    def test_each(self, ledger: Ledger) -> None:
        now = shown(ledger)

        def state(data: bytes | None) -> dict[str, Any]:
            return state_of(data, ledger.snapshot())

        assert state(None) == {"state": "missing"}
        assert state(now.encode()) == {"state": "current"}
        assert state(DOCUMENT.encode()) == {"state": "behind"}
        assert state(b"\xff") == {"state": "unsafe", "reason_code": "not_utf8", "lines": [1]}
        typed = now.replace("- [ ] [P1]", "- [x] [P1]")
        line = typed[: typed.index("- [x]")].count("\n") + 1
        assert state(typed.encode()) == {
            "state": "edited",
            "reason_code": "todo_projection_region_edited",
            "lines": [line],
        }
        ledger.change(records={"todo_grind": {"text": "two  spaces"}})
        assert state(now.encode()) == {"state": "unsafe", "reason_code": "parity_mismatch"}

    def test_the_document_of_an_unpromoted_goal_is_current(self) -> None:
        ledger = Ledger(Path("/w/ACTIVE_GOAL_STATE.md"), promoted=False)
        assert state_of(DOCUMENT.encode(), ledger.snapshot()) == {"state": "current"}
        assert state_of(b"\xff", ledger.snapshot())["state"] == "unsafe"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_digests_of_a_rendering_are_those_of_the_sections_that_stand_in_it(newline: str) -> None:
    """LX-124: what is noted of a delivery is known without reading the document once more."""
    done = record("todo_old", "[P1] Order glass.", "done", archive_state="archive")
    ledger = Ledger(Path("/w/g.md"), LENS, GRIND, done)
    rendering = render_display(DOCUMENT.replace("\n", newline).encode(), ledger.snapshot())

    assert rendered_digests(rendering) == section_digests(rendering.markdown)
    assert sorted(rendered_digests(rendering)) == ["agent", "archive", "user"]


class TestSectionEdits:
    """store.md section 5: what an editor with unsaved changes is offered."""

    def test_they_make_the_sections_and_touch_nothing_else(self, ledger: Ledger) -> None:
        text = DOCUMENT.replace("# Optics", "# Optics\n\nUnsaved paragraph")
        edits = section_edits(text, ledger.snapshot())

        after = text
        for (start, end), section in reversed(edits):
            after = after[:start] + section + after[end:]
        assert after == shown(ledger, text)
        assert all("Unsaved" not in section for _, section in edits)

    def test_only_what_differs_is_edited(self, ledger: Ledger) -> None:
        assert section_edits(shown(ledger), ledger.snapshot()) == []


class TestRecovery:
    def test_it_says_its_scope_and_takes_all_sections(self) -> None:
        """LX-115, LX-145: frontmatter with the goal's id alone, a title, a notice, and where the sections go."""
        text = recovery_document(GOAL)
        document = read_document(text)
        assert dict(document.frontmatter) == {"goal_id": GOAL}
        assert document.problems[0].code == "missing_next_action"
        assert [heading.text for heading in document.headings] == ["Active Goal State", "Agent Todo"]

        done = record("todo_old", "[P1] Order glass.", "done", archive_state="archive")
        after = shown(Ledger(Path("/w/g.md"), LENS, GRIND, done), text)
        assert [region.role for region in read_document(after).regions] == ["user", "agent", "archive"]
        assert after.startswith(text.removesuffix("## Agent Todo\n"))
