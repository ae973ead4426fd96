"""What a document is made of, as editors show it: colors, folds, links, and symbols of all goals.

editors.md section 1; features.md DM-001.
"""

from __future__ import annotations

import asyncio
from array import array
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editor import Editor, save
from stateward_daemon.lsp.coloring import LEGEND, difference, token_numbers
from stateward_daemon.lsp.features import text_document_document_link, workspace_symbol
from stateward_daemon.lsp.reading import Reading
from stateward_daemon.positions import Encoding, LineIndex
from stateward_engine.goals.document import read_document
from stateward_engine.goals.passages import PASSAGE_SIZE_MAX

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

NAME: Final = "ACTIVE_GOAL_STATE.md"
URI: Final = f"file:///w/{NAME}"
TEXT: Final = """\
---
status: active
---
# Optics 🌊 $cwd.lazy.plan

See 🌊 todo_lens and $cwd.lazy.plan[0].

```
# no heading todo_lens
```

- [ ] no todo here

## Agent Todo
<!-- loopx:todo-region-v0 role=agent begin -->

- [x] [P1] Grind $session.tactics.one
  <!-- loopx:todo todo_id=todo_lens status=done color=red resume_monitor_generation=3 no_followup=true -->
- [ ] More
  <!-- loopx:todo todo_id=todo_more claimed_by=kiro resume_when=todo_done:todo_lens note=as%20todo_lens -->
<!-- loopx:todo-region-v0 role=agent end -->
"""
# Lines that a document can be made of, in any order.
LINES: Final = st.lists(
    st.sampled_from(
        [
            *TEXT.splitlines(),
            *("## User Todo", "## ", "- [ ] \u2028é todo_xyz, todo_xyz", "\t- [-] [p0] deep", "  more $lazy.é $lazy.x"),
            *(
                "<!--",
                "-->",
                "  <!-- loopx:todo todo_id=🌊 note=$lazy.x,todo_abc$lazy.y -->",
                "🌊🌊 todo_abc",
                "#",
                " ",
            ),
            *("  <!-- loopx: -->", "<!-- loopx:todo note=x -->", "- [ ] todo_done:todo_abc", "\x0b# x"),
        ]
    ),
    max_size=30,
)
ENDS: Final = st.sampled_from(["\n", "\r\n", "\r"])


@pytest.fixture
async def editor() -> AsyncIterator[Editor]:
    async with Editor() as editor:
        yield editor


def about(editor: Editor, what: str, uri: str = URI, **params: Any) -> Any:
    return editor.result(f"textDocument/{what}", textDocument={"uri": uri}, **params)


def at(line: int) -> dict[str, int]:
    return {"line": line, "character": 0}


def tokens(text: str, numbers: Any, encoding: Encoding, shift: int = 0) -> list[tuple[str, str, int]]:
    """What each token is of, with its type and modifiers."""
    found, line, left = [], 0, 0
    index = LineIndex(text)
    for behind, right, size, kind, modifiers in zip(*(iter(numbers),) * 5, strict=True):
        line, left = line + behind, right if behind else left + right
        start, end = (index.offset(line, at - shift * (line == 0), encoding) for at in (left, left + size))
        found.append((text[start:end], LEGEND.token_types[kind], modifiers))
    return found


