"""Limits of problems, and the bounded forms of text."""

from __future__ import annotations

import pytest

from stateward_engine.goals.codes import CODES
from stateward_engine.goals.compact import clip
from stateward_engine.goals.document import read_document
from stateward_engine.goals.priority import Priority, priority_rank, read_decorated_priority
from stateward_engine.goals.problems import RELATED_MAX
from stateward_engine.goals.sections import ENTRY_CHARACTERS_MAX
from stateward_engine.goals.todos import TEXT_CHARACTERS_MAX


def test_a_large_group_of_equal_ids_names_some_places_each() -> None:
    """A thousand copies are a thousand problems, not a million pointers."""
    row = "- [ ] a\n  <!-- loopx:todo todo_id=todo_same -->\n"
    document = read_document("## Agent Todo\n" + row * (RELATED_MAX + 9))
    duplicates = [problem for problem in document.problems if problem.code == "duplicate_todo_ids"]

    assert len(duplicates) == RELATED_MAX + 9
    assert {len(problem.related) for problem in duplicates} == {RELATED_MAX}
    assert all(problem.span not in [span for span, _ in problem.related] for problem in duplicates)


def test_every_meaning_is_a_line_in_lower_case() -> None:
    assert [
        name for name, code in CODES.items() if not code.meaning or code.meaning[0].isupper() or code.meaning[-1] == "."
    ] == []


def test_rows_and_entries_are_bounded_and_the_source_text_is_not() -> None:
    """Rows LX-080 and LX-083."""
    words = "word " * 400
    document = read_document(f"## Agent Todo\n- [ ] [P1] {words}\n## Next Action\n- {words}")
    todo = document.todos[0]

    assert todo.full_text == f"[P1] {words}".strip()
    assert (len(todo.text), todo.text[-1]) == (TEXT_CHARACTERS_MAX, "…")
    assert todo.priority == Priority("P1", todo.text.removeprefix("[P1] "))
    assert len(document.next_action.entries[0]) <= ENTRY_CHARACTERS_MAX


def test_clipping_drops_the_space_before_the_ellipsis() -> None:
    assert clip("x" * 498 + " tail", 500) == "x" * 498 + "…"
    assert clip("x" * 500, 500) == "x" * 500


@pytest.mark.parametrize(
    ("text", "priority", "rank"),
    [
        ("[P1-urgent] x", Priority("P1-URGENT", "x"), 1),
        (" [p2]x", Priority("P2", "x"), 2),
        ("[P0 now]  x", Priority("P0 NOW", "x"), 0),
        ("[P5] x", None, 50),
        ("[P1urgent] x", None, 50),
        ("x [P1]", None, 50),
    ],
)
def test_decorated_priorities(text: str, priority: Priority | None, rank: int) -> None:
    """Row LX-078, the decoder."""
    assert read_decorated_priority(text) == priority
    assert priority_rank(priority.label if priority else None) == rank
