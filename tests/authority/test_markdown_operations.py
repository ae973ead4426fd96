"""Mutations of unpromoted goals: the document is the authority, and it is edited as little as can be.

Rows LX-039, LX-049, LX-051, LX-052, LX-055 of the features.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from authority.markdown import HEAD, again, asked, edit, refused, unpromoted_goal
from authority.planted import LATER, NOON, goal_of, run
from stateward_engine.authority import commands as c
from stateward_engine.authority.additions import native_todo_id
from stateward_engine.authority.markdown_operations import apply, receipt_for
from stateward_engine.errors import Refused, UnsafeDocument
from stateward_engine.goals.document import read_document

NAMES = ("aaa", "bbb", "ccc")
CASES = Path(__file__).parents[1] / "conformance" / "field_cases"


def complete(todo_id: str, **members: Any) -> Any:
    return asked(c.CompleteTodo, todo_id=todo_id, **members)


def rows(text: str) -> dict[str, str]:
    return {todo.todo_id: todo.status for todo in read_document(text).todos}


# -- each mutation -------------------------------------------------------------------------------------------------


def test_an_added_todo_is_a_row_with_the_id_that_follows_from_the_operation() -> None:
    todo_id = native_todo_id("op-1")
    answer, text, view = edit(
        HEAD + "- [ ] a", asked(c.AddTodo, role="agent", text="Dress the loom", fields={"note": "x y"})
    )
    meta = f"  <!-- loopx:todo todo_id={todo_id} status=open note=x%20y updated_at=2026-12-01T12:00:00Z -->"
    assert text == f"{HEAD}- [ ] a\n- [ ] [P1] Dress the loom\n{meta}"
    assert (answer["status"], answer["changed"], answer["todo_id"]) == ("applied", True, todo_id)
    assert answer["source_authority"] == "markdown_active_state"
    assert "projection_delivery" not in answer
    assert goal_of(view).cursor == 2
    assert goal_of(view).records == {}


def test_a_claim_an_update_and_a_completion_change_their_tokens_alone() -> None:
    text = HEAD + "- [ ] [P2] Wind\n  bobbins\n  <!-- loopx:todo todo_id=todo_wind color=red -->\r\nend"
    view = unpromoted_goal()
    claim = asked(c.ClaimTodo, todo_id="todo_wind", claimed_by="ada", agent_id="ada")
    claimed = edit(text, claim, view)
    assert claimed.text == text.replace("color=red", "color=red claimed_by=ada updated_at=2026-12-01T12:00:00Z")
    update = asked(
        c.UpdateTodo, operation_id="op-2", todo_id="todo_wind", agent_id="ada", fields={"priority": "P0", "note": "n"}
    )
    updated = edit(claimed.text, update, claimed.view, LATER)
    assert updated.text == claimed.text.replace("P2", "P0").replace(
        "updated_at=2026-12-01T12:00", "note=n updated_at=2026-12-01T12:01"
    )
    done = edit(updated.text, complete("todo_wind", operation_id="op-3", agent_id="ada"), updated.view, LATER)
    (todo,) = read_document(done.text).todos
    assert (todo.status, todo.full_text, done.answer["status"]) == ("done", "[P0] Wind bobbins", "done")
    assert "color=red" in done.text
    assert done.text.startswith(HEAD + "- [x] [P0] Wind\n  bobbins\n")
    assert done.text.endswith(" -->\r\nend")


def test_completed_todos_are_archived_with_their_role() -> None:
    text = HEAD + "".join(f"- [x] {name}\n  <!-- loopx:todo todo_id=todo_{name} -->\n" for name in NAMES)
    archive = asked(c.ArchiveCompleted, max_active_done=1)
    answer, after, _ = edit(text + "- [x] none\n", archive)
    assert (answer["moved_count"], answer["active_done_after"]) == (3, 1)
    archived = [todo for todo in read_document(after).todos if todo.archived]
    assert [(todo.todo_id, todo.role) for todo in archived] == [(f"todo_{name}", "agent") for name in NAMES]
    assert "## Completed Work Archive" in after


def test_rows_without_an_id_get_one_before_they_are_history() -> None:
    answer, after, _ = edit(HEAD + "- [x] same\n- [x] same\n- [ ] same\n", asked(c.ArchiveCompleted, max_active_done=0))
    archived = [todo for todo in read_document(after).todos if todo.archived]
    assert [todo.todo_id for todo in archived] == answer["moved_todo_ids"]
    assert all(todo.todo_id_source == "metadata" for todo in archived)
    assert len(rows(after)) == 3


def test_a_completion_writes_its_successor() -> None:
    text = HEAD + "- [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n"
    answer, after, _ = edit(text, complete("todo_one", next={"role": "user", "text": "Choose the colour"}))
    (successor,) = answer["generated_successors"]
    assert rows(after) == {"todo_one": "done", successor["todo_id"]: "open"}
    assert "\n## User Todo\n\n- [ ] [P1] Choose the colour\n" in after


def test_a_validation_declaration_is_private_to_the_document() -> None:
    declaration = {"validation_command": "make test", "validation_timeout_seconds": 60}
    add = asked(c.AddTodo, role="agent", text="Test it", declaration=declaration)
    answer, text, view = edit(HEAD, add)
    assert "validation_command=make%20test" in text
    assert "make test" not in str(answer)
    unproved = complete(answer["todo_id"], operation_id="op-2")
    assert refused(text, unproved, view).facts["reason_code"] == "validation_declaration_mismatch"
    assert edit(text, again(unproved, declaration=declaration), view).answer["status"] == "done"


# -- identity ------------------------------------------------------------------------------------------------------


def test_a_repeat_is_answered_from_its_receipt_whatever_the_document_says() -> None:
    text = HEAD + "- [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n"
    first = edit(text, complete("todo_one"))
    replay = edit("", complete("todo_one"), first.view, LATER)
    assert replay.answer == {**first.answer, "status": "replayed", "changed": False}
    other = refused(text, complete("todo_one", fields={"note": "other"}), first.view)
    assert other.facts["reason_code"] == "coordination_operation_identity_mismatch"


@pytest.mark.parametrize(
    "command",
    [
        asked(c.AddTodo, role="agent", text="Dress the loom"),
        complete("todo_one", next={"role": "agent", "text": "Next"}),
        complete(read_document(HEAD + "- [ ] b").todos[0].todo_id),
    ],
)
def test_a_repeat_whose_receipt_was_lost_finds_its_row_and_completes_the_receipt(command: Any) -> None:
    """The process died between the publication, which is the commit, and the receipt."""
    text = HEAD + "- [ ] b\n- [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n"
    first = edit(text, command)
    second = edit(first.text, command, unpromoted_goal())
    assert second.text == first.text
    assert second.answer == first.answer
    assert edit(first.text, command, second.view).answer["status"] == "replayed"


def test_another_operation_does_not_pass_for_the_first_run() -> None:
    text = HEAD + "- [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n"
    done = edit(text, complete("todo_one"))
    late = complete("todo_one", operation_id="op-2")
    assert refused(done.text, late, unpromoted_goal()).facts["reason_code"] == "todo_not_open"
    added = edit(HEAD, asked(c.AddTodo, role="agent", text="Dress the loom"))
    other = asked(c.AddTodo, role="agent", text="Undress the loom")
    assert refused(added.text, other, unpromoted_goal()).facts["reason_code"] == "duplicate_todo_id"


def test_a_dry_run_and_a_change_to_what_is_so_leave_nothing() -> None:
    text = HEAD + "- [ ] a\n  <!-- loopx:todo todo_id=todo_one note=x -->\n"
    planned = edit(text, complete("todo_one", dry_run=True))
    assert (planned.answer["status"], planned.text, goal_of(planned.view).cursor) == ("planned", text, 1)
    same = edit(text, asked(c.UpdateTodo, todo_id="todo_one", fields={"note": "x"}))
    assert (same.answer["status"], same.text, goal_of(same.view).cursor) == ("no_change", text, 1)


# -- leases ----------------------------------------------------------------------------------------------------------


def test_a_claim_with_a_lease_leaves_the_lease_in_the_ledger() -> None:
    text = HEAD + "- [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n"
    claim = asked(c.ClaimTodo, todo_id="todo_one", claimed_by="ada", lease=c.LeaseClaim("key-1", 0))
    answer, text, view = edit(text, claim)
    assert goal_of(view).leases["todo_one"]["owner"] == answer["lease"]["owner"] == "ada"
    done = edit(text, complete("todo_one", operation_id="op-2", agent_id="ada", lease=c.LeaseClaim("key-1", 1)), view)
    assert goal_of(done.view).leases["todo_one"]["status"] == "released"
    late = asked(c.UpdateTodo, operation_id="op-3", todo_id="todo_one", agent_id="bo", fields={"note": "x"})
    assert refused(text, late, view).facts["reason_code"] == "update_owner_mismatch"


def test_a_lease_that_another_call_changed_meanwhile_is_not_overwritten() -> None:
    text = HEAD + "- [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n"
    claims = [
        asked(c.ClaimTodo, operation_id=who, todo_id="todo_one", claimed_by=who, lease=c.LeaseClaim(f"key-{who}", 0))
        for who in ("ada", "bo")
    ]
    view, document = unpromoted_goal(), read_document(text)
    goal = goal_of(view)
    first, second = (receipt_for(goal, each, apply(goal, document, each, NOON)) for each in claims)
    assert isinstance(first, c.RecordEdit)
    assert isinstance(second, c.RecordEdit)
    _, view = run(view, first)
    with pytest.raises(Refused) as caught:
        run(view, second)
    assert caught.value.facts["reason_code"] == "todo_lease_conflict"
    assert goal_of(view).leases["todo_one"]["owner"] == "ada"


# -- what a document can be like -------------------------------------------------------------------------------------


def field_case(name: str, file: str = "input.md") -> str:
    return (CASES / name / file).read_bytes().decode()


def same_lines(before: str, after: str) -> set[str]:
    return set(before.splitlines(keepends=True)) - set(after.splitlines(keepends=True))


def test_case_03_a_template_in_a_fence_keeps_its_bytes() -> None:
    """Field case 03: completing a row changes only its own checkbox and metadata lines."""
    text = field_case("03-fenced-example-checkboxes")
    after = edit(text, complete("todo_pr_body")).text
    changed = same_lines(text, after)
    assert len(changed) == 2
    assert all("todo_pr_body" in line or "Generate the PR body" in line for line in changed)


def test_case_08_no_row_is_picked_of_several_with_one_id() -> None:
    """Field case 08: a completion on a duplicated id is refused with both locations."""
    text = field_case("08-duplicate-ids")
    for todo_id in ("todo_yarn", "todo_warp"):
        refusal = refused(text, complete(todo_id))
        lines = refusal.facts["lines"]
        assert refusal.facts["reason_code"] == "duplicate_todo_id"
        assert isinstance(lines, tuple)
        assert len(lines) == 2
        assert str(lines[1]) in str(refusal)


def test_case_09_a_stale_generated_id_names_nothing() -> None:
    """Field case 09: it is answered with the current candidates, and never acts on the row at that index."""
    before, after = (field_case("09-generated-ids-move", f"{name}.md") for name in ("before", "after"))
    stale = [todo.todo_id for todo in read_document(before).todos]
    for command in (asked(c.ClaimTodo, todo_id=stale[0], claimed_by="agent-a"), complete(stale[1])):
        refusal = refused(after, command)
        candidates = refusal.facts["candidates"]
        assert refusal.facts["reason_code"] == "todo_not_found"
        assert isinstance(candidates, dict)
        assert set(candidates) == set(rows(after))


def test_case_09_a_mutation_on_a_generated_id_writes_one_and_answers_it() -> None:
    """Field case 09: in the same write, so that the row has a name from then on."""
    before = field_case("09-generated-ids-move", "before.md")
    first = read_document(before).todos[0].todo_id
    answer, text, view = edit(before, asked(c.ClaimTodo, todo_id=first, claimed_by="agent-a"))
    assert answer["todo_id"] != first
    claimed = next(todo for todo in read_document(text).todos if todo.todo_id == answer["todo_id"])
    assert (claimed.fields["claimed_by"], claimed.todo_id_source) == ("agent-a", "metadata")
    edit(text, complete(answer["todo_id"], operation_id="op-2", agent_id="agent-a"), view)


def test_case_10_rows_with_the_same_words_are_different_todos() -> None:
    """Field case 10: identity is the id; the same text with a new operation makes another row."""
    text = field_case("10-same-text-different-todos")
    done = edit(text, complete("todo_esc_three"))
    before, after = rows(text), rows(done.text)
    assert {todo_id for todo_id in before if before[todo_id] != after[todo_id]} == {"todo_esc_three"}
    add = asked(c.AddTodo, operation_id="k-new-1", role="agent", text="[P1] Escalation: shelf 3 failed twice.")
    assert len(rows(edit(done.text, add, done.view).text)) == len(before) + 1


@pytest.mark.parametrize("file", ["all-crlf.md", "mixed.md"])
def test_case_12_endings_stay_what_they_are(file: str) -> None:
    """Field case 12: the diff touches the owned lines, and new lines end as their neighbours do."""
    text = field_case("12-crlf-and-mixed-eol", file)
    after = edit(text, complete("todo_boards")).text
    document = read_document(text)
    (todo,) = [todo for todo in document.todos if todo.todo_id == "todo_boards"]
    assert after.startswith(text[: todo.span[0]])
    assert after.endswith(text[todo.extent[1] :])
    if file == "all-crlf.md":
        assert after.count("\n") == after.count("\r\n") == text.count("\r\n")


def test_case_15_a_file_that_is_no_utf8_is_refused() -> None:
    """Field case 15: without promotion todo_add is refused; the caller writes nothing."""
    data = (CASES / "15-not-utf8" / "input.md").read_bytes()
    refusal = refused(data, asked(c.AddTodo, role="agent", text="Print the notice."))
    assert isinstance(refusal, UnsafeDocument)
    assert refusal.kind == "not_utf8"


def test_case_18_a_nested_row_is_changed_where_it_stands() -> None:
    """Field case 18: completing a row changes only it; children keep their boxes."""
    text = field_case("18-nested-subtasks")
    after = edit(text, complete("todo_filter")).text
    before = rows(text)
    assert {todo_id for todo_id, status in rows(after).items() if before[todo_id] != status} == {"todo_filter"}
    assert len(same_lines(text, after)) == 2


def test_case_19_an_unfinished_merge_is_not_written_into() -> None:
    """Field case 19: fails closed."""
    text = field_case("19-git-conflict-markers")
    refusal = refused(text, asked(c.AddTodo, role="agent", text="More"))
    assert isinstance(refusal, UnsafeDocument)
    assert refusal.kind == "conflict_marker"
    assert text.splitlines()[refusal.line - 1].startswith("<<<<<<<")


def test_case_21_unknown_keys_stay_in_their_order() -> None:
    """Field case 21: an update of one field keeps every other token of the line, `printer%2Cweb` as it is spelled."""
    text = field_case("21-real-shape-unknown-metadata")
    todo_id = "todo_d13d20d71100"
    after = edit(text, asked(c.UpdateTodo, todo_id=todo_id, fields={"priority": "P1"})).text
    unknown = "required_role=developer requires_acceptance=true acceptor_agent=checker task_repositories=web"
    line = f"  <!-- loopx:todo todo_id={todo_id} status=open claimed_by=dev {unknown} updated_at="
    assert after == text.replace("[P2] Web", "[P1] Web").replace(
        f"{line}2026-10-03T04:31:38-07:00", f"{line}2026-12-01T12:00:00Z"
    )


@pytest.mark.parametrize(
    "value", ["claimed_by=%%", "status=maybe", "excluded_agents=ada,Ö", "resume_when=resume_at:soon"]
)
@pytest.mark.parametrize("kind", [c.ClaimTodo, c.UpdateTodo, c.CompleteTodo])
def test_a_row_that_nobody_can_read_for_sure_is_not_acted_on(value: str, kind: Any) -> None:
    """A value that cannot be read never turns into a default that lets somebody else act."""
    text = f"{HEAD}- [ ] a\n  <!-- loopx:todo todo_id=todo_one {value} -->\n"
    members: Any = {c.ClaimTodo: {"claimed_by": "ada"}, c.UpdateTodo: {"fields": {"note": "x"}}, c.CompleteTodo: {}}[
        kind
    ]
    refusal = refused(text, asked(kind, todo_id="todo_one", **members))
    assert refusal.facts["reason_code"] == "row_metadata_invalid"
    assert refusal.facts["line"] == 5


def test_a_declaration_that_cannot_be_read_is_not_passed_over() -> None:
    text = f"{HEAD}- [ ] a\n  <!-- loopx:todo todo_id=todo_one validation_command_argv=make -->\n"
    assert refused(text, complete("todo_one")).facts["reason_code"] == "row_metadata_invalid"