class TestColors:
    """Semantic tokens: ids, statuses, markers, references."""

    @pytest.mark.parametrize("encoding", list(Encoding))
    async def test_what_has_a_meaning_has_a_color(self, editor: Editor, encoding: Encoding) -> None:
        editor.initialize({"general": {"positionEncodings": [encoding]}})
        editor.open(URI, TEXT)
        found = tokens(TEXT, about(editor, "semanticTokens/full")["data"], encoding)

        assert found == [
            ("# Optics 🌊 $cwd.lazy.plan", "namespace", 0),
            ("todo_lens", "variable", 0),
            ("$cwd.lazy.plan[0]", "type", 0),
            ("## Agent Todo", "namespace", 0),
            ("<!-- loopx:todo-region-v0 role=agent begin -->", "macro", 0),
            ("[x]", "keyword", 0),
            ("[P1]", "decorator", 0),
            ("$session.tactics.one", "type", 0),
            ("todo_id", "property", 0),
            ("todo_lens", "variable", 1),
            ("status", "property", 0),
            ("done", "enumMember", 0),
            ("resume_monitor_generation", "property", 0),
            ("3", "number", 0),
            ("no_followup", "property", 0),
            ("true", "enumMember", 0),
            ("[ ]", "keyword", 0),
            ("todo_id", "property", 0),
            ("todo_more", "variable", 1),
            ("claimed_by", "property", 0),
            ("kiro", "string", 0),
            ("resume_when", "property", 0),
            ("todo_done:", "string", 0),
            ("todo_lens", "variable", 0),
            ("note", "property", 0),
            ("as%20", "string", 0),
            ("todo_lens", "variable", 0),
            ("<!-- loopx:todo-region-v0 role=agent end -->", "macro", 0),
        ]

    async def test_the_legend_is_announced_with_all_that_can_be_asked(self, editor: Editor) -> None:
        can = {"textDocument": {"semanticTokens": {"requests": {"full": {"delta": True}}}}}
        announced = editor.initialize(can)["semanticTokensProvider"]

        assert announced["full"] == {"delta": True}
        assert announced["range"] is True
        assert announced["legend"]["tokenModifiers"] == ["declaration"]

    async def test_what_has_changed_is_announced_to_whom_takes_it(self, editor: Editor) -> None:
        can = {"textDocument": {"semanticTokens": {"requests": {"full": True}}}}

        assert editor.initialize(can)["semanticTokensProvider"]["full"] is True

    @pytest.mark.parametrize("encoding", list(Encoding))
    async def test_a_mark_in_front_of_a_buffer_counts_as_its_client_counts_it(
        self, editor: Editor, encoding: Encoding
    ) -> None:
        editor.initialize({"general": {"positionEncodings": [encoding]}})
        editor.open(URI, "\ufeff# a\n# b\n")

        first, second = about(editor, "semanticTokens/full")["data"][1::5]
        assert (first, second) == (3 if encoding is Encoding.UTF_8 else 1, 0)

    async def test_what_has_changed_is_one_edit(self, editor: Editor) -> None:
        editor.initialize()
        editor.open(URI, TEXT)
        before = about(editor, "semanticTokens/full")
        change = {"range": {"start": at(5), "end": at(5)}, "text": "$lazy.new\n\n"}
        editor.change(URI, 2, change)
        delta = about(editor, "semanticTokens/full/delta", previousResultId=before["resultId"])
        data = before["data"]
        for edit in delta["edits"]:
            data[edit["start"] : edit["start"] + edit["deleteCount"]] = edit["data"]

        assert data == about(editor, "semanticTokens/full")["data"]
        assert [len(edit["data"]) for edit in delta["edits"]] == [5]

    async def test_nothing_changed_is_no_edit(self, editor: Editor) -> None:
        editor.initialize()
        editor.open(URI, TEXT)
        before = about(editor, "semanticTokens/full")["resultId"]

        assert about(editor, "semanticTokens/full/delta", previousResultId=before)["edits"] == []

    async def test_who_has_old_tokens_gets_all(self, editor: Editor) -> None:
        editor.initialize()
        editor.open(URI, TEXT)
        about(editor, "semanticTokens/full")

        assert "data" in about(editor, "semanticTokens/full/delta", previousResultId="other")

    async def test_a_file_that_is_not_open_has_colors_too(self, editor: Editor, tmp_path: Path) -> None:
        editor.initialize()
        path = tmp_path / NAME
        save(path, TEXT)
        found = about(editor, "semanticTokens/full", path.as_uri())

        assert "resultId" not in found
        assert about(editor, "semanticTokens/full/delta", path.as_uri(), previousResultId="1")["data"] == found["data"]
        assert about(editor, "semanticTokens/full", "file:///w/README.md") is None

    async def test_a_range_of_a_long_document_is_that_and_little_more(self, editor: Editor) -> None:
        rows = "".join(f"- [ ] row\n  <!-- loopx:todo todo_id=todo_{n:04} -->\n" for n in range(4000))
        text = f"## Agent Todo\n{rows}"
        editor.initialize()
        editor.open(URI, text)
        every = tokens(text, about(editor, "semanticTokens/full")["data"], Encoding.UTF_16)
        asked = {"start": at(4001), "end": at(4003)}
        some = tokens(text, about(editor, "semanticTokens/range", range=asked)["data"], Encoding.UTF_16)

        start = every.index(some[2]) - 2
        assert every[start : start + len(some)] == some
        assert {("todo_1999", "variable", 1), ("todo_2000", "variable", 1)} < set(some)
        assert len(some) < 4 * PASSAGE_SIZE_MAX // len("- [ ] row\n")
        whole = {"start": at(0), "end": at(9999)}
        assert tokens(text, about(editor, "semanticTokens/range", range=whole)["data"], Encoding.UTF_16) == every


