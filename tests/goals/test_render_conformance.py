"""The shared vectors of the renderer, and what the field cases demand of a rendering."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goals.rendering import record
from stateward_engine.errors import EngineError, InvalidRequest, RenderRejected, UnsafeDocument
from stateward_engine.goals.document import read_document
from stateward_engine.goals.lines import decode_document
from stateward_engine.goals.owned import read_owned
from stateward_engine.goals.render import Rendering, render
from stateward_engine.goals.source_decoder import decode_todo

CONFORMANCE = Path(__file__).parent.parent / "conformance"
CASES = CONFORMANCE / "field_cases"
VECTORS = sorted((CONFORMANCE / "render").glob("*.json"))
# The documents that no rendering may touch, each for its own reason.
REFUSED = {
    "02-unclosed-fence-hides-todos/input.md": ("no_todo_region", 1),
    "06-metadata-on-the-same-line/input.md": ("todo_text_has_marker", None),
    "08-duplicate-ids/input.md": ("duplicate_todo_ids", 17),
    "15-not-utf8/input.md": ("not_utf8", 6),
    "16-frontmatter-traps/never-closed.md": ("unterminated_frontmatter", 1),
    "18-nested-subtasks/input.md": ("nested_todo", 12),
    "19-git-conflict-markers/input.md": ("conflict_marker", 10),
    "22-real-shape-plan-without-todo-headings/input.md": ("no_todo_region", 1),
    "25-damaged-region-markers/indented-marker.md": ("nested_or_mismatched_region_marker", 18),
    "25-damaged-region-markers/nested.md": ("nested_or_mismatched_region_marker", 18),
    "25-damaged-region-markers/no-begin.md": ("nested_or_mismatched_region_marker", 17),
    "25-damaged-region-markers/no-end.md": ("unterminated_region", 15),
    "25-damaged-region-markers/twice.md": ("orphan_region_marker", 19),
    "25-damaged-region-markers/typo.md": ("nested_or_mismatched_region_marker", 15),
    "25-damaged-region-markers/wrong-role.md": ("nested_or_mismatched_region_marker", 18),
    "26-human-typed-inside-the-region/input.md": ("foreign_content_in_marked_region", 12),
    "36-utf16-positions-and-incremental-edits/input.md": ("duplicate_todo_ids", 13),
}
DOCUMENTS = [file for file in sorted(CASES.glob("*/*.md")) if file.name != "expect.md"]


def name_of(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


def rows_of(text: str) -> list[dict[str, Any]]:
    """Return the rows that the renderer owns, as records."""
    return [decode_todo(todo) for todo in read_owned(text).todos]


def itself(data: bytes) -> Rendering:
    """Render the rows that a document has onto it."""
    text = decode_document(data)
    return render(text, rows_of(text), "rev-7")


def case(name: str) -> bytes:
    return (CASES / name).read_bytes()


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_vector(path: Path) -> None:
    """Exact bytes and digests, or a typed refusal.

    Rows LX-058 to LX-065, LX-077 to LX-082, LX-088, LX-117 to LX-120.
    """
    vector = json.loads(path.read_text(encoding="utf-8"))
    arguments = (vector["markdown"], vector["records"], vector["provider_revision"], vector.get("private_validation"))
    if "expect" in vector:
        rendering = render(*arguments)
        assert {key: getattr(rendering, key) for key in vector["expect"]} == vector["expect"]
        return
    kind = vector["expect_refusal"]
    with pytest.raises(EngineError) as raised:
        render(*arguments)
    if kind == "bad_provider_revision":
        assert isinstance(raised.value, InvalidRequest)
    else:
        assert isinstance(raised.value, RenderRejected | UnsafeDocument)
        assert raised.value.kind == kind


@pytest.mark.parametrize("file", DOCUMENTS, ids=name_of)
def test_a_field_case_renders_or_is_refused(file: Path) -> None:
    """Field cases 01 to 26 and 40: nothing outside of the sections changes, and a second rendering changes nothing."""
    if name_of(file) in REFUSED:
        with pytest.raises((RenderRejected, UnsafeDocument)) as raised:
            itself(file.read_bytes())
        refusal: Any = raised.value
        assert (refusal.kind, refusal.facts.get("line")) == REFUSED[name_of(file)]
        return
    source = decode_document(file.read_bytes())
    rows = rows_of(source)
    rendering = render(source, rows, "rev-7")
    again = render(rendering.markdown, rows, "rev-7")

    assert not again.changed
    assert "".join(read_owned(rendering.markdown).narrative()) == "".join(read_owned(source).narrative())
    assert rendering.narrative_sha256 == again.narrative_sha256
    assert {row["todo_id"] for row in rows_of(rendering.markdown)} == {row["todo_id"] for row in rows}
    assert rendering.todo_count == len(rows)


class TestFieldCases:
    """What single cases demand beyond that."""

    def test_an_objective_that_looks_like_a_fence_stays(self) -> None:
        """Case 01."""
        source = case("01-one-line-fence-in-objective/input.md").decode()
        (objective,) = [line for line in source.splitlines() if line.startswith("```")]

        assert f"\n{objective}\n" in itself(source.encode()).markdown

    def test_a_remark_in_a_text_is_text(self) -> None:
        """Case 04: the remark is there after the way to a document and back."""
        source = case("04-multiline-comments/input.md").decode()
        (dusk,) = [todo for todo in read_document(source).todos if todo.todo_id == "todo_dusk"]
        markdown = render("## Agent Todo\n", [record(text=dusk.full_text)], "rev-7").markdown

        assert dusk.full_text.endswith("<!-- quick remark in the text -->")
        assert rows_of(markdown)[0]["text"] == dusk.full_text

    def test_counts_rows_and_owned_regions_are_one(self) -> None:
        """Case 07: one classifier for what is counted, listed and owned."""
        document = read_document(case("07-heading-aliases/input.md").decode())
        active = [todo.todo_id for todo in document.todos if not todo.archived]

        assert [todo.todo_id for todo in read_owned(document.lines.text).todos] == active == ["todo_frost", "todo_tags"]

    def test_long_texts_are_whole(self) -> None:
        """Case 11 (LX-080 to LX-082)."""
        source = read_document(case("11-long-cjk-text/input.md").decode())
        rendered = read_document(itself(source.lines.text.encode()).markdown)
        lengths = {todo.todo_id: len(todo.full_text) for todo in rendered.todos}

        assert lengths | {"todo_wrapped": 0} == {
            "todo_len_500": 500, "todo_len_501": 501, "todo_len_1600": 1600, "todo_wrapped": 0,
        }  # fmt: skip
        assert {todo.full_text for todo in rendered.todos} == {todo.full_text for todo in source.todos}

    def test_line_ends_stay_as_they_are(self) -> None:
        """Case 12: a document of CRLF alone stays one; a mix stays a mix, without a last line end."""
        crlf = itself(case("12-crlf-and-mixed-eol/all-crlf.md")).markdown
        mixed = case("12-crlf-and-mixed-eol/mixed.md")

        assert crlf.count("\n") == crlf.count("\r\n")
        assert itself(mixed).markdown.endswith(mixed.decode()[-8:])

    def test_separators_in_a_line_are_no_lines(self) -> None:
        """Case 13: U+2028, NEL and form feed are kept or refused, and never become line ends."""
        source = case("13-unicode-line-separators/input.md").decode()
        with pytest.raises(RenderRejected):
            render(source, [record(text="one\u2028two")], "rev-7")

    def test_the_byte_order_mark_is_there_once(self) -> None:
        """Case 14."""
        markdown = itself(itself(case("14-bom/input.md")).markdown.encode()).markdown.encode()

        assert markdown.startswith(b"\xef\xbb\xbf")
        assert markdown.count(b"\xef\xbb\xbf") == 1

    def test_a_status_in_the_metadata_wins_everywhere(self) -> None:
        """Case 17: the box follows the metadata, and in a marked region other boxes are foreign."""
        source = case("17-checkbox-marker-zoo/input.md").decode()
        status = {todo.todo_id: todo.status for todo in read_document(source).todos}
        rows = [record(todo_id=name, status=word, done=word in ("done", "deferred")) for name, word in status.items()]
        markdown = render(source, rows, "rev-7").markdown

        assert "- [x] a\n  <!-- loopx:todo todo_id=todo_conflict status=done -->\n" in markdown
        assert {todo.todo_id: todo.status for todo in read_document(markdown).todos} == status
        broken = markdown.replace("- [x] a", "- [~] a", 1)
        with pytest.raises(UnsafeDocument) as raised:
            render(broken, rows, "rev-8")
        assert raised.value.kind == "foreign_content_in_marked_region"

    def test_encoded_values_are_encoded_alike(self) -> None:
        """Case 20."""
        source = case("20-real-shape-bootstrapped-goal/input.md").decode()
        markdown = itself(source.encode()).markdown

        assert source.count("08:14:09%2B08:00") == markdown.count("08:14:09%2B08:00") > 0
        assert "\n\n\n## User Todo" in source
        assert "\n\n\n## User Todo" in markdown

    def test_unknown_fields_are_refused_by_name(self) -> None:
        """Case 21 (LX-120)."""
        source = case("21-real-shape-unknown-metadata/input.md").decode()
        with pytest.raises(RenderRejected, match='"required_role", "acceptor_agent"') as raised:
            render(source, [record(required_role="x", acceptor_agent="y")], "rev-7")

        assert (raised.value.kind, raised.value.todo_id) == ("unknown_field", "todo_one")

    def test_the_first_render_keeps_what_follows_the_list(self) -> None:
        """Case 24 (LX-064 and LX-065)."""
        source = case("24-render-keeps-following-narrative/input.md").decode()
        given = json.loads(case("24-render-keeps-following-narrative/requests.json"))["canonical"]["records"]
        records = [record(**one, done=one["status"] == "done") for one in given]
        rendering = render(source, records, "rev-7")

        for start, end in (
            ("---\nstatus", "## User Todo"), ("The council wants", "## Agent Todo"), ("PS:", None),
        ):  # fmt: skip
            kept = source[source.index(start) : source.index(end) if end else None]
            assert kept in rendering.markdown
        assert rendering.markdown.endswith("- todo_rope\n\n\n\n")
        assert "- [x] [P0] Choose the strike time.\n" in rendering.markdown
        assert "- [ ] [P2] Clean the bell.\n" in rendering.markdown
        for role in ("user", "agent"):
            assert f"role={role} provider_revision=rev-7 records_sha256={rendering.section_record_sha256[role]}" in (
                rendering.markdown
            )
        assert not render(rendering.markdown, records, "rev-7").changed
