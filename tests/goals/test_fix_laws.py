"""Laws of problems and their fixes, searched for counterexamples."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward_engine.goals.codes import CODES
from stateward_engine.goals.compact import compact
from stateward_engine.goals.document import GoalDocument, read_bytes, read_document
from stateward_engine.goals.fields import FIELDS
from stateward_engine.goals.mending import edited, mend
from stateward_engine.goals.row_problems import row_problems
from stateward_engine.goals.suppression import ruled
from stateward_engine.goals.tokens import examine

if TYPE_CHECKING:
    from stateward_engine.goals.problems import Problem
    from stateward_engine.goals.suppression import Rules

pytestmark = pytest.mark.property
law = settings(max_examples=150, derandomize=True, deadline=None)

ROWS = (
    *("- [ ] one", "- [x] two", "  - [-] nested", "* [ ] three", "- [~] odd", "- []none", "+ [ ] plus", "- [ ]  "),
    *("- [ ] a <!-- loopx:todo todo_id=todo_aaa -->", "- [ ] b <!-- todo_id=todo_bbb claimed_by=kite --> tail"),
)
METADATA = (
    *("  <!-- loopx:todo todo_id=todo_aaa status=open -->", "  <!-- loopx:todo todo_id=todo_Bbb status=done -->"),
    *("<!-- loopx:todo todo_id=todo_ccc -->", "  <!-- loopx:todo todo_id=T-1 claimed_by=Kite -->"),
    *("  <!-- loopx:todo status=maybe color=red words -->", '  <!-- loopx:todo note="two words" -->'),
    *(
        "  <!-- loopx:todo",
        "  todo_id=todo_ddd -->",
        "  <!-- status=open status=open -->",
        "\t<!-- todo_id=todo_eee -->",
    ),
    *("  <!-- loopx:todo status=open status=open note=100% -->", "  more <!-- loopx:todo todo_id=todo_fff -->"),
    *("  <!-- loopx:todo resume_when=todo_done:todo_aaa unblocks_todo_id=todo_bbb -->", "  words"),
)
LINES = (
    *("## Agent Todo", "## User Todo", "## Work Archive", "## Notes", "## Next Action", "- go", "", "prose", "---"),
    *(
        "```",
        "<!--",
        "-->",
        "key: value",
        "<<<<<<< HEAD",
        "=======",
        ">>>>>>> x",
        "<!-- stateward: ignore nested_todo -->",
    ),
    *("<!-- loopx:todo-region-v0 role=agent begin -->", "<!-- loopx:todo-region-v0 role=agent end -->"),
)
FRONT = ("", "---\nstatus: active\n---\n", "\ufeff---\nstatus: active\n---\n", "---\nnever: closed\n")
lines = st.sampled_from(ROWS) | st.sampled_from(METADATA) | st.sampled_from(LINES)
bodies = st.lists(st.tuples(lines, st.sampled_from(["\n", "\n", "\n", "\r\n"])).map("".join), max_size=20).map("".join)
documents = st.builds("{}## Agent Todo\n{}{}".format, st.sampled_from(FRONT), bodies, lines | st.just(""))

COMMENT = re.compile(r"<!--.*?-->")
# Fixes by which metadata begins to be read.
PLACING = {"metadata_on_task_line", "metadata_not_indented", "metadata_wrapped", "stray_metadata_text"}


def counted(problems: tuple[Problem, ...]) -> Counter[str]:
    return Counter(problem.code for problem in problems)


def without_comments(text: str) -> str:
    return compact(COMMENT.sub("", text))


class TestProblems:
    """What is told is about a place, and reading never fails."""

    @settings(law, max_examples=300)
    @given(st.binary(max_size=200) | documents.map(str.encode))
    def test_no_bytes_make_reading_fail(self, data: bytes) -> None:
        document = read_bytes(data)

        assert {problem.code for problem in document.problems} <= CODES.keys()
        assert (document.projection is None) == (document.refusal is not None)

    @law
    @given(documents)
    def test_places_and_edits_lie_within_the_text(self, text: str) -> None:
        for problem in read_document(text).problems:
            edits = problem.fix.edits if problem.fix else ()
            spans = [problem.span, *(span for span, _ in problem.related), *(edit.span for edit in edits)]
            assert all(0 <= start <= end <= len(text) for start, end in spans)
            ordered = sorted(edit.span for edit in edits)
            assert all(before[1] <= after[0] for before, after in pairwise(ordered))

    @law
    @given(documents)
    def test_a_row_that_is_not_odd_has_no_problem_of_its_own(self, text: str) -> None:
        """The quick look at every row overlooks nothing."""
        document = read_document(text)
        for todo in document.todos:
            own = list(row_problems(text[slice(*todo.extent)], todo.extent[0], "\n"))
            assert todo.odd or own == []

    @law
    @given(documents, documents)
    def test_what_is_told_of_a_row_depends_on_its_own_lines(self, text: str, other: str) -> None:
        """An incremental reader may keep it for as long as the lines stay."""
        document = read_document(text)
        for todo in document.todos:
            lines_of_row = text[slice(*todo.extent)]
            alone = list(row_problems(lines_of_row, 0, "\n"))
            moved = list(row_problems(lines_of_row, len(other), "\n"))
            assert [problem.code for problem in alone] == [problem.code for problem in moved]
            assert [problem.span[0] + len(other) for problem in alone] == [problem.span[0] for problem in moved]

    @law
    @given(st.sampled_from([*FIELDS, "color"]), st.text("aZ9_-:,;|%20E6=.todo_/", min_size=1, max_size=20))
    def test_what_to_write_instead_is_read_as_it_is_written(self, key: str, raw: str) -> None:
        finding = examine(key, raw)

        if finding and finding.code == "normalised_value":
            assert finding.instead is not None
            # A repository that is named `x.git.git` loses a suffix at each reading.
            assert examine(key, finding.instead) is None or key == "task_repository"


class TestFixes:
    """A safe fix removes its problem, adds no error, and changes nothing but what it says."""

    @law
    @given(documents)
    def test_a_safe_fix_removes_its_problem(self, text: str) -> None:
        document = read_document(text)
        if document.refusal:
            return
        for problem in document.problems:
            if problem.fix and problem.fix.safe:
                after = read_document(edited(text, problem.fix.edits))
                assert counted(after.problems)[problem.code] < counted(document.problems)[problem.code]

    @law
    @given(documents)
    def test_mending_adds_no_error_and_refuses_nothing(self, text: str) -> None:
        before, after = read_document(text), read_document(mend(text, {}).text)
        errors = [
            Counter(problem.code for problem in document.problems if problem.severity == "error")
            for document in (before, after)
        ]

        assert errors[1] <= errors[0]
        assert (after.refusal is None) == (before.refusal is None)

    @law
    @given(documents)
    def test_mending_twice_is_mending_once(self, text: str) -> None:
        mended = mend(text, {})

        assert mend(mended.text, {}) == (mended.text, ())
        assert (mended.text == text) == (not mended.fixed)

    @law
    @given(documents)
    def test_mending_keeps_every_row_and_what_it_says(self, text: str) -> None:
        mended = mend(text, {})
        before, after = read_document(text), read_document(mended.text)

        assert [rows_of(before)] == [rows_of(after)]
        if not PLACING & {problem.code for problem in mended.fixed}:
            assert list(map(fields_of, [before])) == list(map(fields_of, [after]))

    @law
    @given(documents)
    def test_a_refused_document_is_not_mended(self, text: str) -> None:
        if read_document(text).refusal:
            assert mend(text, {}) == (text, ())

    @law
    @given(documents)
    def test_a_rule_that_is_off_shows_and_mends_nothing(self, text: str) -> None:
        problems = read_document(text).problems
        off: Rules = dict.fromkeys(CODES, "off")

        assert {problem.code for problem in ruled(problems, off)} == {
            problem.code for problem in problems if CODES[problem.code].refuses
        }
        assert mend(text, off) == (text, ())


def rows_of(document: GoalDocument) -> list[tuple[object, ...]]:
    return [
        (todo.role if not todo.archived else None, todo.source_section, todo.ordinal, without_comments(todo.full_text))
        for todo in document.todos
    ]


def fields_of(document: GoalDocument) -> list[dict[str, object]]:
    return [{**todo.fields, "todo_id": todo.todo_id} for todo in document.todos]