class TestColorLaws:
    """Tokens are in order, do not overlap, and stay inside of their lines."""

    @given(LINES, ENDS, st.sampled_from(list(Encoding)), st.sampled_from(["", "\ufeff"]))
    def test_tokens_are_ordered_apart_and_of_one_line(
        self, lines: list[str], end: str, encoding: Encoding, mark: str
    ) -> None:
        text = mark + end.join(lines)
        document = read_document(text)
        numbers = token_numbers(Reading(document, encoding, 1))
        index, before = LineIndex(text), (0, 0)
        line = left = 0
        for behind, right, size, kind, modifiers in zip(*(iter(numbers),) * 5, strict=True):
            line, left = line + behind, right if behind else left + right
            start, stop = index.offset(line, left, encoding), index.offset(line, left + size, encoding)
            assert size > 0
            assert (line, left) >= before
            assert index.position(start, encoding) == (line, left)
            assert index.position(stop, encoding) == (line, left + size)
            assert kind < len(LEGEND.token_types)
            assert modifiers in (0, 1)
            before = line, left + size

    @given(LINES, LINES)
    def test_an_edited_document_has_the_colors_of_its_text(self, first: list[str], second: list[str]) -> None:
        before, after = "\n".join(first), "\n".join(second)
        edited = read_document(before).become(after)
        whole = token_numbers(Reading(read_document(after), Encoding.UTF_16, 1))

        assert token_numbers(Reading(edited, Encoding.UTF_16, 1)) == whole

    @given(*(st.lists(st.sampled_from([(1, 0, 3, 0, 0), (0, 4, 2, 1, 0)])) for _ in range(2)))
    def test_the_difference_makes_one_of_the_other(self, first: list[Any], second: list[Any]) -> None:
        before, after = (array("I", [n for token in tokens for n in token]) for tokens in (first, second))
        edit = difference(before, after)
        if edit is None:
            assert before == after
        else:
            start, gone, come = edit
            assert start % 5 == gone % 5 == len(come) % 5 == 0
            assert before[:start] + come + before[start + gone :] == after


class TestFolds:
    """Folding: sections, metadata, machine regions, and what is hidden."""

    def folds(self, editor: Editor, text: str = TEXT) -> list[tuple[int, int, str | None]]:
        editor.open(URI, text)
        return [(f["startLine"], f["endLine"], f.get("kind")) for f in about(editor, "foldingRange")]

    async def test_sections_regions_rows_and_hidden_blocks_fold(self, editor: Editor) -> None:
        editor.initialize()

        assert self.folds(editor) == [
            (0, 2, None),
            (3, 20, None),
            (7, 9, None),
            (13, 20, None),
            (14, 20, "region"),
            (16, 17, "comment"),
            (18, 19, "comment"),
        ]

    async def test_a_section_ends_where_the_next_one_begins_without_blank_lines(self, editor: Editor) -> None:
        editor.initialize()

        assert self.folds(editor, "# a\n\n### b\nx\n\n\n## c\n# d\n<!--\nx\n-->\n\n") == [
            (0, 6, None),
            (2, 3, None),
            (7, 10, None),
            (8, 10, "comment"),
        ]

    async def test_an_archive_folds_and_what_is_no_row_does_not(self, editor: Editor) -> None:
        editor.initialize()

        text = "- [ ] no row\n  more\n## Completed Work Archive\n- [x] old\n  <!-- loopx:todo todo_id=todo_old -->\n"
        assert self.folds(editor, text) == [(2, 4, None), (3, 4, "comment")]

    async def test_of_too_many_the_rows_are_left_out_first(self, editor: Editor) -> None:
        editor.initialize({"textDocument": {"foldingRange": {"rangeLimit": 5}}})

        assert [kind for *_, kind in self.folds(editor)] == [None, None, None, None, "region"]

    @given(LINES, ENDS)
    async def test_folds_have_two_lines_that_there_are(self, lines: list[str], end: str) -> None:
        async with Editor() as editor:
            editor.initialize()
            for first, last, _ in self.folds(editor, end.join(lines)):
                assert 0 <= first < last < len(lines)


ROW: Final = "# G\n\n## Agent Todo\n\n- [ ] {text}\n  <!-- loopx:todo todo_id=todo_one {fields} -->\n"


