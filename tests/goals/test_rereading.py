"""An edit reads again what it can influence, and the result is what reading the whole text gives."""

from __future__ import annotations

import os
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from readings import everything
from stateward_engine.goals import passages
from stateward_engine.goals.codes import CODES
from stateward_engine.goals.document import GoalDocument, read_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EDITS = int(os.environ.get("STATEWARD_GOAL_EDITS", "2000"))
# A walk begins anew so often: a document that was edited for long is mostly debris.
EDITS_PER_WALK = 50
EDITS_PER_DOCUMENT = 4
# How many characters a passage has in a walk: few, so that edits of a short document cross many borders.
SIZE_MAX, SIZE_MIN = 60, 30
# More, so that passages hold several rows.
LARGER_MAX, LARGER_MIN = 360, 180

LINES = (
    *("", " ", "---", "...", "status: active", "```", "~~~~", "   ````", "<!--", "-->", "<!-- one line -->", "  "),
    *("# Goal", "## ", "## Next Action", "## Agent Todo", "## User Todo", "### Notes", "## Completed Work Archive"),
    *("## Objective", "> to be read", "- [ ] task", "- [x] [P1] done", "  - [-] nested", "- [~] odd", "- [ ]  "),
    *("* [ ] 任务\u3000文字", "- plain", "1. numbered", "  words", "prose", "\tmore\u2028words", "word\x0b\x85word"),
    *("  <!-- loopx:todo todo_id=todo_one status=done -->", "<!-- loopx:todo todo_id=todo_two -->"),
    *("  <!-- loopx:todo todo_id=todo_one note=%E9%A2%84 claimed_by=kiro -->", "  <!-- loopx:todo role=user -->"),
    *(f"<!-- loopx:todo-region-v0 role={role} {edge} -->" for role in ("user", "agent") for edge in ("begin", "end")),
    *("<!-- loopx:todo-region-v0 ", "## <!-- loopx:todo-region-v0 ", "  <!-- loopx:todo-region-v0 role=user end -->"),
    "<!-- loopx:todo-section-projection-v0 role=user provider_revision=r1 -->",
)
# Lines that are told of, by themselves or for what stands around them.
BAD_LINES = (
    *(
        "<<<<<<< ours",
        "=======",
        ">>>>>>> theirs",
        "key: value",
        "1. [ ] numbered",
        "- [ ] a <!-- loopx:todo note=b -->",
    ),
    *("<!-- stateward: ignore implicit_todo_ids, not_a_todo_marker -->", "<!-- stateward: ignore metadata_wrapped -->"),
    *("  <!-- loopx:todo note=x", "  resume_when=todo_done:todo_two -->", "<!-- loopx:todo claimed_by=Kiro -->"),
    *("  <!-- loopx:todo status=open status=done color=red -->", "- [ ] b\n<!-- loopx:todo todo_id=todo_bare -->"),
    *(
        "  <!-- loopx:todo todo_id=todo_two unblocks_todo_id=todo_one -->",
        "  <!-- loopx:todo superseded_by=Todo_Lost -->",
    ),
    *("  <!-- loopx:todo todo_id=todo_one resume_when=todo_done:todo_two -->", "  <!-- loopx:todo status=maybe -->"),
)
PIECES = (*"-#` \t\n\r[x]>.:~a\ufeff\u2028", "\r\n", "\n\n", "- [ ] ", "  ", "## ", "```\n", "<!--", "-->", "---\n")
ROWS = "".join(f"- [ ] task {n}\n  <!-- loopx:todo todo_id=todo_row{n} -->\n" for n in range(9))
PARTS = (
    "---\nstatus: active\n---\n",
    "## Next Action\n- go\n  on\n",
    f"## Agent Todo\n{ROWS}",
    f"## User Todo\n{ROWS}",
)
ROW_LINES = (
    "- [ ] task",
    "- [x] [P1] done",
    "  - [-] nested",
    "- [ ]  ",
    "  words",
    "",
    "---",
    "## Notes",
    "```",
    "<!--",
)
# What others find in a document, or in the bytes of one.
SHOWN_BY_OTHERS = {
    *("not_utf8", "dangling_state_reference", "stale_projection", "edited_projection"),
    *("claim_without_lease", "expired_lease"),
}
REFERENCES = (
    "resume_when=todo_done:todo_row2",
    "unblocks_todo_id=todo_row1",
    "successor_todo_ids=todo_row7,todo_row8",
)
BEGIN, END = (f"<!-- loopx:todo-region-v0 role=agent {edge} -->\n" for edge in ("begin", "end"))
MARKED = f"## Agent Todo\n{BEGIN}{ROWS}{END}"


@dataclass(frozen=True)
class Edit:
    start: int
    end: int
    text: str

    def apply(self, text: str) -> str:
        return text[: self.start] + self.text + text[self.end :]

    def undo(self, text: str) -> Edit:
        return Edit(self.start, self.start + len(self.text), text[self.start : self.end])


