"""Fixes at their edges: what is not done unasked, and why."""

from __future__ import annotations

import pytest

from stateward_engine.goals.document import read_document
from stateward_engine.goals.mending import mend
from stateward_engine.goals.todos import generated_id


def test_a_new_id_is_one_that_no_row_has() -> None:
    rows = "".join(
        f"- [ ] a\n  <!-- loopx:todo todo_id={name} -->\n" for name in ("todo_aaa", "todo_aaa", "todo_aaa_2")
    )
    titles = [problem.fix.title for problem in read_document(f"## Agent Todo\n{rows}").problems if problem.fix]

    assert "give this row the id todo_aaa_3" in titles


def test_metadata_that_would_bring_another_problem_is_not_moved_unasked() -> None:
    text = "## Agent Todo\n- [ ] a <!-- loopx:todo status=open claimed_by=7up -->\n"

    assert "metadata_on_task_line" not in [problem.code for problem in mend(text, {}).fixed]
    assert read_document(text).problems[-1].code == "metadata_on_task_line"


def test_a_fix_that_would_bring_an_error_is_left_out() -> None:
    """The comment holds the id of another row; the fix beside it is made."""
    text = (
        "## Agent Todo\n- [ ] a\n  <!-- loopx:todo todo_id=todo_aaa -->\n"
        "- [ ] b <!-- loopx:todo todo_id=todo_aaa -->\n- [ ] c <!-- loopx:todo todo_id=todo_ccc -->\n"
    )
    mended = mend(text, {})

    assert [problem.code for problem in mended.fixed] == ["metadata_on_task_line"]
    assert [todo.todo_id_source for todo in read_document(mended.text).todos] == ["metadata", "generated", "metadata"]


def test_a_row_gets_an_id_only_when_no_other_fix_is_due() -> None:
    """Else the id would be made of a text that another fix changes."""
    text = "## Agent Todo\n- [ ] a\n  <!-- loopx:todo status=open -->\n  <!-- claimed_by=kite -->\n"
    mended = mend(text, {})

    assert [problem.code for problem in mended.fixed] == ["stray_metadata_text", "implicit_todo_ids"]
    assert read_document(mended.text).todos[0].todo_id == generated_id("agent", "Agent Todo", 1, "a")


def test_a_refused_document_is_not_mended_even_if_a_fix_would_make_it_safe() -> None:
    """A comment of several lines is foreign to a marked region; on one line it would be metadata."""
    text = (
        "## Agent Todo\n<!-- loopx:todo-region-v0 role=agent begin -->\n- [ ] a\n  <!-- loopx:todo\n"
        "  todo_id=todo_aaa -->\n<!-- loopx:todo-region-v0 role=agent end -->\n"
    )
    document = read_document(text)

    assert document.refusal
    assert any(problem.fix and problem.fix.safe for problem in document.problems)
    assert mend(text, {}) == (text, ())


def test_a_token_behind_the_colon_is_removed_without_it() -> None:
    text = "## Agent Todo\n- [ ] a\n  <!-- loopx:status=open status=open todo_id=todo_aaa -->\n"

    assert mend(text, {}).text == text.replace("status=open status=open", " status=open")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_metadata_that_moves_to_a_line_of_its_own_ends_as_the_line_that_it_leaves(newline: str) -> None:
    """In the middle of a document, and on a last line that has no end."""
    lines = ["## Agent Todo", "- [ ] a <!-- todo_id=todo_aaa -->", "- [ ] b <!-- todo_id=todo_bbb -->"]
    mended = ["- [ ] a", "  <!-- loopx:todo todo_id=todo_aaa -->", "- [ ] b", "  <!-- loopx:todo todo_id=todo_bbb -->"]

    assert mend(newline.join(lines), {}).text == newline.join([lines[0], *mended])


def test_in_a_mixed_document_each_line_keeps_its_end() -> None:
    text = "## Agent Todo\n- [ ] a <!-- todo_id=todo_aaa -->\r\n- [ ] b\n  <!-- loopx:todo todo_id=todo_bbb -->\n"

    assert mend(text, {}).text.splitlines(keepends=True)[1:3] == [
        "- [ ] a\r\n",
        "  <!-- loopx:todo todo_id=todo_aaa -->\r\n",
    ]
