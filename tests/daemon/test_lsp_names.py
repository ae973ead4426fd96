"""References, highlights and renames: where a todo or a path of the state is written, and another id for a todo.

editors.md section 1; features.md DM-001.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.shown_goal import Ledger, serve
from editor import Editor, save
from stateward_daemon.lsp.mentions import Subject, mentions
from stateward_daemon.lsp.places import ids_in
from stateward_daemon.positions import Encoding, LineIndex
from stateward_engine.goals.document import read_document
from stateward_engine.goals.encode import encode_value

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

HOME: Final = """\
---
status: active todo_lens
---
# Optics

First 🌊 todo_lens, see $cwd.lazy.plan.

```
todo_lens $cwd.lazy.plan
```

## Agent Todo

- [ ] Pick a lens
  <!-- loopx:todo todo_id=todo_lens -->
- [ ] Grind it as todo_lens says, not todo_lens_two, for $cwd.lazy.plan
  <!-- loopx:todo todo_id=todo_grind resume_when=todo_done%3ATodo_Lens successor_todo_ids=todo_x_1%2Ctodo_lens -->
- [x] No id here
"""
OTHER: Final = "---\nstatus: active\n---\n# Site\n\nWaits for todo_lens and $cwd.lazy.plan.\n"
OWN: Final = (
    "---\nstatus: active\n---\n# Twin\n\n## Agent Todo\n\n- [ ] mine\n  <!-- loopx:todo todo_id=todo_lens -->\n"
)
PREPARES: Final = {
    "workspace": {"workspaceEdit": {"documentChanges": True}},
    "textDocument": {"rename": {"prepareSupport": True}},
}
NAME: Final = "ACTIVE_GOAL_STATE.md"


@pytest.fixture
async def editor() -> AsyncIterator[Editor]:
    async with Editor() as editor:
        yield editor


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return document(tmp_path, "home", HOME)


def document(folder: Path, name: str, text: str) -> Path:
    path = folder / name / NAME
    path.parent.mkdir()
    save(path, text)
    return path


async def work_in(editor: Editor, *documents: Path, capabilities: Any = PREPARES, encoding: str = "utf-16") -> None:
    """Open the folders of documents, and wait until they are found."""
    general = {"general": {"positionEncodings": [encoding]}}
    editor.initialize({**capabilities, **general}, *(path.parent.as_uri() for path in documents))
    await asyncio.gather(*editor.session.folders._scans)


def at(text: str, wanted: str, encoding: Encoding = Encoding.UTF_16, nth: int = 0) -> dict[str, int]:
    """The position of the first character behind the start of a word."""
    offset = -1
    for _ in range(nth + 1):
        offset = text.index(wanted, offset + 1)
    return LineIndex(text).position(offset + 1, encoding)._asdict()


def ask(editor: Editor, what: str, path: Path, position: dict[str, int], **params: Any) -> Any:
    return editor.ask(f"textDocument/{what}", textDocument={"uri": path.as_uri()}, position=position, **params)


def references(
    editor: Editor, path: Path, position: dict[str, int], *, declaration: bool = True
) -> list[tuple[str, int]]:
    found = ask(editor, "references", path, position, context={"includeDeclaration": declaration})["result"]
    return [(Path(one["uri"]).parent.name, one["range"]["start"]["line"]) for one in found]


def refusal(editor: Editor, path: Path, position: dict[str, int], name: str | None = None) -> tuple[str, str]:
    """The reason and the message with which a rename, or what comes before one, is refused."""
    if name is None:
        answer = ask(editor, "prepareRename", path, position)
    else:
        answer = ask(editor, "rename", path, position, newName=name)
    assert answer["error"]["data"]["category"] == "refused", answer
    return answer["error"]["data"]["reason_code"], answer["error"]["message"]


def renamed(editor: Editor, path: Path, position: dict[str, int], name: str) -> dict[str, str]:
    """What the texts of all documents are after a rename, by the names of their folders."""
    edit = ask(editor, "rename", path, position, newName=name)["result"]
    found = {}
    for change in edit["documentChanges"]:
        file = Path(change["textDocument"]["uri"].removeprefix("file://"))
        held = editor.session.buffers.get(change["textDocument"]["uri"])
        assert change["textDocument"]["version"] == (None if held is None else held.version)
        found[file.parent.name] = after(file.read_text("utf-8") if held is None else held.text, change["edits"])
    return found


def after(text: str, edits: list[Any]) -> str:
    index = LineIndex(text)
    spans = [
        (
            *(index.offset(place["line"], place["character"], Encoding.UTF_16) for place in edit["range"].values()),
            edit["newText"],
        )
        for edit in edits
    ]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text


class TestReferences:
    """Everywhere it is written: in its document, and in the others that the editor works with."""

    @pytest.mark.parametrize("encoding", list(Encoding))
    @pytest.mark.parametrize("nth", [1, 3, 4])
    async def test_a_todo_is_found_wherever_it_is_written_and_may_be_seen(
        self, editor: Editor, home: Path, tmp_path: Path, encoding: Encoding, nth: int
    ) -> None:
        await work_in(editor, home, document(tmp_path, "other", OTHER), encoding=encoding)
        found = references(editor, home, at(HOME, "todo_lens", encoding, nth))

        # Not in the frontmatter and not in the fence, and no id that begins alike.
        here = [("home", 5), ("home", 14), ("home", 15), ("home", 16), ("home", 16)]
        assert found == [*here, ("other", 5)]

    async def test_a_folder_that_is_still_being_looked_through_counts(
        self, editor: Editor, home: Path, tmp_path: Path
    ) -> None:
        document(tmp_path, "other", OTHER)
        editor.initialize(PREPARES, tmp_path.as_uri())
        editor.open(home.as_uri(), HOME)

        assert references(editor, home, at(HOME, "Pick a lens"))[-1] == ("other", 5)

    async def test_the_row_itself_is_left_out_unless_it_is_wanted(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home)
        found = references(editor, home, at(HOME, "Pick a lens"), declaration=False)

        assert found == [("home", 5), ("home", 15), ("home", 16), ("home", 16)]

    async def test_ids_are_read_without_regard_to_case(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home)
        editor.open(home.as_uri(), f"{HOME}\nand TODO_Lens\n")

        assert references(editor, home, at(HOME, "Pick"))[-1] == ("home", 19)

    async def test_ranges_are_those_of_the_names_alone(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home)
        found = ask(editor, "references", home, at(HOME, "todo_lens", nth=3), context={"includeDeclaration": True})
        lines = HOME.encode("utf-16-le").decode("utf-16-le").split("\n")
        for one in found["result"]:
            start, end = one["range"]["start"], one["range"]["end"]
            units = lines[start["line"]].encode("utf-16-le")[2 * start["character"] : 2 * end["character"]]
            assert units.decode("utf-16-le").lower() == "todo_lens"

    async def test_a_row_without_an_id_of_its_own_is_where_it_begins(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home)
        [row] = ask(editor, "references", home, at(HOME, "No id"), context={"includeDeclaration": True})["result"]

        assert (row["range"]["start"], row["range"]["end"]["character"]) == ({"line": 17, "character": 0}, 16)

    async def test_a_path_of_the_state_is_found_in_all_documents(
        self, editor: Editor, home: Path, tmp_path: Path
    ) -> None:
        await work_in(editor, home, document(tmp_path, "other", OTHER))

        found = references(editor, home, at(HOME, "cwd.lazy.plan"))
        assert found == [("home", 5), ("home", 15), ("other", 5)]

    async def test_another_goal_with_a_row_of_that_id_means_its_own(
        self, editor: Editor, home: Path, tmp_path: Path
    ) -> None:
        twin = document(tmp_path, "twin", OWN)
        await work_in(editor, home, twin)

        assert {name for name, _ in references(editor, home, at(HOME, "Pick"))} == {"home"}
        assert references(editor, twin, at(OWN, "mine")) == [("twin", 8)]

    async def test_outside_of_its_document_every_row_of_that_id_is_meant(
        self, editor: Editor, home: Path, tmp_path: Path
    ) -> None:
        other = document(tmp_path, "other", OTHER)
        await work_in(editor, home, other, document(tmp_path, "twin", OWN))

        assert {name for name, _ in references(editor, other, at(OTHER, "todo_lens"))} == {"home", "other", "twin"}

    async def test_what_is_typed_counts_and_not_what_is_in_the_file(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home)
        editor.open(home.as_uri(), HOME.replace("First 🌊 todo_lens", "First"))

        assert ("home", 5) not in references(editor, home, at(HOME, "Pick"))

    async def test_the_documents_of_registered_goals_are_looked_at(
        self, editor: Editor, home: Path, tmp_path: Path
    ) -> None:
        registered = tmp_path / "notes.md"
        save(registered, OTHER)
        serve(editor.caller.host, Ledger(registered, promoted=False))
        await work_in(editor, home)

        found = ask(editor, "references", home, at(HOME, "Pick"), context={"includeDeclaration": True})["result"]
        assert found[-1]["uri"] == registered.as_uri()

    @pytest.mark.parametrize("wanted", ["status: active", "# Optics", "todo_lens $cwd"])
    async def test_elsewhere_there_is_nothing(self, editor: Editor, home: Path, wanted: str) -> None:
        await work_in(editor, home)

        assert references(editor, home, at(HOME, wanted)) == []
        assert ask(editor, "documentHighlight", home, at(HOME, wanted))["result"] == []
        assert ask(editor, "prepareRename", home, at(HOME, wanted))["result"] is None

    async def test_other_files_are_left_alone(self, editor: Editor, tmp_path: Path) -> None:
        await work_in(editor)
        other = tmp_path / "README.md"
        save(other, HOME)

        assert references(editor, other, at(HOME, "Pick")) == []


class TestHighlights:
    """The same in one document."""

    async def test_the_row_is_where_it_is_set_and_the_others_are_where_it_is_read(
        self, editor: Editor, home: Path, tmp_path: Path
    ) -> None:
        await work_in(editor, home, document(tmp_path, "other", OTHER))
        found = ask(editor, "documentHighlight", home, at(HOME, "todo_lens", nth=1))["result"]

        assert [(one["range"]["start"]["line"], one["kind"]) for one in found] == [
            (5, 2),
            (14, 3),
            (15, 2),
            (16, 2),
            (16, 2),
        ]


class TestRename:
    """Rename of an id on goals that are not promoted, everywhere it is written."""

    async def test_it_is_announced_as_the_client_takes_it(self, editor: Editor) -> None:
        assert editor.initialize(PREPARES)["renameProvider"] == {"prepareProvider": True}

    async def test_a_client_that_prepares_nothing_is_offered_the_rename_alone(self, editor: Editor) -> None:
        assert editor.initialize()["renameProvider"] is True

    async def test_what_can_be_renamed_is_shown_first(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home)
        found = ask(editor, "prepareRename", home, at(HOME, "todo_lens", nth=1))["result"]

        assert found["placeholder"] == "todo_lens"
        assert found["range"] == {"start": {"line": 5, "character": 9}, "end": {"line": 5, "character": 18}}

    @pytest.mark.parametrize("wanted", ["Pick a lens", "todo_lens says", "Todo_Lens"])
    async def test_it_is_renamed_in_all_documents_and_every_spelling(
        self, editor: Editor, home: Path, tmp_path: Path, wanted: str
    ) -> None:
        await work_in(editor, home, document(tmp_path, "other", OTHER))
        editor.open(home.as_uri(), HOME, version=7)
        texts = renamed(editor, home, at(HOME, wanted), "todo_glass")

        told = HOME.replace("First 🌊 todo_lens", "First 🌊 todo_glass").replace("=todo_lens ", "=todo_glass ")
        told = told.replace("as todo_lens says", "as todo_glass says").replace("Todo_Lens", "todo_glass")
        assert texts == {
            "home": told.replace("%2Ctodo_lens", "%2Ctodo_glass"),
            "other": OTHER.replace("todo_lens", "todo_glass"),
        }

    async def test_where_another_goal_has_that_id_too_its_document_stays(
        self, editor: Editor, home: Path, tmp_path: Path
    ) -> None:
        await work_in(editor, home, document(tmp_path, "twin", OWN))

        assert renamed(editor, home, at(HOME, "Pick"), "todo_glass").keys() == {"home"}

    async def test_from_elsewhere_the_one_that_is_meant_has_to_be_named(
        self, editor: Editor, home: Path, tmp_path: Path
    ) -> None:
        other = document(tmp_path, "other", OTHER)
        await work_in(editor, home, other, document(tmp_path, "twin", OWN))

        reason, message = refusal(editor, other, at(OTHER, "todo_lens"))
        assert reason == "ambiguous_todo_id"
        assert str(home) in message
        assert message.endswith("rename it in the document of its row")

    async def test_a_client_without_versions_gets_plain_changes(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home, capabilities={})
        edit = ask(editor, "rename", home, at(HOME, "Pick"), newName="todo_glass")["result"]

        assert after(HOME, edit["changes"][home.as_uri()]).count("todo_glass") == 5

    async def test_the_same_name_changes_nothing(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home)

        assert ask(editor, "rename", home, at(HOME, "Pick"), newName=" todo_lens ")["result"] is None

    @pytest.mark.parametrize("name", ["glass", "todo_ab", "todo_a b", "", "Todo_Glass"])
    async def test_a_name_that_is_no_id_is_told_what_one_is(self, editor: Editor, home: Path, name: str) -> None:
        await work_in(editor, home)

        reason, message = refusal(editor, home, at(HOME, "Pick"), name)
        assert reason == "invalid_todo_id"
        assert "`todo_` and 3 to 64 of a-z, 0-9, _ and -" in message
        assert message.endswith("todo_glass would be one") == ("glass" in name.lower())

    async def test_a_name_that_is_taken_is_told_where(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home)

        reason, message = refusal(editor, home, at(HOME, "Pick"), "todo_grind")
        assert reason == "todo_id_taken"
        assert f"line 16 of {home}" in message

    async def test_a_name_that_is_taken_where_it_is_mentioned_is_refused_too(
        self, editor: Editor, home: Path, tmp_path: Path
    ) -> None:
        other = document(
            tmp_path, "other", f"{OTHER}\n## Agent Todo\n\n- [ ] b\n  <!-- loopx:todo todo_id=todo_glass -->\n"
        )
        await work_in(editor, home, other)

        assert refusal(editor, home, at(HOME, "Pick"), "todo_glass")[0] == "todo_id_taken"

    async def test_a_generated_id_is_to_be_given_first(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home)

        reason, message = refusal(editor, home, at(HOME, "No id"))
        assert reason == "todo_id_generated"
        assert message.endswith("give the row an id of its own first (quick fix)")

    async def test_an_id_that_nobody_has_is_no_todo(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home)

        assert refusal(editor, home, at(HOME, "todo_x_1"), "todo_glass")[0] == "todo_not_found"
        assert refusal(editor, home, at(HOME, "# Optics"), "todo_glass")[0] == "todo_not_found"

    async def test_of_two_rows_with_an_id_neither_is_renamed(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home)
        editor.open(home.as_uri(), f"{HOME}- [ ] b\n  <!-- loopx:todo todo_id=todo_lens -->\n")

        assert refusal(editor, home, at(HOME, "Pick"))[0] == "ambiguous_todo_id"

    async def test_an_unsafe_document_is_not_edited(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home)
        editor.open(home.as_uri(), f"{HOME}\n## User Todo\n<!-- loopx:todo-region-v0 role=user begin -->\n")

        reason, message = refusal(editor, home, at(HOME, "Pick"))
        assert reason == "unsafe_document"
        assert f"{home} cannot be read without guessing: " in message

    async def test_unsaved_changes_in_another_editor_come_first(
        self, editor: Editor, home: Path, tmp_path: Path
    ) -> None:
        other = document(tmp_path, "other", OTHER)
        await work_in(editor, home, other)
        async with Editor() as second:
            second.session.caller.host.unsaved = editor.caller.host.unsaved
            second.initialize()
            second.open(other.as_uri(), f"{OTHER}more\n")

            reason, message = refusal(editor, home, at(HOME, "Pick"))
            assert reason == "document_buffer_dirty"
            assert str(other) in message

    async def test_own_unsaved_changes_do_not_hinder(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home)
        editor.open(home.as_uri(), f"{HOME}\nmore todo_lens\n")

        assert renamed(editor, home, at(HOME, "Pick"), "todo_glass")["home"].endswith("\nmore todo_glass\n")

    async def test_a_text_that_is_older_than_its_file_is_loaded_first(self, editor: Editor, home: Path) -> None:
        await work_in(editor, home)
        editor.open(home.as_uri(), HOME)
        save(home, f"{HOME}more\n")
        editor.file_changed(home)

        assert refusal(editor, home, at(HOME, "Pick"))[0] == "document_changed"

    async def test_receipts_of_a_promoted_goal_keep_ids_for_good(self, editor: Editor, home: Path) -> None:
        serve(editor.caller.host, Ledger(home))
        await work_in(editor, home)

        for name in (None, "todo_glass"):
            reason, message = refusal(editor, home, at(HOME, "Pick"), name)
            assert reason == "goal_promoted"
            assert "receipts keep ids for good" in message

    async def test_sections_of_a_promoted_goal_stay_and_that_is_told(
        self, editor: Editor, home: Path, tmp_path: Path
    ) -> None:
        text = f"{OTHER}\n## Agent Todo\n\n- [ ] After todo_lens\n  <!-- loopx:todo todo_id=todo_after -->\n"
        (tmp_path / "other").mkdir()
        other = tmp_path / "other/notes.md"
        save(other, text)
        serve(editor.caller.host, Ledger(other))
        await work_in(editor, home)

        texts = renamed(editor, home, at(HOME, "Pick"), "todo_glass")
        assert texts["other"] == text.replace("for todo_lens", "for todo_glass")
        await editor.until(lambda: "window/showMessage" in [m.get("method") for m in editor.channel.sent])
        [told] = [m["params"]["message"] for m in editor.channel.sent if m.get("method") == "window/showMessage"]
        assert told == f"{other} keeps todo_lens in sections that show a promoted goal"


NAMES: Final = ("todo_one", "todo_two", "todo_one_more", "todo_five")
REFERENCES: Final = st.sampled_from(
    [
        ("unblocks_todo_id", "{}"),
        ("successor_todo_ids", "{},todo_other"),
        ("successor_todo_ids", "todo_other,{}"),
        ("resume_when", "todo_done:{}"),
        ("superseded_by", "{}"),
        ("note", "see {} ({})"),
    ]
)


@st.composite
def rows(draw: st.DrawFn) -> str:
    lines = []
    for name in NAMES:
        key, form = draw(REFERENCES)
        value = encode_value(form.replace("{}", draw(st.sampled_from(NAMES))))
        text = draw(st.sampled_from(["plain", "after todo_one", "todo_two, todo_one.", "é🌊 (todo_five)"]))
        lines += [f"- [ ] {text}", f"  <!-- loopx:todo todo_id={name} {key}={value} -->"]
    return "\n".join(
        ["---", "a: b", "---", "# G", draw(st.sampled_from(["", "todo_one"])), "## Agent Todo", *lines, ""]
    )


class TestRenameLaws:
    """A rename changes a name and nothing else."""

    @given(rows(), st.sampled_from(NAMES), st.sampled_from(["todo_new", "todo_one-2", "todo_999"]))
    def test_what_named_it_names_it_by_its_new_name(self, text: str, old: str, new: str) -> None:
        document = read_document(text)
        changed = text
        for mention in reversed(mentions(document, Subject(old, (0, 0), is_path=False))):
            changed = changed[: mention.span[0]] + new + changed[mention.span[1] :]
        again = read_document(changed)

        def named(of: str, name: str) -> int:
            return sum(found.name == name for found in ids_in(of))

        assert again.todos_named(old) == []
        assert len(again.todos_named(new)) == 1
        assert named(changed, old) == 0
        assert named(changed, new) == named(text, old)
        # Whatever does not name it says what it said.
        for before, now in zip(document.todos, again.todos, strict=True):
            assert (before.status, before.fields.keys()) == (now.status, now.fields.keys())
            for key in before.fields:
                assert old in str(before.fields[key]) or before.fields[key] == now.fields[key]