def some_lines(drawn: random.Random, most: int) -> str:
    ends = drawn.choice(["\n", "\n", "\r\n", "\r"])
    lines = drawn.choice([LINES, LINES + BAD_LINES])
    return "".join(drawn.choice(lines) + ends for _ in range(drawn.randint(1, most)))


def some_document(drawn: random.Random) -> str:
    blocks = [drawn.choice([*PARTS, MARKED, some_lines(drawn, 6)]) for _ in range(drawn.randint(0, 5))]
    text = drawn.choice(["", "", PARTS[0], "\ufeff", "---\n"]) + "".join(blocks)
    return drawn.choice([text, text, text.replace("\n", "\r\n"), text.rstrip("\n")])


def some_edit(drawn: random.Random, text: str) -> Edit:
    """Return an edit as people and programs make them, at borders of lines more often than elsewhere."""
    starts = [0, len(text), *(at + 1 for at, character in enumerate(text) if character in "\r\n")]
    start = drawn.choice([drawn.choice(starts), drawn.randint(0, len(text))])
    kind = drawn.randrange(8)
    if kind < 3:
        return Edit(start, start, drawn.choice(PIECES))
    if kind < 4:
        return Edit(start, start, drawn.choice([some_lines(drawn, 4), ROWS[: drawn.randint(0, 99)], MARKED]))
    if kind < 6:
        return Edit(start, min(start + drawn.randint(1, 3), len(text)), drawn.choice(["", "", drawn.choice(PIECES)]))
    end = drawn.choice([drawn.choice(starts), min(start + drawn.randint(0, 80), len(text))])
    return Edit(min(start, end), max(start, end), drawn.choice(["", drawn.choice(LINES), some_lines(drawn, 2)]))


def some_row_edit(drawn: random.Random, text: str) -> Edit:
    """Return an edit that takes a row of two lines out of a text, puts one in, or lets one name others."""
    ids = list(re.finditer(r"todo_id=todo_row\d (?:\S+=\S+ )?", text))
    if ids and drawn.random() < 0.25:
        at, end = drawn.choice(ids).span()
        behind = text.index(" ", at) + 1
        return Edit(behind, end, drawn.choice(["", *(f"{reference} " for reference in REFERENCES)]))
    starts = [match.start() for match in re.finditer(r"^- \[", text, re.MULTILINE)]
    start = drawn.choice(starts) if starts else len(text)
    if starts and drawn.random() < 0.5:
        return Edit(start, text.find("-->\n", start) + len("-->\n"), "")
    missing = [name for name in map("todo_row{}".format, range(9)) if f"todo_id={name} " not in text]
    name = drawn.choice(missing or ["todo_row0"])
    return Edit(start, start, f"- [ ] task\n  <!-- loopx:todo todo_id={name} {drawn.choice(['', *REFERENCES])} -->\n")


def walk(
    seed: int,
    begin: Callable[[random.Random], str] = some_document,
    draw_edit: Callable[[random.Random, str], Edit] = some_edit,
) -> Iterator[tuple[GoalDocument, Edit, GoalDocument]]:
    """Yield each document of a walk, an edit of it, and what becomes of it."""
    drawn = random.Random(seed)
    document = read_document(begin(drawn))
    undo: list[Edit] = []
    for _ in range(EDITS_PER_WALK):
        undoes = bool(undo) and drawn.random() < 0.2
        edit = undo.pop() if undoes else draw_edit(drawn, document.text)
        if not undoes:
            undo.append(edit.undo(document.text))
        after = document.edit(edit.start, edit.end, edit.text)
        yield document, edit, after
        document = after


@pytest.fixture(autouse=True)
def short_passages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passages, "PASSAGE_SIZE_MAX", SIZE_MAX)
    monkeypatch.setattr(passages, "PASSAGE_SIZE_MIN", SIZE_MIN)
    monkeypatch.setattr(passages, "LONG_TEXT_SIZE", 0)


