"""Edits of rows: what becomes of a text when one row is changed, added or archived, and that nothing else does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from goals.test_fix_laws import documents
from stateward_engine.errors import UnsafeDocument
from stateward_engine.goals.compact import compact
from stateward_engine.goals.document import read_document
from stateward_engine.goals.row_edits import NEW_HEADINGS, Change, add_row, archive_rows, edit_rows

if TYPE_CHECKING:
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.todos import Todo

law = settings(max_examples=200, derandomize=True, deadline=None)


def row(document: GoalDocument, todo_id: str) -> Todo:
    (found,) = [todo for todo in document.todos if todo.todo_id == todo_id]
    return found


def changed(text: str, todo_id: str = "todo_one", *, words: str | None = None, **fields: Any) -> str:
    document = read_document(text)
    return edit_rows(document, [Change(row(document, todo_id), fields, words)])


# -- one row -------------------------------------------------------------------------------------------------------

HEAD = "## Agent Todo\n\n"
ONE = "  <!-- loopx:todo todo_id=todo_one status=open"
CHANGES: dict[str, tuple[str, dict[str, Any], str]] = {
    "a value that is there is written in its place": (
        f"- [ ] a\n{ONE} color=red note=x reason=y -->\n",
        {"note": "two words"},
        f"- [ ] a\n{ONE} color=red note=two%20words reason=y -->\n",
    ),
    "a new key goes to its place in the table, and unknown keys keep their order": (
        f"- [ ] a\n{ONE} zebra=1 note=x apple=2 -->\n",
        {"claimed_by": "kiro", "updated_at": "now"},
        f"- [ ] a\n{ONE} zebra=1 claimed_by=kiro note=x apple=2 updated_at=now -->\n",
    ),
    "a cleared key goes with the gap in front of it": (
        "- [ ] a\n  <!-- loopx:note=x todo_id=todo_one reason=y -->\n",
        {"note": None, "reason": ""},
        "- [ ] a\n  <!-- loopx: todo_id=todo_one -->\n",
    ),
    "the box and the status say the same": (
        f"- [ ] a\n{ONE} -->\n",
        {"status": "done"},
        "- [x] a\n  <!-- loopx:todo todo_id=todo_one status=done -->\n",
    ),
    "where the box says the status, no key is added": (
        "* [X] a\n  <!-- loopx:todo todo_id=todo_one -->\n",
        {"status": "deferred"},
        "* [-] a\n  <!-- loopx:todo todo_id=todo_one -->\n",
    ),
    "what no box says is a key": (
        "- [x] a\n  <!-- loopx:todo todo_id=todo_one -->\n",
        {"status": "blocked"},
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one status=blocked -->\n",
    ),
    "of repeated keys the one that counts is changed": (
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one note=x -->\n  <!-- loopx:todo note=y status=maybe -->\n",
        {"note": "z"},
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one note=x -->\n  <!-- loopx:todo note=z status=maybe -->\n",
    ),
    "a line that has nothing left goes, and what is unknown in it stays": (
        "- [ ] a\n  <!-- loopx:todo note=y color=red -->\n  <!-- loopx:todo todo_id=todo_one -->\n",
        {"note": None},
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one color=red -->\n",
    ),
    "a value that could not be read is replaced": (
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one claimed_by=%% -->\n",
        {"claimed_by": "kiro"},
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one claimed_by=kiro -->\n",
    ),
    "a policy that was removed is found under the key that it is written with": (
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one continuation_policy=primary_review -->\n",
        {"removed_continuation_policy": None},
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n",
    ),
    "another priority is another prefix, and all else of the text stays as it was written": (
        f"- [ ] [P1]  a   b\n  and   more\n{ONE} -->\n",
        {"words": "[P0] a b and more"},
        f"- [ ] [P0] a   b\n  and   more\n{ONE} -->\n",
    ),
    "another text takes the place of all lines of the old one": (
        f"- [ ] a\n  and more\n{ONE} -->\n  at last\n\n  really\n",
        {"words": "all new"},
        f"- [ ] all new\n{ONE} -->\n\n",
    ),
    "lines that the new text ends with stay": (
        f"- [ ] a\n  and more\n{ONE} -->\n  at last\n",
        {"words": "b at last"},
        f"- [ ] b\n{ONE} -->\n  at last\n",
    ),
    "prose between the lines of a row is not its own": (
        "- [ ] a\nprose\n  more\n  <!-- loopx:todo todo_id=todo_one -->\n",
        {"words": "b"},
        "- [ ] b\nprose\n  <!-- loopx:todo todo_id=todo_one -->\n",
    ),
    "endings stay mixed": (
        "- [ ] a\r\n  <!-- loopx:todo todo_id=todo_one -->\n\r\rend",
        {"status": "done", "note": "x"},
        "- [x] a\r\n  <!-- loopx:todo todo_id=todo_one note=x -->\n\r\rend",
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_touches_what_it_is_about(case: str) -> None:
    """LX-051: what is outside of the contract stays."""
    before, fields, after = CHANGES[case]
    assert changed(HEAD + before, **fields) == HEAD + after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- [ ] a", "- [ ] a\n  <!-- loopx:todo todo_id=ID note=x -->"),
        ("- [ ] a\r\n", "- [ ] a\r\n  <!-- loopx:todo todo_id=ID note=x -->\r\n"),
        ("- [ ] a\r\nrest", "- [ ] a\r\n  <!-- loopx:todo todo_id=ID note=x -->\r\nrest"),
        ("  - [ ] a\n    more\n", "  - [ ] a\n    more\n    <!-- loopx:todo todo_id=ID note=x -->\n"),
        ("- [ ] a\n  <!-- loopx:todo reason=y -->\n", "- [ ] a\n  <!-- loopx:todo todo_id=ID note=x reason=y -->\n"),
        (
            "- [ ] a\n  <!-- loopx:todo todo_id=T-1 reason=y -->\n",
            "- [ ] a\n  <!-- loopx:todo todo_id=ID note=x reason=y -->\n",
        ),
    ],
)
def test_a_row_without_an_id_gets_the_one_that_it_was_shown_with(before: str, after: str) -> None:
    document = read_document(HEAD + before)
    (todo,) = document.todos
    assert edit_rows(document, [Change(todo, {"note": "x"})]) == HEAD + after.replace("ID", todo.todo_id)


# -- more and fewer rows -------------------------------------------------------------------------------------------

NEW = "- [ ] [P1] new\n  <!-- loopx:todo todo_id=todo_new status=open -->\n"
BEGIN, END = (f"<!-- loopx:todo-region-v0 role=agent {edge} -->" for edge in ("begin", "end"))
ADDITIONS = {
    "behind the last row of the first section": (
        "## Agent Todo\n- [ ] a\n  more\n\nprose\n\n## Codex Todo\n\n- [ ] b\n",
        f"## Agent Todo\n- [ ] a\n  more\n{NEW}\nprose\n\n## Codex Todo\n\n- [ ] b\n",
    ),
    "below what hangs below that row": (
        "## Agent Todo\n- [ ] a\n  ```\n  - [ ] example\n  ```\n  explained\nprose\n",
        f"## Agent Todo\n- [ ] a\n  ```\n  - [ ] example\n  ```\n  explained\n{NEW}prose\n",
    ),
    "below the heading of an empty section": (
        "## Agent Todo\n\n## Next Action\n\n- go\n",
        f"## Agent Todo\n\n{NEW}\n## Next Action\n\n- go\n",
    ),
    "below the prose of a section without rows": (
        "## Agent Todo\nprose\n  indented\n\n## Next Action\n",
        f"## Agent Todo\nprose\n  indented\n\n{NEW}\n## Next Action\n",
    ),
    "in a new section at the end": ("# Goal\n\nprose\n", f"# Goal\n\nprose\n\n## Agent Todo\n\n{NEW}"),
    "in front of an end that does not end": ("# Goal", f"# Goal\n\n## Agent Todo\n\n{NEW.rstrip()}"),
    "with the endings of its neighbour": (
        "a\n\n## Agent Todo\r\n\r\n- [ ] a\r\n\nprose\n",
        "a\n\n## Agent Todo\r\n\r\n- [ ] a\r\n" + NEW.replace("\n", "\r\n") + "\nprose\n",
    ),
    "in nothing": ("", f"## Agent Todo\n\n{NEW}"),
    "in a marked section": (
        f"## Agent Todo\n{BEGIN}\n\n{END}\n",
        f"## Agent Todo\n{BEGIN}\n\n{NEW}{END}\n",
    ),
}


@pytest.mark.parametrize("place", ADDITIONS)
def test_a_row_is_added(place: str) -> None:
    before, after = ADDITIONS[place]
    assert add_row(read_document(before), "agent", {"todo_id": "todo_new", "status": "open"}, "[P1] new") == after


@pytest.mark.parametrize(("opening", "kind"), [("```", "fence"), ("<!--", "comment")])
def test_no_row_is_put_where_nobody_would_see_it(opening: str, kind: str) -> None:
    """Field case 02: an unclosed fence hides what would be added at the end."""
    document = read_document(f"# Goal\n\n{opening}\n## Agent Todo\n")
    with pytest.raises(UnsafeDocument) as refusal:
        add_row(document, "agent", {"todo_id": "todo_new", "status": "open"}, "new")
    assert (refusal.value.kind, refusal.value.line) == (f"unclosed_{kind}", 3)


def test_rows_are_archived_in_a_new_section() -> None:
    before = "## Agent Todo\n\n- [x] a\n  <!-- loopx:todo todo_id=todo_one -->\n- [ ] b\n"
    after = "## Agent Todo\n\n- [ ] b\n\n## Completed Work Archive\n\n- [x] a\n  <!-- loopx:todo todo_id=todo_one -->\n"
    document = read_document(before)
    assert archive_rows(document, [row(document, "todo_one")]) == after


def test_rows_are_archived_with_what_hangs_below_them_and_without_prose() -> None:
    archived = "- [x] a\r\n  more\n  <!-- loopx:todo todo_id=todo_one -->\n  ```\n  - [ ] x\n  ```\n"
    before = (
        "## Work archive\n- [x] z\n\n## Agent Todo\n- [x] a\r\nprose\n"
        + archived.removeprefix("- [x] a\r\n")
        + "- [ ] b"
    )
    after = f"## Work archive\n- [x] z\n{archived}\n## Agent Todo\nprose\n- [ ] b"
    document = read_document(before)
    assert archive_rows(document, [row(document, "todo_one")]) == after


# -- laws ----------------------------------------------------------------------------------------------------------

FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(["open", "done", "blocked", "deferred"]),
        "claimed_by": st.sampled_from([None, "kiro"]),
        "note": st.sampled_from([None, "x", "two words", "50% <off> ü"]),
        "goal_bound": st.sampled_from([None, False, True]),
        "excluded_agents": st.sampled_from([[], ["ada", "kiro"]]),
        "resume_when": st.sampled_from([None, "todo_done:todo_aaa"]),
        "completed_at": st.just("2026-07-01T08:00:00Z"),
    },
)
WORDS = st.none() | st.sampled_from(["[P0] one", "new words", "one words", "a more words", "- [ ] x", "two"])


def meaning(todo: Todo) -> tuple[Any, ...]:
    """What a row says; a generated id depends on its place."""
    todo_id = None if todo.id_line is None else todo.todo_id
    return todo_id, todo.role, todo.region.role, todo.status, todo.full_text, todo.fields


def others(document: GoalDocument, todo: Todo | None = None) -> list[Any]:
    return [meaning(other) for other in document.todos if todo is None or other.span[0] != todo.span[0]]


@law
@given(documents, st.data())
def test_a_changed_row_reads_as_it_was_meant_and_no_other_byte_is_touched(text: str, data: st.DataObject) -> None:
    """LX-074: what edits and what reads have one codec."""
    document = read_document(text)
    assume(document.refusal is None and document.todos)
    todo = data.draw(st.sampled_from(document.todos))
    fields, words = data.draw(FIELDS), data.draw(WORDS)
    after = edit_rows(document, [Change(todo, fields, words)])
    read = read_document(after)
    start, end = document.lines.start(document.lines.index_at(todo.span[0])), todo.extent[1]
    assert after.startswith(text[:start])
    assert after.endswith(text[end:])
    assert others(read, todo) == others(document, todo)
    (found,) = [other for other in read.todos if other.span[0] == todo.span[0]]
    assert (found.todo_id, found.todo_id_source) == (todo.todo_id, "metadata")
    assert found.full_text == (todo.full_text if words is None else compact(words))
    assert found.status == fields.get("status", todo.status)
    unchanged = {key: value for key, value in todo.fields.items() if key not in fields and key != "todo_id"}
    wanted = unchanged | {key: value for key, value in fields.items() if value not in (None, [])}
    assert {key: value for key, value in found.fields.items() if key not in ("todo_id", "status")} == {
        key: value for key, value in wanted.items() if key != "status"
    }


@law
@given(documents, st.sampled_from(["user", "agent", "archive"]))
def test_an_added_row_is_one_more_and_takes_nothing_away(text: str, role: Any) -> None:
    document = read_document(text)
    assume(document.refusal is None)
    try:
        after = add_row(document, role, {"todo_id": "todo_new", "status": "open", "note": "n"}, "[P1] new")
    except UnsafeDocument:
        assert any(not block.closed for block in document.hidden)
        return
    read = read_document(after)
    new = row(read, "todo_new")
    assert (new.region.role, new.full_text, new.fields["note"]) == (role, "[P1] new", "n")
    assert others(read, new) == others(document)
    at = next(at for at in range(len(after)) if text[:at] == after[:at] and after.endswith(text[at:]))
    assert NEW_HEADINGS[role] in after[at : len(after) - len(text) + at] or any(
        r.role == role for r in document.regions
    )


@law
@given(documents, st.data())
def test_archived_rows_move_and_lose_nothing(text: str, data: st.DataObject) -> None:
    """Field case 08: an id is claimed for ever, archived or not."""
    document = read_document(text)
    assume(document.refusal is None)
    active = [todo for todo in document.todos if not todo.archived]
    assume(active)
    chosen = data.draw(st.lists(st.sampled_from(range(len(active))), min_size=1, unique=True))
    own = edit_rows(document, [Change(active[at], {"role": active[at].role}) for at in sorted(chosen)])
    owned = read_document(own)
    rows = [[todo for todo in owned.todos if not todo.archived][at] for at in sorted(chosen)]
    try:
        after = archive_rows(owned, rows)
    except UnsafeDocument:
        assert any(not block.closed for block in document.hidden)
        return
    read = read_document(after)
    moved = [(*meaning(todo)[:2], "archive", *meaning(todo)[3:]) for todo in rows]
    left = [meaning(todo) for todo in owned.todos if todo not in rows]
    assert sorted(map(repr, others(read))) == sorted(map(repr, [*left, *moved]))
    assert [todo for todo in others(read) if todo in moved] == moved or len(set(map(repr, moved))) < len(moved)
    assert sorted(filter(None, after.splitlines())) == sorted(
        [*filter(None, own.splitlines()), *(["## Completed Work Archive"] if _is_new(owned) else [])]
    )


def _is_new(document: GoalDocument) -> bool:
    return all(region.role != "archive" for region in document.regions)
