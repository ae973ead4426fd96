"""Completion: what is offered where, and that whatever is offered is read back once it is written.

editors.md section 1, rows completion and resolve; DM-008: of the state keys and kinds, never a value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from authority.shown_goal import Ledger, serve
from editor import Editor
from state_of_editor import change_state
from stateward_daemon.lsp import proposals
from stateward_daemon.lsp.features import text_document_completion
from stateward_daemon.positions import Encoding, LineIndex
from stateward_engine.goals.document import read_document
from stateward_engine.goals.fields import FIELDS
from stateward_engine.goals.todo_codec import TaskLine, read_line, read_metadata
from stateward_engine.goals.tokens import LISTS, examine
from stateward_engine.state.references import mention_spans

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

URI: Final = "file:///w/ACTIVE_GOAL_STATE.md"
SNIPPETS: Final = {"textDocument": {"completion": {"completionItem": {"snippetSupport": True}}}}
HEAD: Final = """\
---
status: active
---
# Goal 🌊

## Agent Todo

- [ ] [P1] Ship it
  <!-- loopx:todo todo_id=todo_ship claimed_by=codex required_write_scopes=src%2F**,docs action_kind=fix -->
- [ ] watch it
  <!-- loopx:todo todo_id=todo_watch task_class=continuous_monitor excluded_agents=kite,owl -->