def test_an_edit_reads_what_the_whole_text_says() -> None:
    """Section 6 of goal documents: fences, comments, markers, frontmatter, CR LF, blocks that come and go, undo."""
    for seed in range(EDITS // EDITS_PER_WALK):
        for step, (document, edit, after) in enumerate(walk(seed)):
            text = edit.apply(document.text)
            assert everything(after) == everything(read_document(text)), (seed, step, document.text, edit)


def test_a_whole_text_that_replaces_another_is_an_edit() -> None:
    for seed in range(EDITS // EDITS_PER_WALK // 10):
        for document, edit, _ in walk(seed):
            text = edit.apply(document.text)
            assert everything(document.become(text)) == everything(read_document(text))


@pytest.mark.parametrize(("size_max", "size_min"), [(SIZE_MAX, SIZE_MIN), (LARGER_MAX, LARGER_MIN)])
def test_an_edit_of_a_document_with_problems_finds_them_all(
    size_max: int, size_min: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Problems are kept with what they are about, and told in their order, with what sets them aside."""
    monkeypatch.setattr(passages, "PASSAGE_SIZE_MAX", size_max)
    monkeypatch.setattr(passages, "PASSAGE_SIZE_MIN", size_min)
    codes: set[str] = set()
    for seed in range(EDITS // EDITS_PER_DOCUMENT):
        drawn = random.Random(seed)
        document = read_document(bad_text(drawn))
        for _ in range(EDITS_PER_DOCUMENT):
            edit = some_edit(drawn, document.text)
            after = document.edit(edit.start, edit.end, edit.text)
            assert after.problems == read_document(edit.apply(document.text)).problems, (seed, document.text, edit)
            codes |= {problem.code for problem in after.problems}
            document = after
    # Otherwise the comparison would say nothing.
    assert codes >= CODES.keys() - SHOWN_BY_OTHERS


def test_where_passages_end_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = random.Random(1)
    texts = [draw(drawn) for _ in range(EDITS // 20) for draw in (bad_text, some_document)]
    short = [everything(read_document(text)) for text in texts]
    monkeypatch.setattr(passages, "PASSAGE_SIZE_MAX", max(map(len, texts)))
    for text, found in zip(texts, short, strict=True):
        assert found == everything(read_document(text)), text


def test_an_edit_knows_what_is_referred_to() -> None:
    """Ids are counted by difference, for an edit and for another one of the same document."""
    for seed in range(EDITS // EDITS_PER_WALK // 4):
        drawn = random.Random(seed)
        for document, edit, after in walk(seed, quiet_text, some_row_edit):
            other = some_row_edit(drawn, document.text)
            for made, found in ((edit, after), (other, document.edit(other.start, other.end, other.text))):
                whole = read_document(made.apply(document.text))
                assert everything(found) == everything(whole), (seed, document.text, made)


def test_a_line_feed_joins_the_line_above_if_that_ends_with_a_carriage_return() -> None:
    document = read_document("\r" * 200 + "## End\r")
    for at in range(200):
        text = Edit(at, at, "\n").apply(document.text)
        assert everything(document.edit(at, at, "\n")) == everything(read_document(text))


def test_lines_that_are_all_alike_can_go() -> None:
    document = read_document("alike\n" * 60)
    for count in range(60):
        assert document.become("alike\n" * count).text == "alike\n" * count


def test_an_edit_reads_no_more_than_it_can_influence() -> None:
    text = f"{PARTS[0]}{PARTS[1]}{PARTS[2]}"
    before = read_document(text)
    for start in range(len(PARTS[0]), len(text)):
        after = before.edit(start, start, "x")

        assert len(set(after.layout.passages) - set(before.layout.passages)) <= 3


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("todo_row4", "todo_row3", "duplicate_todo_ids"),
        ("todo_id=todo_row4", "status=open", "implicit_todo_ids"),
        ("todo_row4", "todo_row4 resume_when=todo_done:todo_nobody", "dangling_todo_reference"),
        ("todo_row4", "todo_row4 unblocks_todo_id=todo_row4", "blocking_cycle"),
        ("todo_row4", "todo_row4 status=done", "marker_status_conflict"),
        ("- [ ] task 4", "- [~] task 4", "not_a_todo_marker"),
        ("- [ ] task 4", "  <!-- loopx:todo\n  claimed_by=kite -->\n- [ ] task 4", "metadata_wrapped"),
        ("- [ ] task 4", "```\n- [ ] task 4", "unclosed_fence"),
        ("- [ ] task 4", "## Agent Todo\n- [ ] task 4", "duplicate_todo_section"),
        ("- [ ] task 4", "## Notes\n- [ ] task 4", "todo_outside_region"),
    ],
)
def test_a_document_of_one_problem_is_searched(old: str, new: str, code: str) -> None:
    quiet = f"{PARTS[0]}{PARTS[1]}{PARTS[2]}"
    assert not read_document(quiet).problems

    assert {problem.code for problem in read_document(quiet.replace(old, new)).problems} == {code}


def test_the_head_of_a_long_passage_is_all_of_it() -> None:
    """A region that ends inside of a passage has all rows above its end, however long the passage has become."""
    rows = [f"- [ ] {letter * SIZE_MAX}\n" for letter in "ab"]
    passage = next(passages.read_passages("".join([*rows, *rows]), stops=[len(rows[0]) + 1]))

    assert [row.text[0] for row in passage.rows] == ["a", "b"]
    assert [row.text[0] for row in passage.head(passage.line_count).rows] == ["a", "b"]


def bad_text(drawn: random.Random) -> str:
    """Return a document with many problems."""
    lines = [drawn.choice([*BAD_LINES, *ROW_LINES]) for _ in range(drawn.randint(4, 16))]
    return f"{quiet_text(drawn)}## User Todo\n" + "\n".join(lines)


def quiet_text(drawn: random.Random) -> str:
    """Return a document in which some rows name others, mostly without a problem."""
    text = f"{PARTS[0]}{PARTS[1]}{drawn.choice([PARTS[2], MARKED])}## Notes\nprose\n"
    for row in drawn.sample(range(9), drawn.randint(0, 3)):
        text = text.replace(f"todo_row{row} ", f"todo_row{row} {drawn.choice(REFERENCES)} ")
    return text
