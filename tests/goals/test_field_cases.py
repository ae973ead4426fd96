"""What `expect.md` of each field case says a reader and a linter MUST do, beside the numbers of its checks."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest

from stateward_engine.goals.document import GoalDocument, read_bytes, read_document
from stateward_engine.goals.mending import edited, mend
from stateward_engine.goals.row_problems import unreadable_guards

CASES = Path(__file__).parent.parent / "conformance" / "field_cases"


def read(name: str) -> GoalDocument:
    """Return a document by the number of its case and the name of its file."""
    number, _, file = name.partition("/")
    [path] = CASES.glob(f"{number}-*/{file or 'input'}.md")
    return read_bytes(path.read_bytes())


def told(document: GoalDocument) -> list[tuple[str, int]]:
    """Return code and line, from 0, of each problem."""
    return [(problem.code, document.lines.index_at(problem.span[0])) for problem in document.problems]


def quotes(document: GoalDocument, code: str) -> list[str]:
    text = document.lines.text
    return [text[slice(*problem.span)] for problem in document.problems if problem.code == code]


def text_of(document: GoalDocument, todo_id: str) -> str:
    return next(todo.full_text for todo in document.todos if todo.todo_id == todo_id)


@pytest.mark.parametrize(
    "name", ["01", "03", "05/loose-list", "10", "11", "12/all-crlf", "14", "16/delimiters-in-values", "20", "25/ok"]
)
def test_a_clean_document_has_no_problem_at_all(name: str) -> None:
    """Cases 01, 03, 05, 10, 11, 12, 14, 16, 20 and 25: what is right is left in peace (LX-071, LX-080)."""
    assert told(read(name)) == []


def test_02_the_opening_fence_is_named() -> None:
    """Because "your todos are missing" with no place to look is what people could not debug."""
    assert ("unclosed_fence", 11) in told(read("02"))


def test_03_a_fence_in_a_list_item_is_no_text_of_it() -> None:
    assert text_of(read("03"), "todo_pr_body").endswith("Generate the PR body from this template:")


def test_04_a_comment_ends_at_the_first_end_and_a_remark_is_text() -> None:
    """It says more than metadata, so it is no metadata that was wrapped."""
    document = read("04")

    assert "<!--" in text_of(document, "todo_dusk")
    assert told(document) == []


def test_05_a_wrapped_comment_is_not_half_read() -> None:
    document = read("05/wrapped-comment")
    [problem] = [problem for problem in document.problems if problem.code == "metadata_wrapped"]
    start, end = (document.lines.index_at(offset) for offset in problem.span)

    assert (start, end) == (10, 11)
    assert "one line" in problem.message
    assert "claimed_by" not in document.todos[0].fields
    assert document.todos[0].id_line is None
    row = read_document(mend(document.lines.text, {}).text).todos[0]
    assert (row.todo_id, row.fields["claimed_by"]) == ("todo_valve", "agent-a")


def test_06_metadata_behind_text_moves_to_its_own_line() -> None:
    document = read("06")
    moved = [problem for problem in document.problems if problem.code == "metadata_on_task_line"]

    assert [document.lines.index_at(problem.span[0]) for problem in moved] == [9, 10]
    first = read_document(edited(document.lines.text, moved[0].fix.edits if moved[0].fix else ()))
    assert (first.todos[0].todo_id, first.todos[0].full_text) == ("todo_alto", "[P1] Scan the alto folders.")
    assert [todo.todo_id_source for todo in read_document(mend(document.lines.text, {}).text).todos] == ["metadata"] * 3


def test_07_counts_lists_and_regions_come_from_one_classifier() -> None:
    document = read("07")
    active = [todo for todo in document.todos if not todo.archived]

    assert [todo.region for todo in active] == [region for region in document.regions if region.role != "archive"]
    assert {region.heading for region in document.regions} == {
        "User Todo / Owner Review Reading Queue",
        "Agent Todo",
        "Agent Todo Archive",
    }


def test_08_each_occurrence_points_at_the_other() -> None:
    document = read("08")
    found = [problem for problem in document.problems if problem.code == "duplicate_todo_ids"]
    places = {problem.span: [span for span, _ in problem.related] for problem in found}

    assert quotes(document, "duplicate_todo_ids") == ["todo_yarn", "todo_warp", "todo_yarn", "todo_warp"]
    assert all(places[other[0]] == [span] for span, other in places.items())
    assert "in the archive" in [message for problem in found for _, message in problem.related][1]


def test_09_a_generated_id_names_nothing_after_an_insert() -> None:
    before, after = ({todo.todo_id for todo in read(f"09/{name}").todos} for name in ("before", "after"))

    assert before & after == set()


def test_11_and_12_no_value_is_cut_and_none_has_a_terminator() -> None:
    """LX-080, LX-083."""
    document = read("11")

    assert max(len(todo.full_text) for todo in document.todos) > 1500
    assert all(len(todo.text) <= 500 for todo in document.todos)
    for name in ("12/all-crlf", "12/mixed"):
        crlf = read(name)
        values = chain(crlf.frontmatter.values(), *(todo.fields.values() for todo in crlf.todos))
        assert "\r" not in "".join(map(str, values))


def test_13_a_separator_of_unicode_moves_no_line() -> None:
    assert ("implicit_todo_ids", 13) in told(read("13"))


def test_15_bytes_that_are_no_utf8_are_told_by_their_offset() -> None:
    document = read("15")

    assert [problem.code for problem in document.problems] == ["not_utf8"]
    assert document.refusal is not None
    assert f"byte {document.refusal.byte_offset}" in document.problems[0].message


def test_16_a_second_block_and_one_that_never_closes_are_told() -> None:
    assert ("second_frontmatter_block", 4) in told(read("16/two-blocks"))
    assert ("unterminated_frontmatter", 0) in told(read("16/never-closed"))


def test_17_a_box_that_is_none_is_named_and_swallows_nothing() -> None:
    document = read("17")
    hints = [problem.message for problem in document.problems if problem.code == "not_a_todo_marker"]

    assert len(hints) == 8
    assert "`[~]`" in hints[0]
    assert "`[!]`" in hints[1]
    assert text_of(document, "todo_def") == "deferred"
    assert {"todo_tilde", "todo_bang"} & {todo.todo_id for todo in document.todos} == set()
    assert quotes(document, "marker_status_conflict") == ["[ ]"]


def test_18_a_row_in_a_row_is_told_and_takes_no_text() -> None:
    document = read("18")

    assert [line for code, line in told(document) if code == "nested_todo"] == [11, 13, 15, 17]
    assert text_of(document, "todo_filter") == "[P1] Build the filter."


def test_19_a_merge_is_called_one() -> None:
    document = read("19")
    [problem] = [problem for problem in document.problems if problem.code == "conflict_marker"]

    assert document.lines.index_at(problem.span[0]) == 9
    assert "unresolved merge" in problem.message


def test_21_fields_that_nobody_knows_are_named_and_kept() -> None:
    document = read("21")

    assert {"required_role", "requires_acceptance", "acceptor_agent", "task_repositories"} == set(
        quotes(document, "unknown_metadata_key")
    )
    assert {problem.severity for problem in document.problems} == {"info"}
    assert mend(document.lines.text, {}).fixed == ()
    assert "next-action" not in str([todo.fields for todo in document.todos])


def test_22_a_plan_of_another_tool_is_quiet() -> None:
    assert told(read("22")) == [
        ("missing_frontmatter", 0),
        ("missing_next_action", 0),
        ("missing_todo_sections", 0),
    ]


def test_24_a_row_behind_prose_is_told() -> None:
    assert 20 in [line for _, line in told(read("24"))]


@pytest.mark.parametrize("name", ["no-end", "no-begin", "wrong-role", "nested", "twice", "typo", "indented-marker"])
def test_25_the_error_says_what_is_expected(name: str) -> None:
    """The words "invalid document" are not enough: this is the state that people have to repair by hand."""
    document = read(f"25/{name}")
    refusal = document.refusal

    assert refusal is not None
    assert "agent" in str(refusal)
    assert any(word in str(refusal) for word in ("expected", "put"))


def test_26_a_note_in_the_region_of_a_machine_can_move_out() -> None:
    document = read("26")
    [foreign] = [problem for problem in document.problems if problem.code == "foreign_content_in_marked_region"]
    assert foreign.fix is not None
    after = read_document(edited(document.lines.text, foreign.fix.edits))

    assert document.lines.index_at(foreign.span[0]) == 11
    assert after.refusal is None
    assert "role=user end -->\n\nAnna says the 50 mm one, see photo.\n" in after.lines.text
    assert ("implicit_todo_ids", 18) in told(document)


def test_40_each_bad_value_is_told_on_its_own_characters() -> None:
    """Eight of nine rows have one, and nothing that cannot be read lets another one act."""
    document = read("40")
    on_values = [problem for problem in document.problems if problem.span[0] not in document.lines.starts]
    rows = [
        [problem.code for problem in on_values if todo.extent[0] <= problem.span[0] < todo.extent[1]]
        for todo in document.todos
    ]
    text = document.lines.text

    assert [bool(codes) for codes in rows] == [True] * 8 + [False]
    assert quotes(document, "invalid_todo_id") == ["todo_ab", "T-14", '"todo_quoted"']
    assert quotes(document, "normalised_value") == ["todo_Lever_3", "Agent_Zed"]
    assert quotes(document, "unknown_metadata_key") == ["priority"]
    assert quotes(document, "invalid_metadata_value") == ["in_progress", "100%zz%E6"]
    assert quotes(document, "repeated_metadata_key") == ["todo_id=todo_first_id", "todo_id=todo_meta_a"]
    assert [unreadable_guards(text[slice(*todo.extent)]) for todo in document.todos][4] == ["status"]
    assert mend(text, {}).text.count("\n") == text.count("\n")
