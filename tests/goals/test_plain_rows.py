"""Rows that one pattern takes say what they say when each of their lines is read by itself."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readings import everything
from stateward_engine.goals import passages
from stateward_engine.goals.document import read_document
from stateward_engine.goals.fields import FIELDS
from stateward_engine.goals.plain_rows import find_row, find_run

if TYPE_CHECKING:
    from collections.abc import Iterator

SOUND = {
    "todo_id": "todo_abc",
    "status": "open",
    "task_class": "blocker",
    "required_write_scopes": "src%2F%2A%2A,docs",
    "required_capabilities": "shell%2Cnetwork",
    "required_decision_scopes": "direction:action:target_1",
    "claimed_by": "agent.two:blue%40lab",
    "goal_bound": "false",
    "resume_when": "todo_done:todo_abc",
    "note": "%E5%A4%87%E6%B3%A8%20a%20%3Cb%3E%20%F0%9F%93%A6",
    "updated_at": "2026-06-01T00:00:00%2B08:00",
}
# Pieces of values: letters, what separates members, and escapes that are none, no character, or space.
PIECES = (
    *("a", "A", "todo_abc", "1", "-", "_", ".", "..", "/", "~", "*", "@", ":", ",", ";", "|", "#", "=", "+", '"', "é"),
    *("%20", "%2C", "%2F", "%40", "%41", "%25", "%3E", "%0A", "%7F", "%zz", "%", "%2", "%e5%a4%87", "%E5%A4%87"),
    *("%C2%85", "%C2%A0", "%E1%9A%80", "%E2%80%83", "%E3%80%80", "%EF%BF%BD", "%ED%A0%80", "%F0%9F%93%A6", "%FF"),
    *("\u3000", "\ufffd", "\x85", "\x1f", "<", ">", "--", "shell", "git:host/a", "direction:action:x", "true"),
)
values = st.lists(st.sampled_from(PIECES), min_size=0, max_size=4).map("".join)
keys = st.sampled_from([*FIELDS, "color"])
tokens = st.tuples(keys, values | st.sampled_from(sorted(SOUND.values()))).map("=".join)
texts = st.sampled_from(
    ["a", "[P1] do a", " ", "", "a < b", "a <!-- b -->", "x\u2028y", "\u3000", "a  b ", "\x1c", "- [ ] c"]
)


@st.composite
def rows(draw: st.DrawFn) -> str:
    """Return a row that is plain, or nearly so."""
    fields = dict(SOUND, todo_id=f"todo_row{draw(st.integers(0, 20))}")
    for key in draw(st.lists(st.sampled_from(sorted(SOUND)), max_size=8)):
        fields.pop(key, None)
    words = [f"{key}={value}" for key, value in fields.items()]
    if draw(st.integers(0, 2)) == 0:
        words.insert(draw(st.integers(0, len(words))), draw(tokens))
    if draw(st.integers(0, 9)) == 0:
        words = draw(st.permutations(words))
    word = draw(st.sampled_from([*["todo"] * 9, "", "todo "]))
    end = draw(st.sampled_from(["\n"] * 8 + ["\r\n"] * 4 + ["\r", "\n\n", "\n \n"]))
    box = draw(st.sampled_from("   xX-~"))
    metadata = f"  <!-- loopx:{word} {' '.join(words)} -->{end}" if draw(st.integers(0, 9)) else ""
    return f"- [{box}] {draw(texts)}{end}{metadata}"


others = st.sampled_from(["prose\n", "  more\n", "\n", "```\n", "<!-- loopx:todo note=a -->\n", "## Notes\n", "---\n"])


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Read without some of the patterns."""
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(patch.object(passages, name, lambda *_: None))
        yield


class TestPatterns:
    @settings(max_examples=300, derandomize=True, deadline=None)
    @given(st.lists(rows() | others, max_size=12).map("".join))
    def test_what_they_take_is_what_the_lines_say(self, text: str) -> None:
        document = f"---\na: b\n---\n## Next Action\n- go\n## Agent Todo\n{text}"
        with without("find_run", "find_row"):
            slow = everything(read_document(document))
        with patch.object(passages, "LONG_TEXT_SIZE", 0):
            assert everything(read_document(document)) == slow
            with without("find_run"):
                assert everything(read_document(document)) == slow

    @pytest.mark.parametrize("newline", ["\n", "\r\n"])
    def test_rows_as_programs_write_them_are_plain(self, newline: str) -> None:
        body = " ".join(f"{key}={value}" for key, value in SOUND.items())
        text = f"- [ ] Repair <it>{newline}  <!-- loopx:todo {body} -->{newline}" * 9

        run = find_run(text, 0, len(text), 0)

        # The last one may go on below.
        assert run
        assert (run.sound, run.refers, len(run.ids), run.line_count, run.open_count) == (True, True, 8, 16, 8)

    def test_a_field_may_stand_anywhere_in_a_simple_row(self) -> None:
        text = "- [x] a\n  <!-- loopx:todo status=done colour=red todo_id=todo_abc -->\n\n- [ ] b\n"

        assert find_run(text, 0, len(text), 0) is None
        assert (simple := find_row(text, 0, 4))
        assert (simple.row.odd, simple.row.id_line, simple.line_count, simple.end) == (True, 5, 3, text.index("- [ ]"))


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] " + "a<" * 30_000,
        "- [ ] a\n  <!-- loopx:todo " + "todo_id=todo_abc " * 30_000,
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_abc note=" + "a%20" * 30_000,
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_abc -->\n" + "\n" * 60_000,
    ],
)
def test_a_long_row_takes_time_that_grows_with_its_length(line: str) -> None:
    """A pattern that tried each way to read a line would take minutes here."""
    assert read_document(f"## Agent Todo\n{line}\nprose\n").regions
