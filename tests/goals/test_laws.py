"""Laws of reading, searched for counterexamples."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readings import everything
from stateward_engine.errors import UnsafeDocument
from stateward_engine.goals.codes import CODES
from stateward_engine.goals.document import GoalDocument, read_document
from stateward_engine.goals.fields import FIELDS, TODO_ID, decode_value, read_field
from stateward_engine.goals.items import SHOWN_FIELDS
from stateward_engine.goals.lines import Span, decode_document, split_lines
from stateward_engine.goals.todo_codec import read_metadata, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.property
# The same examples in every run, few enough for every run, and no deadline that a busy machine could miss.
law = settings(max_examples=40, derandomize=True, deadline=None)

FRAGMENTS = (
    *("", " ", "---", "...", "status: active", "```", "~~~~", "   ````", "<!--", "-->", "<!-- one line -->", "  "),
    *("# Goal", "## ", "## Next Action", "## Agent Todo", "## User Todo", "### Notes", "## Completed Work Archive"),
    *("- [ ] task", "- [x] [P1] done", "  - [-] nested", "- [~] odd", "- [ ]  ", "* [ ] 任务\u3000文字", "- plain"),
    *("  <!-- loopx:todo todo_id=todo_one status=done -->", "<!-- loopx:todo todo_id=todo_two -->", "  words", "prose"),
    *("  <!-- loopx:todo todo_id=todo_one note=%E9%A2%84 claimed_by=kiro -->", "\tmore\u2028words", "word\x0b\x85word"),
    *(f"<!-- loopx:todo-region-v0 role={role} {edge} -->" for role in ("user", "agent") for edge in ("begin", "end")),
)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=12)
line_texts = st.sampled_from(FRAGMENTS) | texts
terminators = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])
whole_lines = st.lists(st.tuples(line_texts, terminators).map("".join), max_size=24).map("".join)
documents = st.builds("{}{}{}".format, st.sampled_from(["", "", "\ufeff"]), whole_lines, line_texts)
words = st.text("abc xyz.", min_size=1).map("prose {}".format)

BODY = "## Agent Todo\n- [ ] a\n  <!-- loopx:todo todo_id=todo_aaa -->\n## Next Action\n- go\n"
SOUND = f"---\nstatus: active\n---\n{BODY}"
VALUES = (
    *("TRUE", "0", "Todo_Abc", "Open", "kiro,B b", "Direction:goal:X", "PR_merged:A/b#7", "src/**;docs|src/**"),
    *(
        "resume_at:2026-07-01T08:00:00.5+08:00",
        "Ns:Name",
        "replan-0123456789abcdef",
        "Net Work,shell",
        "note of any kind",
    ),
)


def spans(document: GoalDocument) -> Iterator[Span]:
    for problem in document.problems:
        yield problem.span
        yield from (span for span, _ in problem.related)
    for todo in document.todos:
        yield from (todo.span, todo.extent)
        if todo.id_span:
            yield todo.id_span
    yield from (heading.span for heading in document.headings)


class TestLines:
    """Lines end at LF, CRLF or CR and at nothing else, and keep their terminators so that bytes can be copied."""

    @law
    @given(documents)
    def test_the_parts_are_the_text(self, text: str) -> None:
        lines = split_lines(text)

        assert lines.mark + "".join(line.text + line.terminator for line in lines) == text
        assert all(not re.search(r"[\r\n]", line.text) for line in lines)
        assert all(line.terminator for line in list(lines)[:-1])

    @law
    @given(documents)
    def test_offsets_and_numbers_agree(self, text: str) -> None:
        lines = split_lines(text)

        for number, line in enumerate(lines, start=1):
            assert line.number == number
            assert text[slice(*line.span)] == line.text
            assert lines.index_at(line.start) == lines.index_at(line.span[1]) == number - 1

    @law
    @given(documents)
    def test_decoding_keeps_every_byte(self, text: str) -> None:
        assert decode_document(text.encode()).encode() == text.encode()


class TestDecoding:
    """A file that is not UTF-8 is refused untouched (LX-148, the reading half)."""

    @law
    @given(documents, st.sampled_from([b"\xd6\xd0", b"\xff", b"\xe6\x88", b"\xed\xa0\x80", b"\xc0\xaf"]))
    def test_the_refusal_names_line_and_byte(self, text: str, bad: bytes) -> None:
        before = f"{text}.".encode()
        with pytest.raises(UnsafeDocument) as raised:
            decode_document(before + bad)

        refusal = raised.value
        assert (refusal.kind, refusal.byte_offset) == ("not_utf8", len(before))
        assert refusal.line == len(split_lines(f"{text}."))


class TestReading:
    """The projection is recomputable, and a document is read or refused, never misread."""

    @law
    @given(documents)
    def test_spans_lie_within_the_text(self, text: str) -> None:
        assert all(0 <= start <= end <= len(text) for start, end in spans(read_document(text)))

    @law
    @given(documents)
    def test_reading_twice_gives_the_same(self, text: str) -> None:
        """Row LX-002."""
        assert everything(read_document(text)) == everything(read_document(text))

    @law
    @given(documents)
    def test_a_document_is_projected_or_refused(self, text: str) -> None:
        document = read_document(text)
        codes = {problem.code for problem in document.problems}

        assert (document.projection is None) == (document.refusal is not None)
        assert document.refusal is None or document.refusal.kind in codes
        assert codes <= CODES.keys()
        assert all(problem.message[0].islower() and problem.message[-1] != "." for problem in document.problems)
        assert document.projection is None or json.loads(json.dumps(document.projection)) == document.projection

    @law
    @given(documents)
    def test_a_refusal_names_the_first_byte_of_its_line(self, text: str) -> None:
        document = read_document(text)

        if document.refusal:
            line = document.lines[document.refusal.line - 1]
            assert document.refusal.byte_offset == len(text[: line.start].encode())

    @law
    @given(documents)
    def test_every_id_fits_the_grammar(self, text: str) -> None:
        """Rows LX-025 and LX-026."""
        document = read_document(text)

        for todo in document.todos:
            assert TODO_ID.fullmatch(todo.todo_id)
            assert (todo.id_span is None) == (todo.todo_id_source == "generated")
            assert todo.id_span is None or text[slice(*todo.id_span)].lower() == todo.todo_id

    @law
    @given(documents)
    def test_archived_rows_never_enter_the_projection(self, text: str) -> None:
        document = read_document(text)
        projection: Any = document.projection

        if projection:
            active = sum(not todo.archived for todo in document.todos)
            assert sum(group["total_count"] for group in projection["todos"].values()) == active

    @law
    @given(whole_lines)
    def test_line_ends_and_a_mark_change_no_meaning(self, text: str) -> None:
        """One leading byte-order mark is skipped, and each of the three terminators ends a line."""
        plain = text.replace("\r\n", "\n").replace("\r", "\n")

        for terminator in ("\r\n", "\r"):
            other = read_document("\ufeff" + plain.replace("\n", terminator))
            assert other.projection == read_document(plain).projection

    def test_half_a_character_in_a_buffer_makes_nothing_fail(self) -> None:
        row = read_document("## Agent Todo\n- [ ] \ud800\n  <!-- loopx:todo note=\ud800%20 -->\n").todos[0]
        refusal = read_document("\ud800\n<!-- loopx:todo-region-v0 -->").refusal

        assert TODO_ID.fullmatch(row.todo_id)
        assert refusal is not None
        assert refusal.byte_offset == 4


class TestVisibleDocument:
    """Fenced examples, frontmatter and comments of several lines cannot supply tasks or edit anchors (LX-072)."""

    @law
    @given(whole_lines, words)
    def test_prose_behind_the_end_loses_no_row(self, text: str, prose: str) -> None:
        before, after = read_document(text), read_document(f"{text}\n{prose}\n")

        assert [todo.todo_id for todo in after.todos] == [todo.todo_id for todo in before.todos]

    @law
    @given(whole_lines)
    def test_a_fence_supplies_nothing(self, text: str) -> None:
        hidden = f"{SOUND}~~~~~~~~~~~~\n{text}\n~~~~~~~~~~~~\n"

        assert read_document(hidden).projection == read_document(SOUND).projection
        assert len(read_document(hidden).regions) == 1

    @law
    @given(whole_lines)
    def test_a_comment_supplies_nothing(self, text: str) -> None:
        inside = text.replace(">", "")
        hidden = f"{SOUND}<!--\n{inside}\n-->\n"

        assert read_document(hidden).projection == read_document(SOUND).projection

    @law
    @given(whole_lines)
    def test_frontmatter_supplies_nothing(self, text: str) -> None:
        inside = text.replace("-", "").replace(".", "")
        document = read_document(f"---\n{inside}\n---\n{BODY}")

        assert document.todos[0].todo_id == "todo_aaa"
        assert (len(document.todos), len(document.headings)) == (1, 2)


class TestMetadata:
    """A value is right or absent."""

    alphabet = st.sampled_from([*"%20EaB=<>;,| /:.-_~#@", "todo_", "status=", "note=", "todo_id=todo_abc", "é"])
    raws = st.lists(alphabet, max_size=12).map("".join)

    @law
    @given(raws)
    def test_decoding_is_percent_decoding(self, raw: str) -> None:
        token = "".join(raw.split())

        assert decode_value(token) == " ".join(unquote(token).split())

    @law
    @given(raws)
    def test_lines_are_read_by_the_token_grammar(self, body: str) -> None:
        """`key=value`, behind the start of the body or whitespace; whitespace or an angle bracket ends a value."""
        line = f"  <!-- loopx:{body} -->"
        pairs = ((token.key, read_field(token.key, token.value)) for token in tokens(line))

        assert read_metadata(line) == {key: value for key, value in pairs if value is not None}
        assert all(line.startswith(f"{token.key}={token.value}", token.at) for token in tokens(line))

    # Not of repositories: one that is named `x.git.git` loses a suffix at each reading.
    @settings(law, max_examples=300)
    @given(
        st.sampled_from(sorted(FIELDS.keys() - {"task_repository"})),
        st.text("aB9 _.:-@/todoresum,;|", max_size=24) | st.sampled_from(VALUES),
    )
    def test_what_was_read_reads_the_same(self, key: str, value: str) -> None:
        once = read_field(key, value.replace(" ", "%20"))

        if isinstance(once, str):
            assert read_field(key, once.replace(" ", "%20")) == once
        if isinstance(once, list) and all(isinstance(member, str) for member in once):
            assert read_field(key, ",".join(map(str, once))) == once

    def test_every_shown_field_can_be_read(self) -> None:
        assert set(SHOWN_FIELDS) <= FIELDS.keys()
        assert len(FIELDS) == 57
