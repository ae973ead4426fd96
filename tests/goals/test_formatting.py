"""Formatting of marked regions: rows as the renderer writes them, and nothing else. Source: editors.md section 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward_engine.errors import RenderRejected, UnsafeDocument
from stateward_engine.goals.document import read_document
from stateward_engine.goals.formatting import format_rows, line_edits
from stateward_engine.goals.mending import edited

if TYPE_CHECKING:
    from stateward_engine.goals.document import GoalDocument

law = settings(max_examples=200, derandomize=True, deadline=None)

BEGIN = "<!-- loopx:todo-region-v0 role=agent begin -->\n"
LINEAGE = f"<!-- loopx:todo-section-projection-v0 role=agent provider_revision=r:1 records_sha256={'0' * 64} -->\n"
ONE = "  <!-- loopx:todo todo_id=todo_one -->\n"
END = "<!-- loopx:todo-region-v0 role=agent end -->\n"


def marked(*rows: str, head: str = "") -> str:
    return f"## Agent Todo\n{BEGIN}{head}{''.join(rows)}{END}\n## Notes\n\n*  words\n"


def formatted(text: str) -> str:
    edits = [edit for each in format_rows(read_document(text)) for edit in each.edits]
    return edited(text, edits)


CASES = {
    "a row gets the bullet, the gap and the box of the renderer": (
        "*  [X]  a   b\n  <!-- loopx:todo todo_id=todo_one -->\n",
        "- [x] a b\n  <!-- loopx:todo todo_id=todo_one -->\n",
    ),
    "keys come in the order of the table, each once and encoded": (
        "- [ ] a\n\t<!-- loopx: note=a/b status=open todo_id=todo_one -->\n",
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one status=open note=a%2Fb -->\n",
    ),
    "what readers infer is not written": (
        "- [ ] [P0] a\n  <!-- loopx:todo todo_id=todo_one -->\n",
        "- [ ] [P0] a\n  <!-- loopx:todo todo_id=todo_one -->\n",
    ),
    "metadata of several comments is one": (
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n  <!-- loopx:todo note=x -->\n",
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one note=x -->\n",
    ),
    "blank lines between rows go": (
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n\n\n- [ ] b\n  <!-- loopx:todo todo_id=todo_two -->\n\n",
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n- [ ] b\n  <!-- loopx:todo todo_id=todo_two -->\n",
    ),
    "the box says what the status says": (
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one status=done -->\n",
        "- [x] a\n  <!-- loopx:todo todo_id=todo_one status=done -->\n",
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("head", ["", f"{LINEAGE}\n"])
def test_rows_become_as_the_renderer_writes_them(case: str, head: str) -> None:
    """Heading, markers, lineage and everything outside stay."""
    before, after = CASES[case]

    assert formatted(marked(before, head=head)) == marked(after, head=head)


def test_lines_end_as_the_renderer_ends_them() -> None:
    text = marked("* [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n").replace("\n", "\r\n")

    assert formatted(text) == text.replace("* [ ]", "- [ ]")


def test_only_lines_that_differ_are_replaced() -> None:
    text = marked(
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n", "* [ ] b\n  <!-- loopx:todo todo_id=todo_two -->\n"
    )
    (found,) = format_rows(read_document(text))
    (edit,) = found.edits

    assert text[slice(*edit.span)] == "* [ ] b\n"
    assert edit.text == "- [ ] b\n"
    assert text[slice(*found.span)].startswith("* [ ] b\n  <!-- loopx:todo todo_id=todo_two")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (marked("* [ ] a\n  <!-- loopx:todo todo_id=todo_one color=red -->\n"), "unknown_metadata_key in line 4"),
        (marked("* [ ] a\n"), "implicit_todo_ids in line 3"),
        (
            marked("* [ ] a\n  <!-- loopx:todo todo_id=todo_one -->\n") + "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> z\n",
            "conflict",
        ),
    ],
)
def test_where_something_would_be_lost_nothing_is_formatted(text: str, reason: str) -> None:
    with pytest.raises(RenderRejected, match=reason):
        format_rows(read_document(text))


def test_what_is_wrong_in_sections_of_people_is_no_reason() -> None:
    text = f"{marked('* [ ] a', chr(10), ONE)}\n## User Todo\n\n* [ ] b <!-- color=red -->\n"

    assert formatted(text) == text.replace("* [ ] a", "- [ ] a")


def test_a_refused_document_is_not_formatted() -> None:
    with pytest.raises(UnsafeDocument):
        format_rows(read_document(f"## Agent Todo\n{BEGIN}* [ ] a\n"))


def test_a_document_without_marked_regions_has_nothing_to_format() -> None:
    """Whatever else is wrong with it: what people write is theirs."""
    assert not format_rows(read_document("## Agent Todo\n\n*  [X] a\n   <!-- color=red -->\n<<<<<<< HEAD\n"))


# -- laws ------------------------------------------------------------------------------------------------------------

ROW_PARTS = st.tuples(
    st.sampled_from(["- [ ] ", "*  [x]  ", "-  [-] ", "* [X] "]),
    st.sampled_from(["a", "b   c", "[P1] d", "é 🎉", "`x`"]),
    st.sampled_from(["", " status=blocked", " note=a/b", " note=%41  reason=x", " claimed_by=ada status=done"]),
    st.sampled_from(["", "\n", "\n\n"]),
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    def rows(name: str) -> str:
        found = draw(st.lists(ROW_PARTS, max_size=4))
        return "".join(
            f"{box}{words}\n  <!-- loopx:todo{fields} todo_id=todo_{name}_{number} -->\n{gap}"
            for number, (box, words, fields, gap) in enumerate(found)
        )

    text = marked(rows("marked"), head=draw(st.sampled_from(["", f"{LINEAGE}\n", "\n"])))
    text += draw(st.sampled_from(["", f"\n## User Todo\n\n{rows('user')}", "\n## Work Archive\n\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def outside(document: GoalDocument) -> list[str]:
    """Return the text outside of the rows of marked regions."""
    lines, edges = document.lines, [0]
    for region in document.regions:
        if region.marked:
            edges += (lines.start(region.body), lines.start(region.body_end))
    edges.append(len(document.text))
    return [document.text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]


@pytest.mark.property
@law
@given(documents())
def test_formatting_twice_is_formatting_once_and_keeps_every_todo(text: str) -> None:
    before, after = read_document(text), read_document(formatted(text))

    assert not format_rows(after)
    assert outside(after) == outside(before)
    assert [(todo.todo_id, todo.status, todo.full_text, todo.fields) for todo in after.todos] == [
        (todo.todo_id, todo.status, todo.full_text, todo.fields) for todo in before.todos
    ]


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d"]), max_size=8).map("".join)


@pytest.mark.property
@law
@given(LINES, LINES, LINES, LINES)
def test_line_edits_make_what_is_wanted_of_a_span(above: str, there: str, below: str, wanted: str) -> None:
    text = above + there + below
    edits = line_edits(text, (len(above), len(above) + len(there)), wanted)

    assert edited(text, edits) == above + wanted + below
    assert all(len(above) <= edit.span[0] <= edit.span[1] <= len(above) + len(there) for edit in edits)