class TestLinks:
    """Document links: files, repositories, pull requests and addresses."""

    async def links(self, editor: Editor, folder: Path, text: str, **capabilities: Any) -> dict[str, str]:
        """What is linked in a text, and where it leads."""
        editor.initialize({"textDocument": capabilities}, folder.as_uri())
        uri = f"{folder.as_uri()}/goals/{NAME}"
        (folder / "goals").mkdir(exist_ok=True)
        editor.open(uri, text)
        index, found = LineIndex(text), {}
        for link in about(editor, "documentLink", uri):
            start, end = (
                index.offset(place["line"], place["character"], Encoding.UTF_16) for place in link["range"].values()
            )
            found[text[start:end]] = link["target"]
        return found

    @pytest.mark.parametrize(
        ("text", "fields", "linked"),
        [
            ("see https://x.org/a?b=c#d.", "", {"https://x.org/a?b=c#d": "https://x.org/a?b=c#d"}),
            ("(https://x.org/a_(b)), [t](http://y.org)", "", {u: u for u in ("https://x.org/a_(b)", "http://y.org")}),
            ("🌊 acme/x#12", "", {"acme/x#12": "https://github.com/acme/x/pull/12"}),
            (
                "fix #7",
                "task_repository=git%3Agithub.com%2Facme%2Fx",
                {
                    "#7": "https://github.com/acme/x/pull/7",
                    "git%3Agithub.com%2Facme%2Fx": "https://github.com/acme/x",
                },
            ),
            ("fix #7 of a&#8;b x#9", "", {}),
            (
                "x",
                "task_repository=ssh://h:2222/a/b.git resume_when=pr_merged:#3",
                {"ssh://h:2222/a/b.git": "https://h/a/b"},
            ),
            (
                "!",
                "task_repository=git:gitlab.org/a/b resume_when=pr_merged:%233",
                {
                    "git:gitlab.org/a/b": "https://gitlab.org/a/b",
                    "%233": "https://gitlab.org/a/b/-/merge_requests/3",
                },
            ),
            ("x", "evidence=https%3A%2F%2Fx.org%2F%C3%A9%20done", {"https%3A%2F%2Fx.org%2F%C3%A9": "https://x.org/é"}),
            ("x", "note=%FF%20https%3A%2F%2Fx.org%2Fa%FF", {"https%3A%2F%2Fx.org%2Fa": "https://x.org/a"}),
            ("javascript:alert(1) file:///etc/passwd ftp://x.org/a", "", {}),
        ],
    )
    async def test_what_can_be_opened_is_a_link(
        self, editor: Editor, tmp_path: Path, text: str, fields: str, linked: dict[str, str]
    ) -> None:
        assert await self.links(editor, tmp_path, ROW.format(text=text, fields=fields)) == linked

    async def test_a_file_is_one_if_it_is_there_beside_the_document_or_in_its_folder(
        self, editor: Editor, tmp_path: Path
    ) -> None:
        for name in ("goals/near.md", "logs/run 1.txt", "logs/run.txt", "logs/.x/é.md", "goals/both.md", "both.md"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("x")
        text = ROW.format(
            text="near.md. logs/run.txt:3, ./logs/.x/é.md both.md logs gone.md",
            fields="evidence=logs%2Frun.txt,near.md",
        )

        assert await self.links(editor, tmp_path, text) == {
            name: f"{tmp_path.as_uri()}/{path}"
            for name, path in {
                "near.md": "goals/near.md",
                "logs/run.txt": "logs/run.txt",
                "./logs/.x/é.md": "logs/.x/%C3%A9.md",
                "both.md": "goals/both.md",
                "logs%2Frun.txt": "logs/run.txt",
            }.items()
        }

    async def test_nobody_looks_outside_of_the_folder(self, editor: Editor, tmp_path: Path) -> None:
        outside = tmp_path / "secret.md"
        outside.write_text("x")
        folder = tmp_path / "w"
        (folder / "goals").mkdir(parents=True)
        (folder / "goals/link.md").symlink_to(outside)
        (folder / "goals/up").symlink_to(tmp_path)
        (folder / "goals/fifo.md").symlink_to("/dev/null")
        text = f"../../secret.md up/secret.md link.md fifo.md {outside} ~/secret.md a/../../../secret.md near.md/x"

        assert await self.links(editor, folder, ROW.format(text=text, fields="")) == {}

    async def test_what_is_hidden_has_no_links_and_prose_has(self, editor: Editor, tmp_path: Path) -> None:
        text = "---\nurl: https://x.org\n---\n# See https://y.org\n\n```\nhttps://z.org\n```\n\nand <https://p.org>\n"

        assert set(await self.links(editor, tmp_path, text)) == {"https://y.org", "https://p.org"}

    @pytest.mark.parametrize("shows", [True, False])
    async def test_it_is_told_what_a_link_opens_where_that_is_shown(
        self, editor: Editor, tmp_path: Path, *, shows: bool
    ) -> None:
        await self.links(editor, tmp_path, "acme/x#3", documentLink={"tooltipSupport": shows})
        [link] = about(editor, "documentLink", f"{tmp_path.as_uri()}/goals/{NAME}")

        assert link.get("tooltip") == ("Open the pull request acme/x#3" if shows else None)

    async def test_a_document_of_many_links_has_the_first_ones(
        self, editor: Editor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(text_document_document_link, "LINKS_MAX", 2)
        text = "".join(f"https://x.org/{n}\n" for n in range(5))

        assert list(await self.links(editor, tmp_path, text)) == ["https://x.org/0", "https://x.org/1"]

    async def test_only_so_many_files_are_looked_for(
        self, editor: Editor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(text_document_document_link, "FILES_LOOKED_FOR_MAX", 2)
        (tmp_path / "c.md").write_text("x")

        assert await self.links(editor, tmp_path, "a.md b.md c.md") == {}
        assert await self.links_again(editor, tmp_path, "a.md c.md") == ["c.md"]

    async def links_again(self, editor: Editor, folder: Path, text: str) -> list[str]:
        uri = f"{folder.as_uri()}/goals/{NAME}"
        editor.open(uri, text)
        return [link["target"].rpartition("/")[2] for link in about(editor, "documentLink", uri)]


class TestSymbols:
    """Workspace symbols: sections and todos across goals."""

    async def find(self, editor: Editor, query: str) -> list[tuple[str, str]]:
        return [(s["name"], s["containerName"]) for s in editor.result("workspace/symbol", query=query)]

    @pytest.fixture
    async def goals(self, editor: Editor, tmp_path: Path) -> Path:
        for name, text in {"optics": TEXT, "site": "## User Todo\n\n- [ ] Lens cap\n"}.items():
            (tmp_path / name).mkdir()
            save(tmp_path / name / NAME, text)
        editor.initialize({}, tmp_path.as_uri())
        await asyncio.gather(*editor.session.folders._scans)
        return tmp_path

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("LENS", ["Grind $session.tactics.one (todo_lens, done)", "Lens cap"]),
            ("gts", ["Grind $session.tactics.one (todo_lens, done)"]),
            ("optic", ["Optics 🌊 $cwd.lazy.plan"]),
            ("agent todo", ["Agent Todo"]),
            ("ao", ["Agent Todo", "Grind $session.tactics.one (todo_lens, done)"]),
            (".*", []),
            ("zzz", []),
        ],
    )
    @pytest.mark.usefixtures("goals")
    async def test_the_query_is_matched_in_ids_and_titles_of_all_goals(
        self, editor: Editor, query: str, names: list[str]
    ) -> None:
        found = [name for name, _ in await self.find(editor, query)]

        assert [name.partition(" (todo_")[0] if name.startswith("Lens") else name for name in found][
            : len(names)
        ] == names
        assert bool(found) == bool(names)

    @pytest.mark.usefixtures("goals")
    async def test_what_has_the_query_in_one_piece_comes_first(self, editor: Editor) -> None:
        assert [name.split()[0] for name, _ in await self.find(editor, "more")] == ["More"]
        assert [name.split()[0] for name, _ in await self.find(editor, "cap")] == ["Lens", "Optics"]

    async def test_a_symbol_says_where_it_is(self, editor: Editor, goals: Path) -> None:
        [found] = editor.result("workspace/symbol", query="todo_more")

        assert found["containerName"] == "Optics 🌊 $cwd.lazy.plan: Agent Todo"
        assert found["location"]["uri"] == (goals / "optics" / NAME).as_uri()
        assert found["location"]["range"]["start"] == at(18)
        [other] = editor.result("workspace/symbol", query="User Todo")
        assert (other["containerName"], other["kind"]) == ("site", 3)

    async def test_there_are_only_so_many(self, editor: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(workspace_symbol, "SYMBOLS_MAX", 2)
        editor.initialize()
        editor.open(URI, TEXT)

        assert len(await self.find(editor, "")) == 2
        assert len(await self.find(editor, "o")) == 2

    async def test_a_hostile_query_is_answered_in_time(self, editor: Editor) -> None:
        editor.initialize()
        editor.open(URI, f"## Agent Todo\n- [ ] {'ab' * 50_000}\n")

        assert await self.find(editor, "ab" * 60 + "c") == []