- [ ] 🌊 port it
"""
STATE: Final = {"plan": {"steps": ["SECRET", {"a": 1}], "owner": "SECRET", "not a name": 1}, "memory": [1, 2]}


@pytest.fixture
async def editor() -> AsyncIterator[Editor]:
    async with Editor() as editor:
        change_state(editor, STATE)
        yield editor


class Completed:
    """What is offered at the mark `|` of a text."""

    def __init__(self, editor: Editor, marked: str, uri: str = URI, trigger: str | None = None) -> None:
        before, _, after = marked.partition("|")
        self.text, self.offset = before + after, len(before)
        self.encoding = editor.session.client.encoding
        editor.open(uri, self.text)
        line, character = LineIndex(self.text).position(self.offset, self.encoding)
        context = {"triggerKind": 1} if trigger is None else {"triggerKind": 2, "triggerCharacter": trigger}
        found = editor.result(
            "textDocument/completion",
            textDocument={"uri": uri},
            position={"line": line, "character": character},
            context=context,
        )
        self.items: list[dict[str, Any]] = found["items"]
        self.is_incomplete = found["isIncomplete"]

    @property
    def labels(self) -> list[str]:
        return [item["label"] for item in self.items]

    def item(self, label: str) -> dict[str, Any]:
        [item] = [item for item in self.items if item["label"] == label]
        return item

    def apply(self, item: dict[str, Any]) -> str:
        """The text with the edit of an item; of a snippet the places stand filled with what they suggest."""
        start, end = self.span(item)
        new: str = item["textEdit"]["newText"]
        if item.get("insertTextFormat") == 2:
            new = re.sub(r"\$\{\d+:([^}]*)\}|\$\d+", lambda place: place[1] or "", new)
        return self.text[:start] + new + self.text[end:]

    def span(self, item: dict[str, Any]) -> tuple[int, int]:
        edges, index = item["textEdit"]["range"], LineIndex(self.text)
        assert edges["start"]["line"] == edges["end"]["line"]
        ends = (edges["start"], edges["end"])
        start, end = (index.offset(at["line"], at["character"], self.encoding) for at in ends)
        return start, end

    def after(self, label: str) -> str:
        """The text with the edit of the item of that label."""
        return self.apply(self.item(label))


class TestMetadata:
    async def test_the_keys_that_the_row_lacks(self, editor: Editor) -> None:
        editor.initialize()
        found = Completed(editor, HEAD + "  <!-- loopx:todo status=open | -->")

        assert found.labels == [key for key in FIELDS if key not in ("status", "removed_continuation_policy")]
        assert found.after("role") == HEAD + "  <!-- loopx:todo status=open role= -->"

    async def test_a_key_of_another_line_of_the_row_is_not_offered_again(self, editor: Editor) -> None:
        editor.initialize()
        found = Completed(editor, HEAD + "  <!-- loopx:todo status=open -->\n  <!-- loopx:todo reason=x | -->")

        assert not {"status", "reason"} & set(found.labels)
        assert "note" in found.labels

    @pytest.mark.parametrize(
        ("line", "label", "after"),
        [
            ("<!-- loopx:| -->", "note", "<!-- loopx:todo note= -->"),
            ("<!-- loopx:to|do -->", "note", None),
            ("<!-- loopx:todo no| -->", "note", "<!-- loopx:todo note= -->"),
            ("<!-- loopx:todo not|e=x -->", "note", "<!-- loopx:todo note=x -->"),
            ("<!-- loopx:todo no|se reason=x -->", "note", "<!-- loopx:todo note= reason=x -->"),
            ("<!-- loopx:todo no|", "note", "<!-- loopx:todo note="),
            ("<!-- loopx:todo status=op|en -->", "open", "<!-- loopx:todo status=open -->"),
            ("<!-- loopx:todo status=|-->", "blocked", "<!-- loopx:todo status=blocked-->"),
            ("<!-- loopx:todo goal_bound=| -->", "true", "<!-- loopx:todo goal_bound=true -->"),
            ("<!-- loopx:todo todo_id=| -->", "todo_port_it", "<!-- loopx:todo todo_id=todo_port_it -->"),
            ("<!-- loopx:required_write_scopes=s| -->", "src/**", "<!-- loopx:required_write_scopes=src%2F** -->"),
            (
                "<!-- loopx:todo required_write_scopes=a,|,docs -->",
                "src/**",
                "<!-- loopx:todo required_write_scopes=a,src%2F**,docs -->",
            ),
            ("<!-- loopx:todo action_kind=| -->", "fix", "<!-- loopx:todo action_kind=fix -->"),
            ("<!-- loopx:unblocks_todo_id=todo_s| -->", "todo_ship", "<!-- loopx:unblocks_todo_id=todo_ship -->"),
            ("<!-- loopx:resume_when=| -->", "todo_done:todo_ship", "<!-- loopx:resume_when=todo_done:todo_ship -->"),
            ("<!-- loopx:todo resume_when=mon| -->", "monitor_changed:todo_watch", None),
            ("<!-- loopx:todo| -->", "todo_id", "<!-- loopx:todo todo_id= -->"),
            ("<!-- other:todo | -->", None, None),
            ("<!-- loopx:todo status=open --> |", None, None),
        ],
    )  # fmt: skip
    async def test_what_stands_there_afterwards(
        self, editor: Editor, line: str, label: str | None, after: str | None
    ) -> None:
        editor.initialize()
        found = Completed(editor, f"{HEAD}  {line}\n")

        if label is None:
            assert found.labels == []
        elif after is not None:
            assert found.after(label) == f"{HEAD}  {after}\n"

    async def test_the_agents_of_the_document_and_who_writes(self, editor: Editor) -> None:
        editor.initialize(initializationOptions={"stateward": {"agent": "ada"}})

        assert Completed(editor, HEAD + "  <!-- loopx:todo claimed_by=| -->").labels == ["ada", "codex", "kite", "owl"]
        assert Completed(editor, HEAD + "  <!-- loopx:todo excluded_agents=ada,k| -->").labels == ["kite"]

    async def test_the_agents_of_the_goal_and_its_leases(self, editor: Editor, tmp_path: Path) -> None:
        path = tmp_path / "ACTIVE_GOAL_STATE.md"
        ledger = Ledger(path, promoted=False)
        ledger.change(authority={"agents": ["registered"]}, leases={"todo_ship": {"owner": "leaser"}})
        serve(editor.caller.host, ledger)
        editor.initialize(initializationOptions={"stateward": {"agent": "ada"}})

        found = Completed(editor, HEAD + "  <!-- loopx:todo bound_agent=| -->", path.as_uri())
        assert found.labels == ["ada", "registered", "leaser", "codex", "kite", "owl"]

    async def test_the_value_at_the_cursor_is_none_that_others_use(self, editor: Editor) -> None:
        editor.initialize()

        assert Completed(editor, HEAD + "  <!-- loopx:todo action_kind=f| -->").labels == ["fix"]
        assert Completed(editor, HEAD + "  <!-- loopx:todo task_domain=f| -->").labels == []

    async def test_a_value_that_is_not_read_is_not_offered(self, editor: Editor) -> None:
        editor.initialize()
        text = HEAD.replace("action_kind=fix", "action_kind=1x required_capabilities=a%20b,%zz")

        assert Completed(editor, text + "  <!-- loopx:todo action_kind=| -->").labels == []
        assert Completed(editor, text + "  <!-- loopx:todo required_capabilities=| -->").labels == []

    async def test_a_row_does_not_refer_to_itself(self, editor: Editor) -> None:
        editor.initialize()
        text = HEAD.replace("action_kind=fix", "superseded_by=|")

        assert Completed(editor, text).labels == ["todo_watch"]
        assert Completed(editor, text).item("todo_watch")["detail"] == "open: watch it"

    async def test_the_comment_of_a_row_without_an_id(self, editor: Editor) -> None:
        editor.initialize(SNIPPETS)
        [row] = [todo for todo in read_document(HEAD).todos if todo.id_line is None]
        for typed in ("<", "<!", "<!--", "<!-- loo", "<|>", "<!--| -->"):
            found = Completed(editor, f"{HEAD}  {typed}" + ("" if "|" in typed else "|"))

            assert found.labels == ["metadata"]
            assert found.after("metadata") == f"{HEAD}  <!-- loopx:todo todo_id={row.todo_id} -->"
            assert found.items[0]["insertTextFormat"] == 2

    async def test_a_row_with_an_id_needs_no_comment(self, editor: Editor) -> None:
        editor.initialize()

        assert Completed(editor, HEAD.replace("- [ ] watch", "  <|\n- [ ] watch")).labels == []

    async def test_a_space_offers_keys_and_nothing_else(self, editor: Editor) -> None:
        editor.initialize()

        assert len(Completed(editor, HEAD + "  <!-- loopx:todo | -->", trigger=" ").labels) > 50
        assert Completed(editor, HEAD + "- |", trigger=" ").labels == []


class TestText:
    async def test_the_boxes(self, editor: Editor) -> None:
        editor.initialize()
        for marked, after in (
            ("- [|", "- [x] "),
            ("- [|] ", "- [x] "),
            ("* [|]", "* [x] "),
            ("  - [ | ]", "  - [x] ]"),
        ):
            found = Completed(editor, HEAD + marked)
            if marked != "  - [ | ]":
                assert found.labels == ["[ ]", "[x]", "[-]"]
                assert found.after("[x]") == HEAD + after
        assert Completed(editor, HEAD + "- [link](|").labels == []
        assert Completed(editor, HEAD + "- [| ship").after("[-]") == HEAD + "- [-]  ship"

    async def test_the_ids_of_todos(self, editor: Editor) -> None:
        editor.initialize()
        found = Completed(editor, HEAD + "\n## Notes\n\nafter todo_s|x.")

        assert found.labels == ["todo_ship"]
        assert found.after("todo_ship").endswith("after todo_ship.")
        assert Completed(editor, HEAD + "\nno_todo_s|").labels == []

    async def test_a_new_row_in_a_section(self, editor: Editor) -> None:
        editor.initialize(SNIPPETS)
        for typed in ("|", "-|", "- |"):
            found = Completed(editor, HEAD + typed)
            rows = read_document(found.after("new todo")).todos
            assert (rows[-1].full_text, rows[-1].status, rows[-1].todo_id_source) == (
                "what is to be done",
                "open",
                "metadata",
            )
        assert "new todo" not in Completed(editor, HEAD + "\n## Notes\n\n|").labels

    async def test_a_client_without_snippets_gets_the_text(self, editor: Editor) -> None:
        editor.initialize()
        item = Completed(editor, HEAD + "|").item("new todo")

        assert item["insertTextFormat"] == 1
        assert "$" not in item["textEdit"]["newText"]

    async def test_the_sections_that_the_document_lacks(self, editor: Editor) -> None:
        editor.initialize()
        lacking = ["## Objective", "## User Todo", "## Next Action", "## Completed Work Archive"]

        assert Completed(editor, HEAD + "\n#|").labels == lacking
        assert Completed(editor, "|").labels == ["## Objective", "## User Todo", "## Agent Todo", *lacking[2:]]
        assert Completed(editor, HEAD + "\n## us|").after("## User Todo") == HEAD + "\n## User Todo"
        assert Completed(editor, "## 目标\n\n##|").labels[-1] == "## 完成归档"

    async def test_an_archive_is_read_back_by_its_chinese_name(self, editor: Editor) -> None:
        editor.initialize()
        text = Completed(editor, "## 目标\n\n##|").after("## 完成归档")

        assert [region.role for region in read_document(text).regions] == ["archive"]

    @pytest.mark.parametrize(
        "text", ["```\n|\n```\n", "---\n|\n---\n", "<!--\n|\n-->\n", "```\ntodo_|\n```\n", "```\n- [|"]
    )
    async def test_hidden_lines_have_nothing(self, editor: Editor, text: str) -> None:
        editor.initialize()

        assert Completed(editor, text).labels == []


class TestState:
    """DM-008: lazy keys are browsed key by key, with kinds and without values."""

    async def test_a_path_is_written_key_by_key(self, editor: Editor) -> None:
        editor.initialize()

        assert Completed(editor, "see $|").labels == ["global", "effective", "lazy"]
        assert Completed(editor, "see $global.|").labels == ["lazy"]
        found = Completed(editor, "see $global.lazy.|")
        assert [(item["label"], item["detail"]) for item in found.items] == [("memory", "array"), ("plan", "object")]
        assert Completed(editor, "see $global.lazy.plan.|").labels == ["owner", "steps"]
        assert Completed(editor, "see $global.lazy.plan.ow|x.").after("owner") == "see $global.lazy.plan.owner."
        assert Completed(editor, "see $global.lazy.memory[|").labels == ["[0]", "[1]"]
        assert Completed(editor, "see $global.lazy.memory[|]").after("[1]") == "see $global.lazy.memory[1]"
        assert Completed(editor, "see $global.lazy.memory[1].|").labels == []

    async def test_a_structured_reference_in_an_example_too(self, editor: Editor) -> None:
        editor.initialize()
        found = Completed(editor, '```json\n{"$ref": "global.lazy.p|"}\n```\n')

        assert found.after("plan") == '```json\n{"$ref": "global.lazy.plan"}\n```\n'
        assert Completed(editor, "```\nsee $global.|\n```\n").labels == []

    @pytest.mark.parametrize("text", ["US$|", "a.$|", "$$|", "$global..|", "$1|", "$global.lazy.plan.steps[1|].a"])
    async def test_elsewhere_a_dollar_is_a_dollar(self, editor: Editor, text: str) -> None:
        editor.initialize()

        assert [label for label in Completed(editor, text).labels if label != "[1]"] == []

    async def test_without_state_there_is_nothing(self, editor: Editor, tmp_path: Path) -> None:
        editor.initialize(initializationOptions={"stateward": {"mode": "off", "cwd": str(tmp_path)}})

        assert Completed(editor, "see $|").labels == []


class TestPromoted:
    """What the ledger shows is not edited; what a person types beside it is theirs."""

    async def test_nothing_is_offered_in_a_displayed_row(self, editor: Editor, tmp_path: Path) -> None:
        path = tmp_path / "ACTIVE_GOAL_STATE.md"
        serve(editor.caller.host, Ledger(path))
        editor.initialize()
        shown = "## Agent Todo\n\n- [ ] Grind it, $|\n  <!-- loopx:todo todo_id=todo_grind -->\n"
        typed = "## Agent Todo\n\n- [ ] mine\n  <!-- loopx:todo status=| -->\n"

        assert Completed(editor, shown, path.as_uri()).labels == []
        assert Completed(editor, shown.replace("|", "").replace(" -->", " | -->"), path.as_uri()).labels == []
        assert Completed(editor, typed, path.as_uri()).labels == ["open", "done", "blocked", "deferred"]

    async def test_a_marker_is_the_renderers(self, editor: Editor) -> None:
        editor.initialize()

        assert Completed(editor, "## Agent Todo\n<!-- loopx:todo-region-v0 | role=agent begin -->\n").labels == []


class TestAnswers:
    async def test_what_is_asked_of_a_key_a_todo_and_a_path(self, editor: Editor) -> None:
        editor.initialize({"textDocument": {"completion": {"completionItem": {"documentationFormat": ["markdown"]}}}})

        def documented(marked: str, label: str) -> str:
            item = Completed(editor, marked).item(label)
            return str(editor.result("completionItem/resolve", **item)["documentation"]["value"])

        assert documented(HEAD + "  <!-- loopx:todo | -->", "note").startswith("**note**: a remark")
        assert documented(HEAD + "\nsee todo_|", "todo_ship").startswith("`[P1] Ship it`\n\n- status: open")
        plan = documented("see $global.lazy.|", "plan")
        assert (
            plan == "`$global.lazy.plan`: object, 3 keys\n\n- `not a name`: number\n- `owner`: string\n- `steps`: array"
        )

    @pytest.mark.parametrize(
        "data", [None, 1, {"todo": "todo_gone"}, {"key": ["x"]}, {"uri": "x", "todo": "y"}, {"key": "?"}]
    )
    async def test_what_names_nothing_comes_back_as_it_was(self, editor: Editor, data: Any) -> None:
        editor.initialize()

        item = editor.result("completionItem/resolve", label="x", data=data)
        assert "documentation" not in item

    async def test_a_long_list_says_so_and_goes_on_with_what_is_typed(self, editor: Editor) -> None:
        editor.initialize()
        rows = "".join(f"- [ ] r\n  <!-- loopx:todo todo_id=todo_{n:04} -->\n" for n in range(300))
        found = Completed(editor, f"## Agent Todo\n\n{rows}\nsee todo_|")

        assert (len(found.items), found.is_incomplete) == (proposals.PROPOSALS_MAX, True)
        assert [item["sortText"] for item in found.items] == sorted(item["sortText"] for item in found.items)
        last = Completed(editor, f"## Agent Todo\n\n{rows}\nsee todo_029|")
        assert (len(last.items), last.is_incomplete) == (10, False)

    @pytest.mark.parametrize("encoding", Encoding)
    async def test_ranges_count_as_the_client_does(self, editor: Editor, encoding: Encoding) -> None:
        editor.initialize({"general": {"positionEncodings": [encoding]}})
        found = Completed(editor, HEAD + "  🌊é $global.la|z 🌊")

        assert found.after("lazy") == HEAD + "  🌊é $global.lazy 🌊"

    async def test_every_sign_that_triggers_can_be_one(self, editor: Editor) -> None:
        announced = editor.initialize()["completionProvider"]

        assert announced == {
            "triggerCharacters": list(text_document_completion.TRIGGERS),
            "resolveProvider": True,
        }
        for trigger in text_document_completion.TRIGGERS:
            assert Completed(editor, f"{HEAD}{trigger}|", trigger=trigger).labels is not None

    async def test_other_documents_have_nothing(self, editor: Editor) -> None:
        editor.initialize()
        place = {"line": 0, "character": 0}
        answer = editor.result("textDocument/completion", textDocument={"uri": "file:///w/README.md"}, position=place)

        assert answer == {"isIncomplete": False, "items": []}


LINES: Final = (
    *("## Agent Todo", "## User Todo", "## Notes", "# T", "", "", "- [ ] one", "- [x] 🌊 two", "- ", "- [", "* [] x"),
    *("  <!-- loopx:todo todo_id=todo_aaa status=open -->", "  <!-- loopx:todo todo_id=todo_bbb claimed_by= -->"),
    *(
        "  <!-- loopx:todo",
        "  <!-- loopx: x=1 status -->",
        "  <",
        "  <!--",
        "```",
        "---",
        "-->",
        "\t<!--loopx:todo a -->",
    ),
    *("see todo_ and todo_a", "x $global.lazy.plan.steps[0].a $glo $ $global.lazy.memory[", '{"$ref": "global."}'),
    *("  <!-- loopx:todo resume_when= successor_todo_ids=todo_aaa,todo_ excluded_agents=a%2Cb -->",),
    *("  <!-- loopx:todo todo_id= updated_at=x unknown= note=%zz todo_id=todo_bbb required_write_scopes=a,,b -->",),
    *("  <!-- loopx:todo action_kind=1x task_domain=ok. -->", "  <!-- loopx:todo action_kind= task_domain= x=1 -->"),
    *("<!-- loopx:todo-region-v0 role=agent begin -->", "<!-- loopx:todo-region-v0 role=agent end -->"),
)
texts = st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(["\n", "\n", "\r\n", ""])).map("".join), max_size=12)


def check(item: dict[str, Any], text: str, start: int) -> None:
    """Check that what was written is read back, whatever it is."""
    new = item["textEdit"]["newText"]
    line_start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    line = re.split(r"[\r\n]", text[line_start:])[0]
    kind = item["kind"]
    if kind == 10:  # a key
        key = item["label"]
        assert f"{key}=" in line
        assert key in FIELDS
    elif item["label"] in ("[ ]", "[x]", "[-]"):
        assert isinstance(read_line(f"{line}x"), TaskLine)
    elif item["label"] == "new todo":
        assert new.split("todo_id=")[1].split()[0].rstrip("}").rpartition("{2:")[2] in text
        assert isinstance(read_line(line), TaskLine)
    elif item["label"] == "metadata":
        assert "todo_id" in read_metadata(line)
    elif item["label"].startswith("## "):
        assert line == item["label"]
    elif "path" in item.get("data", {}) and '"$ref"' not in line:
        spans = [line[slice(*span)] for span in mention_spans(line)]
        path = item["data"]["path"]
        assert any(found.startswith(path) for found in spans) or "$$" in line or line.count("$") > len(spans)
    elif value := re.match(r"(.*\s(?:loopx:)?)([a-z_]+)=([^\s<>]*)", line[: start - line_start]):
        check_value(value[2], new, line[value.start(3) :], value[3])


def check_value(key: str, new: str, behind: str, before: str) -> None:
    """Check that the value that stands `behind` its key is read; of a list the member that was written."""
    assert examine(key, new) is None
    whole = re.split(r"[\s<>]|-->", behind)[0]
    assert whole.startswith(before + new)
    assert new in whole if key in LISTS else examine(key, whole) is None


def chosen(text: str, place: int) -> int:
    """Return an offset, mostly one near what can be written."""
    signs = [found.end() for found in re.finditer(r"[=\[$._<#,]", text)]
    if place % 4 and signs:
        return min(signs[place % len(signs)] + place // 7 % 3, len(text))
    return place % (len(text) + 1)


@pytest.mark.property
@settings(max_examples=60, derandomize=True, deadline=None)
@given(lines=texts, places=st.lists(st.integers(0, 2000), min_size=3, max_size=6), snippets=st.booleans())
async def test_law_whatever_is_offered_anywhere_can_be_written_and_is_read_back(
    lines: list[str], places: list[int], snippets: bool
) -> None:
    text = "".join(lines)
    async with Editor() as editor:
        change_state(editor, STATE)
        editor.initialize(SNIPPETS if snippets else {})
        for place in places:
            at = chosen(text, place)
            found = Completed(editor, f"{text[:at]}|{text[at:]}")
            for item in found.items:
                start, end = found.span(item)
                assert start <= found.offset
                assert found.offset <= end
                check(item, found.apply(item), start)
                assert "SECRET" not in str(editor.result("completionItem/resolve", **item))
