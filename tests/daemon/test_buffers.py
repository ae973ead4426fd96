"""Buffers: the daemon's text is the editor's, byte for byte, whatever it counts in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types as lsp

from bench import goals
from readings import everything
from stateward_daemon.lsp.buffers import Buffer
from stateward_daemon.lsp.client import Client
from stateward_daemon.lsp.diagnostics import diagnostic
from stateward_daemon.lsp.reading import text_digest
from stateward_daemon.positions import Encoding, LineIndex
from stateward_engine.goals.document import read_document

CASE = Path(__file__).parents[1] / "conformance/field_cases/36-utf16-positions-and-incremental-edits"
URI = "file:///w/ACTIVE_GOAL_STATE.md"

# Several passages.
LONG = goals.document(200)
# A place and what is put there; no place for a whole text.
Edited: TypeAlias = tuple[tuple[tuple[int, int], tuple[int, int]] | None, str]
LINES = st.integers(0, LONG.count("\n") + 2)
PLACES = st.tuples(st.tuples(LINES, st.integers(0, 40)), st.integers(0, 3), st.integers(0, 40)).map(
    lambda drawn: (drawn[0], (drawn[0][0] + drawn[1], drawn[2]))
)
NEARLY_ALL = st.just(((3, 0), (LONG.count("\n") - 3, 0)))
WRITTEN = st.sampled_from(
    ["", "x", "\n", "🌊", "\r\n", "- [ ] a row\n", "## Agent Todo\n", "<!--", "```\n", "$cwd.tactics"]
)
EDITS: st.SearchStrategy[Edited] = st.one_of(
    st.tuples(PLACES, WRITTEN),
    st.tuples(PLACES, WRITTEN),
    st.tuples(NEARLY_ALL, WRITTEN),
    st.tuples(st.none(), st.just(LONG)),
)

TEXTS = st.text(st.sampled_from("ab 🌊𐐀核é\r\n\v\x85\u2028"), max_size=30)


def partial(text: str, start: tuple[int, int], end: tuple[int, int]) -> lsp.TextDocumentContentChangePartial:
    return lsp.TextDocumentContentChangePartial(lsp.Range(lsp.Position(*start), lsp.Position(*end)), text)


def whole(text: str) -> lsp.TextDocumentContentChangeWholeDocument:
    return lsp.TextDocumentContentChangeWholeDocument(text)


def opened(text: str, encoding: Encoding = Encoding.UTF_16, on_disk: str | None = None) -> Buffer:
    return Buffer(URI, Path("/w/ACTIVE_GOAL_STATE.md"), encoding, 1, text, on_disk=on_disk)


def after(text: str, *changes: lsp.TextDocumentContentChangeEvent) -> str:
    """Return a text as the edits of one notification leave it."""
    buffer = opened(text)
    buffer.edit(changes, 2)
    return buffer.text


class TestTextSync:
    """LSP, text document synchronization: after each notification the server has the text of the client."""

    @settings(max_examples=60, derandomize=True)
    @given(TEXTS, st.sampled_from(list(Encoding)), st.data())
    def test_edits_are_splices_of_code_points(self, text: str, encoding: Encoding, data: st.DataObject) -> None:
        expected = text
        changes: list[lsp.TextDocumentContentChangeEvent] = []
        for _ in range(data.draw(st.integers(1, 4))):
            index = LineIndex(expected)
            # A client names places between characters, and none between CR and LF.
            places = [at for at in range(len(expected) + 1) if expected[at - 1 : at + 1] != "\r\n"]
            start, end = sorted(data.draw(st.tuples(st.sampled_from(places), st.sampled_from(places))))
            inserted = data.draw(TEXTS)
            changes.append(partial(inserted, index.position(start, encoding), index.position(end, encoding)))
            expected = expected[:start] + inserted + expected[end:]

        buffer = opened(text, encoding)
        buffer.edit(changes, 2)
        assert buffer.text == expected

    @settings(max_examples=100, derandomize=True, deadline=None)
    @given(st.lists(st.lists(EDITS, max_size=3), max_size=9), st.sampled_from(list(Encoding)), st.data())
    def test_what_is_read_is_what_the_text_says_whenever_it_is_read(
        self, notifications: list[list[Edited]], encoding: Encoding, data: st.DataObject
    ) -> None:
        """Whether few edits came since the last reading, many, edits far apart, or another text."""
        buffer = opened(LONG, encoding)
        for version, edits in enumerate(notifications, 2):
            buffer.edit([whole(text) if place is None else partial(text, *place) for place, text in edits], version)
            if data.draw(st.booleans()):
                assert buffer.reading().version == version

        assert everything(buffer.reading().goal) == everything(read_document(buffer.text))
        assert found(buffer) == found(opened(buffer.text, encoding))

    def test_a_change_without_a_range_is_the_whole_text(self) -> None:
        changes: list[lsp.TextDocumentContentChangeEvent] = [
            partial("X", (0, 0), (0, 1)),
            whole("new\n"),
            partial("!", (0, 3), (0, 3)),
        ]

        assert after("old", *changes) == "new!\n"

    def test_a_range_the_wrong_way_round_deletes_nothing(self) -> None:
        assert after("abc", partial("X", (0, 2), (0, 1))) == "abXc"


@pytest.mark.parametrize("encoding", list(Encoding))
def test_field_case_36(encoding: Encoding) -> None:
    """Positions on lines with emoji and Chinese text, in the units of the case and in those of other clients."""
    checks = json.loads((CASE / "expect.md").read_text("utf-8").split("```json checks\n")[1].split("```")[0])
    steps = json.loads((CASE / "requests.json").read_text("utf-8"))["steps"]
    buffer = opened((CASE / "input.md").read_text("utf-8"), encoding)

    assert codes(buffer, "Error") == checks["errors_v1"] * 2
    assert codes(buffer, "Warning") == checks["warnings_v1"]
    place = next(item.range for item in found(buffer) if item.code == "implicit_todo_ids")
    length = {"utf-8": checks["utf8_len"], "utf-16": checks["utf16_len"], "utf-32": checks["code_points"]}[encoding]
    assert (place.start.line, place.end.line, place.end.character) == (checks["line"], checks["line"], length)

    for step in steps[2:]:
        buffer.edit([in_units(change, buffer) for change in step["contentChanges"]], step["version"])
    assert codes(buffer, "Warning") == checks["warnings_v2"]
    assert buffer.text.split("\n")[checks["line"]] == checks["after_v3_line"]
    assert buffer.text.split("\n")[checks["line"] + 1] == "  <!-- loopx:todo todo_id=todo_port status=open -->"
    assert buffer.reading().version == buffer.version == 3


def in_units(change: dict[str, Any], buffer: Buffer) -> lsp.TextDocumentContentChangePartial:
    """Return a change of the case, which counts UTF-16, in the units of the buffer."""
    # The second edit of a notification is about the text after the first; here both stand on one line before any other
    # that differs, so their places are the same in the text before.
    index = LineIndex(buffer.text)
    edge = [
        index.position(index.offset(at["line"], at["character"], Encoding.UTF_16), buffer.encoding)
        for at in (change["range"]["start"], change["range"]["end"])
    ]
    return partial(change["text"], edge[0], edge[1])


def found(buffer: Buffer) -> list[lsp.Diagnostic]:
    reading = buffer.reading()
    return [diagnostic(problem, reading, URI, Client(shows_related=True)) for problem in reading.goal.problems]


def codes(buffer: Buffer, severity: str) -> list[Any]:
    return [item.code for item in found(buffer) if item.severity == lsp.DiagnosticSeverity[severity]]


class TestOutsideChanges:
    """A clean buffer follows the file until the editor speaks again; a dirty one keeps its own text."""

    def test_a_clean_buffer_follows_the_file_however_often_it_changes(self) -> None:
        buffer = opened("one", on_disk=text_digest("one"))

        assert buffer.file_changed(text_digest("two"))
        assert buffer.follows_file
        assert buffer.file_changed(text_digest("three"))
        assert buffer.follows_file

    def test_it_is_itself_again_when_the_editor_loads_the_file(self) -> None:
        buffer = opened("one", on_disk=text_digest("one"))
        buffer.file_changed(text_digest("two"))

        buffer.edit([whole("two")], 2)
        assert not buffer.follows_file
        # And it is clean, so that the next change is followed too.
        assert buffer.file_changed(text_digest("three"))
        assert buffer.follows_file

    def test_one_that_loads_a_file_while_the_next_is_saved_is_still_clean(self) -> None:
        buffer = opened("one", on_disk=text_digest("one"))
        buffer.file_changed(text_digest("two"))
        buffer.file_changed(text_digest("three"))
        buffer.edit([whole("two")], 2)

        assert buffer.follows_file
        assert not buffer.is_unsaved
        buffer.edit([whole("two, typed")], 3)
        assert not buffer.follows_file
        assert buffer.is_unsaved

    def test_a_dirty_buffer_keeps_its_own(self) -> None:
        buffer = opened("one", on_disk=text_digest("one"))
        buffer.edit([whole("one, edited")], 2)

        assert not buffer.file_changed(text_digest("two"))
        assert not buffer.follows_file

    def test_its_own_save_is_no_outside_change(self) -> None:
        buffer = opened("one", on_disk=text_digest("one"))
        buffer.edit([whole("two")], 2)

        assert not buffer.file_changed(text_digest("two"))
        assert not buffer.saved(text_digest("two"))
        assert buffer.file_changed(text_digest("three"))

    def test_a_save_that_somebody_overtook_follows_the_file(self) -> None:
        """By the time the client's `didSave` is handled, another program may have written over it."""
        buffer = opened("one", on_disk=text_digest("one"))
        buffer.edit([whole("two")], 2)

        assert buffer.saved(text_digest("three"))
        assert buffer.follows_file

    def test_a_file_with_the_same_text_again_is_not_followed(self) -> None:
        buffer = opened("one", on_disk=text_digest("one"))
        buffer.file_changed(text_digest("two"))

        assert buffer.file_changed(text_digest("one"))
        assert not buffer.follows_file

    def test_a_byte_order_mark_makes_no_difference(self) -> None:
        buffer = opened("one", on_disk=text_digest("\ufeffone"))

        assert buffer.file_changed(text_digest("\ufefftwo"))
        assert buffer.follows_file
