"""State in an editor: keys and kinds by default, values by an explicit act, and the way from a reference to a value.

editors.md section 1: definition, virtual documents, and the commands that show state.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from authority.shown_goal import Ledger, serve
from editor import Editor, save
from stateward_daemon.host import at_once
from stateward_daemon.lanes import Lanes
from stateward_daemon.lsp.served import FOLLOWED_MAX
from stateward_daemon.pretty import TEXT_LENGTH_MAX
from stateward_daemon.virtual import projection_uri
from stateward_engine.state.view import Identity, Scope, View

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

LAZY: Final = "stateward:/cwd/lazy.json"
BODY: Final = "BODY"
STATE: Final[dict[str, dict[str, Any]]] = {
    "lazy": {
        "list": [{"a": BODY}, {"b": BODY}],
        "notes": {"$ref": "cwd.lazy.plan"},
        "plan": {"next": BODY, "wide 🌊": {"deep": 1}},
        "wave": f"🌊 {BODY}",
    },
    "tactics": {"now": BODY},
}
TEXT: Final = """\
---
status: active
---
# Goal 🌊 see $cwd.lazy.plan

## Next Action

- todo_two waits, see $lazy.list[1].b and $cwd.lazy.lost and todo_none and todo_far.
- $cwd.lazy.wave

```
$cwd.lazy.plan todo_one
```

## Agent Todo

- [ ] One: {"$ref": "cwd.tactics"}
  <!-- loopx:todo todo_id=todo_one -->
- [ ] Two
  <!-- loopx:todo todo_id=todo_two unblocks_todo_id=todo_one -->
"""
FAR: Final = "# Far\n\n## Agent Todo\n\n- [ ] Far\n  <!-- loopx:todo todo_id=todo_far -->\n"
VIRTUAL: Final[dict[str, Any]] = {"workspace": {"textDocumentContent": {}}}
OPENS: Final[dict[str, Any]] = {**VIRTUAL, "window": {"showDocument": {"support": True}}}
REFRESH: Final = "workspace/textDocumentContent/refresh"
LINKS: Final[dict[str, Any]] = {**VIRTUAL, "textDocument": {"definition": {"linkSupport": True}}}
# A reference, the document that it leads to, and how the name and the whole of its value begin there.
LEADS: Final = [
    ("cwd.lazy.plan\n\n##", LAZY, '"plan"', '"plan": {'),
    ("lazy.list[1].b", "stateward:/effective/lazy.json", '"b"', f'"b": "{BODY}"'),
    ("cwd.lazy.wave", LAZY, '"wave"', f'"wave": "🌊 {BODY}"'),
    ("cwd.tactics", "stateward:/cwd/tactics.json", "{", "{"),
]
ENCODINGS: Final = ["utf-8", "utf-16", "utf-32"]


@pytest.fixture
async def editor(tmp_path: Path) -> AsyncIterator[Editor]:
    async with Editor() as editor:
        editor.caller.host.lanes = Lanes(at_once)
        publish(editor, tmp_path, STATE)
        yield editor


@pytest.fixture
def goal(tmp_path: Path) -> Path:
    path = tmp_path / "ACTIVE_GOAL_STATE.md"
    save(path, TEXT)
    return path


def publish(editor: Editor, cwd: Path, planes: dict[str, Any]) -> None:
    """Let readers see another state of the scope `cwd`, and tell those who follow."""
    store = editor.caller.host.store
    before = store.view
    scope = Scope(planes=planes, revision=before.sequence + 1)
    store.view = View(sequence=before.sequence + 1, scopes={**before.scopes, Identity("cwd", str(cwd)): scope})
    editor.caller.host.subscriptions.published(store.view)


def introduce(editor: Editor, folder: Path, capabilities: dict[str, Any], **params: Any) -> Any:
    return editor.initialize(capabilities, folder.as_uri(), **params)


def content(editor: Editor, uri: str) -> Any:
    return json.loads(editor.result("workspace/textDocumentContent", uri=uri)["text"])


def definition(editor: Editor, uri: str, text: str, at: str, encoding: str = "utf-16") -> Any:
    """Ask at the place of a passage, with the cursor inside of it."""
    before, _, after = text.partition(at)
    assert after, at
    line = before.rpartition("\n")[2] + at[:2]
    units = {"utf-8": len(line.encode()), "utf-16": len(line.encode("utf-16-le")) // 2, "utf-32": len(line)}
    position = {"line": before.count("\n"), "character": units[encoding]}
    return editor.result("textDocument/definition", textDocument={"uri": uri}, position=position)


def passage(text: str, span: dict[str, Any], encoding: str = "utf-16") -> str:
    """What stands in a range of a text."""
    lines = text.split("\n")
    codec, size = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]
    start, end = (
        len("\n".join([*lines[: at["line"]], ""]))
        + len(lines[at["line"]].encode(codec)[: at["character"] * size].decode(codec))
        for at in (span["start"], span["end"])
    )
    return text[start:end]


def run(editor: Editor, command: str, **argument: Any) -> Any:
    return editor.ask("workspace/executeCommand", command=f"stateward.{command}", arguments=[argument])


def told(editor: Editor) -> list[str]:
    return [m["params"]["message"] for m in editor.channel.sent if m.get("method") == "window/showMessage"]


class TestVirtualDocuments:
    """DM-008: opening one is the explicit act by which a value is shown; beside it keys and kinds alone."""

    async def test_the_scheme_is_announced(self, editor: Editor, tmp_path: Path) -> None:
        announced = introduce(editor, tmp_path, {})
        assert announced["workspace"]["textDocumentContent"] == {"schemes": ["stateward"]}
        assert announced["workspace"]["workspaceFolders"]["supported"] is True

    async def test_a_plane_is_a_document(self, editor: Editor, tmp_path: Path) -> None:
        introduce(editor, tmp_path, VIRTUAL)
        assert content(editor, LAZY) == STATE["lazy"]
        assert content(editor, "stateward:/effective/lazy/plan.json") == STATE["lazy"]["plan"]
        assert content(editor, "stateward:/cwd.json") == STATE
        assert content(editor, "stateward:/cwd/lazy.json?keys")["keys"] == {
            "list": "array",
            "notes": "object",
            "plan": "object",
            "wave": "string",
        }

    async def test_the_command_answers_with_the_same_text(self, editor: Editor, tmp_path: Path) -> None:
        introduce(editor, tmp_path, {})
        text = editor.result("workspace/textDocumentContent", uri=LAZY)["text"]
        answer = run(editor, "readState", uri=LAZY)["result"]
        assert answer == {"uri": LAZY, "text": text, "whole": True}

    async def test_what_is_not_there_any_more_is_null(self, editor: Editor, tmp_path: Path) -> None:
        """An error would leave what was deleted on the screen; null is never stored."""
        introduce(editor, tmp_path, VIRTUAL)
        assert content(editor, "stateward:/cwd/lazy/lost.json") is None
        assert content(editor, "stateward:/cwd/lazy/list%5B7%5D.json") is None
        assert content(editor, "stateward:/global/lazy.json") is None

    async def test_other_uris_are_refused(self, editor: Editor, tmp_path: Path) -> None:
        introduce(editor, tmp_path, VIRTUAL)
        for uri in ("stateward:/lunch.json", "file:///etc/passwd", "stateward:/cwd/lazy"):
            assert editor.refusal("workspace/textDocumentContent", uri=uri) == (-32602, "invalid_request")

    async def test_mode_off_has_no_state(self, editor: Editor, tmp_path: Path) -> None:
        introduce(editor, tmp_path, VIRTUAL, initializationOptions={"stateward": {"mode": "off"}})
        assert editor.refusal("workspace/textDocumentContent", uri=LAZY) == (-32602, "invalid_request")

    async def test_nothing_but_them_shows_a_value(self, editor: Editor, goal: Path, tmp_path: Path) -> None:
        """DM-008: hover, actions, outline, lenses and diagnostics of a text full of references quote no value."""
        introduce(editor, tmp_path, VIRTUAL)
        editor.open(goal.as_uri(), TEXT)
        await editor.next_push(goal.as_uri())
        everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
        document = {"textDocument": {"uri": goal.as_uri()}}
        for line, found in enumerate(TEXT.split("\n")):
            for character in range(len(found)):
                position = {"line": line, "character": character}
                for method in ("hover", "definition"):
                    editor.ask(f"textDocument/{method}", **document, position=position)
                editor.ask(
                    "textDocument/codeAction",
                    **document,
                    range={"start": position, "end": position},
                    context={"diagnostics": []},
                )
        editor.ask("textDocument/codeAction", **document, range=everywhere, context={"diagnostics": []})
        for method in ("codeLens", "documentSymbol"):
            editor.ask(f"textDocument/{method}", **document)

        assert BODY not in json.dumps(editor.channel.sent)
        assert content(editor, LAZY) == STATE["lazy"]


class TestRefresh:
    """Virtual documents follow the state, as diagnostics do."""

    async def test_a_client_is_told_when_what_it_shows_has_changed(self, editor: Editor, tmp_path: Path) -> None:
        introduce(editor, tmp_path, VIRTUAL)
        content(editor, LAZY)
        lazy = {**STATE["lazy"], "plan": {"next": "other"}}
        publish(editor, tmp_path, {**STATE, "lazy": lazy})

        await editor.until(lambda: editor.asked(REFRESH))
        assert [asked["params"] for asked in editor.asked(REFRESH)] == [{"uri": LAZY}]
        assert content(editor, LAZY) == lazy

    async def test_it_is_told_of_nothing_else(self, editor: Editor, tmp_path: Path) -> None:
        """Of a document beside the change, of one that was never opened, and of one that it has closed since."""
        introduce(editor, tmp_path, VIRTUAL)
        content(editor, "stateward:/cwd/lazy/plan.json")
        content(editor, "stateward:/effective/tactics.json")
        for n in range(2):
            publish(editor, tmp_path, {**STATE, "tactics": {"now": n}})
            await editor.until(lambda: editor.asked(REFRESH))
        # What is sent last is sent after all that was due before it.
        content(editor, LAZY)
        publish(editor, tmp_path, {})
        await editor.until(lambda: LAZY in [asked["params"]["uri"] for asked in editor.asked(REFRESH)])

        assert [asked["params"]["uri"] for asked in editor.asked(REFRESH)] == [
            "stateward:/effective/tactics.json",
            "stateward:/cwd/lazy/plan.json",
            LAZY,
        ]

    async def test_a_client_without_them_is_told_nothing(self, editor: Editor, tmp_path: Path) -> None:
        introduce(editor, tmp_path, {})
        uri = (tmp_path / "ACTIVE_GOAL_STATE.md").as_uri()
        content(editor, LAZY)
        publish(editor, tmp_path, {})
        editor.open(uri, TEXT)
        await editor.next_push(uri)
        # What is sent last is sent after all that was due before it.
        editor.change(uri, 2, {"text": TEXT})
        await editor.next_push(uri)

        assert not editor.asked(REFRESH)

    async def test_one_that_is_open_already_is_asked_for_again(self, editor: Editor, tmp_path: Path) -> None:
        """Its text may have come from an earlier daemon."""
        introduce(editor, tmp_path, VIRTUAL)
        editor.open(LAZY, "")
        await editor.until(lambda: editor.asked(REFRESH))

        assert [asked["params"] for asked in editor.asked(REFRESH)] == [{"uri": LAZY}]
        assert not editor.session.buffers

    async def test_a_client_that_opens_ever_more_is_followed_in_the_last_ones(
        self, editor: Editor, tmp_path: Path
    ) -> None:
        introduce(editor, tmp_path, VIRTUAL)
        for n in range(FOLLOWED_MAX + 1):
            content(editor, f"stateward:/cwd/lazy/key_{n}.json")
        publish(editor, tmp_path, {"lazy": {"key_0": 1, "key_1": 1}})
        await editor.until(lambda: editor.asked(REFRESH))

        assert [asked["params"]["uri"] for asked in editor.asked(REFRESH)] == ["stateward:/cwd/lazy/key_1.json"]

    async def test_a_projection_follows_the_text(self, editor: Editor, goal: Path, tmp_path: Path) -> None:
        introduce(editor, tmp_path, VIRTUAL)
        editor.open(goal.as_uri(), TEXT)
        uri = projection_uri(goal)
        assert "One:" in json.dumps(content(editor, uri))
        editor.change(goal.as_uri(), 2, {"text": TEXT.replace("One:", "First:")})
        await editor.until(lambda: editor.asked(REFRESH))

        assert [asked["params"] for asked in editor.asked(REFRESH)] == [{"uri": uri}]
        assert "First:" in json.dumps(content(editor, uri))


class TestDefinition:
    @pytest.mark.parametrize("encoding", ENCODINGS)
    @pytest.mark.parametrize("lead", LEADS)
    async def test_a_reference_leads_to_the_key_in_its_plane(
        self, editor: Editor, goal: Path, lead: tuple[str, str, str, str], encoding: str
    ) -> None:
        at, uri, name, whole = lead
        capabilities = {"general": {"positionEncodings": [encoding]}, **LINKS}
        introduce(editor, goal.parent, capabilities)
        editor.open(goal.as_uri(), TEXT)
        [link] = definition(editor, goal.as_uri(), TEXT, at, encoding)
        text = editor.result("workspace/textDocumentContent", uri=link["targetUri"])["text"]

        assert link["targetUri"] == uri
        assert passage(text, link["targetSelectionRange"], encoding).startswith(name)
        assert passage(text, link["targetRange"], encoding).startswith(whole)
        assert passage(TEXT, link["originSelectionRange"], encoding) == at.partition("\n")[0]

    async def test_a_client_that_takes_no_links_gets_the_place(
        self, editor: Editor, goal: Path, tmp_path: Path
    ) -> None:
        introduce(editor, tmp_path, VIRTUAL)
        editor.open(goal.as_uri(), TEXT)
        [place] = definition(editor, goal.as_uri(), TEXT, "cwd.lazy.plan")
        text = editor.result("workspace/textDocumentContent", uri=LAZY)["text"]

        assert set(place) == {"uri", "range"}
        assert passage(text, place["range"]) == '"plan"'

    async def test_a_reference_in_a_value_is_followed(self, editor: Editor, tmp_path: Path) -> None:
        introduce(editor, tmp_path, VIRTUAL)
        text = editor.result("workspace/textDocumentContent", uri=LAZY)["text"]
        [place] = definition(editor, LAZY, text, "cwd.lazy.plan")

        assert (place["uri"], passage(text, place["range"])) == (LAZY, '"plan"')

    async def test_a_plane_that_is_too_long_is_passed_by(self, editor: Editor, goal: Path, tmp_path: Path) -> None:
        log = ["x" * 1024] * (TEXT_LENGTH_MAX // 1024)
        publish(editor, tmp_path, {"lazy": {**STATE["lazy"], "log": log}})
        introduce(editor, tmp_path, VIRTUAL)
        editor.open(goal.as_uri(), TEXT)

        [place] = definition(editor, goal.as_uri(), TEXT, "lazy.list[1].b")
        assert place["uri"] == "stateward:/effective/lazy/list.json"
        text = editor.result("workspace/textDocumentContent", uri=place["uri"])["text"]
        assert passage(text, place["range"]) == '"b"'
        publish(editor, tmp_path, {"lazy": {"plan": log}})
        [place] = definition(editor, goal.as_uri(), TEXT, "cwd.lazy.plan")
        assert place["uri"] == "stateward:/cwd/lazy/plan.json"
        assert content(editor, place["uri"])["meta"] == {"type": "array", "length": len(log)}

    async def test_a_client_without_virtual_documents_is_not_sent_to_one(
        self, editor: Editor, goal: Path, tmp_path: Path
    ) -> None:
        """It would look for a file of that name; the action on the reference shows it the value all the same."""
        introduce(editor, tmp_path, {})
        editor.open(goal.as_uri(), TEXT)
        assert definition(editor, goal.as_uri(), TEXT, "cwd.lazy.plan") is None
        assert definition(editor, goal.as_uri(), TEXT, "todo_two waits") is not None

    @pytest.mark.parametrize("at", ["cwd.lazy.lost", "todo_none", "$cwd.lazy.plan todo_one", "todo_one\n```", "# Goal"])
    async def test_what_is_nothing_or_nowhere_leads_nowhere(
        self, editor: Editor, goal: Path, tmp_path: Path, at: str
    ) -> None:
        introduce(editor, tmp_path, VIRTUAL)
        editor.open(goal.as_uri(), TEXT)
        assert definition(editor, goal.as_uri(), TEXT, at) is None
        assert definition(editor, "stateward:/no/such.json", TEXT, at) is None
        assert definition(editor, (tmp_path / "README.md").as_uri(), TEXT, at) is None

    @pytest.mark.parametrize("at", ["todo_two waits", "todo_one -->\n- [ ] Two", "todo_one -->\n", "todo_two unblocks"])
    async def test_a_todo_id_leads_to_its_row(self, editor: Editor, goal: Path, tmp_path: Path, at: str) -> None:
        introduce(editor, tmp_path, LINKS)
        editor.open(goal.as_uri(), TEXT)
        [link] = definition(editor, goal.as_uri(), TEXT, at)

        row = "- [ ] Two" if "todo_two" in at else '- [ ] One: {"$ref": "cwd.tactics"}'
        assert link["targetUri"] == goal.as_uri()
        assert passage(TEXT, link["targetSelectionRange"]) == row
        assert passage(TEXT, link["targetRange"]).startswith(f"{row}\n  <!-- loopx:todo todo_id={at[:8]}")

    @pytest.mark.parametrize("where", ["open", "folder", "registered"])
    async def test_it_may_stand_in_another_document(
        self, editor: Editor, goal: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, where: str
    ) -> None:
        """In one that is open, in one of the folders, and in that of a registered goal; the first of them counts."""
        inside = where == "folder"
        path = (tmp_path / "far" if inside else tmp_path_factory.mktemp("far")) / "ACTIVE_GOAL_STATE.md"
        path.parent.mkdir(exist_ok=True)
        save(path, FAR)
        if where == "registered":
            path = path.rename(path.with_name("GOAL.md"))
            serve(editor.caller.host, Ledger(path, promoted=False))
        introduce(editor, tmp_path, {})
        editor.open(goal.as_uri(), TEXT)
        if where == "open":
            editor.open(path.as_uri(), FAR)
        await editor.until(lambda: not inside or path.as_uri() in editor.session.folders.goals.values())

        [place] = definition(editor, goal.as_uri(), TEXT, "todo_far")
        assert (place["uri"], passage(FAR, place["range"])) == (path.as_uri(), "- [ ] Far")


class TestCommands:
    async def test_read_state_opens_the_document_where_it_can_be_opened(self, editor: Editor, tmp_path: Path) -> None:
        introduce(editor, tmp_path, OPENS)
        answer = run(editor, "readState", path="lazy.plan")["result"]

        assert json.loads(answer["text"]) == STATE["lazy"]["plan"]
        [asked] = editor.asked("window/showDocument")
        assert asked["params"] == {"uri": "stateward:/effective/lazy/plan.json", "takeFocus": True}
        assert not told(editor)

    @pytest.mark.parametrize("answer", [{"result": {"success": False}}, {"error": {"code": 1, "message": "no"}}])
    async def test_a_client_that_fails_to_open_it_is_told_the_value(
        self, editor: Editor, tmp_path: Path, answer: dict[str, Any]
    ) -> None:
        introduce(editor, tmp_path, OPENS)
        run(editor, "readState", path="cwd.lazy.plan")
        editor.send(id=editor.asked("window/showDocument")[0]["id"], **answer)

        assert told(editor) == [
            'stateward:/cwd/lazy/plan.json\n{\n  "next": "BODY",\n  "wide 🌊": {\n    "deep": 1\n  }\n}'
        ]

    @pytest.mark.parametrize("capabilities", [{}, VIRTUAL, {"window": OPENS["window"]}])
    async def test_others_are_told_the_value_within_bounds(
        self, editor: Editor, tmp_path: Path, capabilities: dict[str, Any]
    ) -> None:
        publish(editor, tmp_path, {"lazy": {"log": ["x" * 100] * 100}})
        introduce(editor, tmp_path, capabilities)
        answer = run(editor, "readState", path="cwd.lazy")["result"]
        run(editor, "readState", path="cwd.lazy", projection="keys")
        long, keys = told(editor)

        assert len(answer["text"]) > 10_000
        assert len(long) < 1_200
        assert long.endswith(f"(the first 1000 of {len(answer['text']) - 1} characters)")
        assert '"log": "array"' in keys
        assert "xxx" not in keys
        assert not editor.asked("window/showDocument")

    @pytest.mark.parametrize(
        ("argument", "category"),
        [
            ({"path": "cwd.lazy.lost"}, "missing_path"),
            ({"path": "lunch"}, "malformed_path"),
            ({"path": "cwd.lazy", "projection": "patch"}, "invalid_request"),
            ({"path": 5}, "invalid_request"),
            ({"uri": "file:///etc/passwd"}, "invalid_request"),
            ({}, "invalid_request"),
        ],
    )
    async def test_what_cannot_be_read_is_told_and_refused(
        self, editor: Editor, tmp_path: Path, argument: dict[str, Any], category: str
    ) -> None:
        introduce(editor, tmp_path, OPENS)
        error = run(editor, "readState", **argument)["error"]

        assert error["data"]["category"] == category
        assert told(editor) == [error["message"]]
        assert BODY not in json.dumps(error)

    async def test_a_reference_offers_to_show_its_value(self, editor: Editor, goal: Path, tmp_path: Path) -> None:
        introduce(editor, tmp_path, {"textDocument": {"codeAction": {"codeActionLiteralSupport": {}}}})
        editor.open(goal.as_uri(), TEXT)
        at = {"line": 3, "character": TEXT.split("\n")[3].index("cwd.lazy.plan") + 1}
        [action] = editor.result(
            "textDocument/codeAction",
            textDocument={"uri": goal.as_uri()},
            range={"start": at, "end": at},
            context={"diagnostics": [], "only": ["stateward.state"]},
        )
        assert action["title"] == "Show the value of cwd.lazy.plan"
        answer = editor.result(
            "workspace/executeCommand",
            command=action["command"]["command"],
            arguments=action["command"]["arguments"],
        )
        assert json.loads(answer["text"]) == STATE["lazy"]["plan"]

    async def test_the_projection_is_that_of_the_text_on_the_screen(
        self, editor: Editor, goal: Path, tmp_path: Path
    ) -> None:
        introduce(editor, tmp_path, OPENS)
        editor.open(goal.as_uri(), TEXT.replace("] Two", "] Second"))
        answer = run(editor, "showProjection", uri=goal.as_uri())["result"]

        assert answer["uri"] == projection_uri(goal)
        assert '"Second"' in answer["text"]
        assert [asked["params"]["uri"] for asked in editor.asked("window/showDocument")] == [projection_uri(goal)]
        assert '"Second"' in editor.result("workspace/textDocumentContent", uri=projection_uri(goal))["text"]

    async def test_without_a_document_there_is_no_projection(self, editor: Editor, tmp_path: Path) -> None:
        introduce(editor, tmp_path, OPENS)
        for argument in ({}, {"uri": "untitled:1"}, {"uri": 5}):
            assert run(editor, "showProjection", **argument)["error"]["data"]["category"] == "invalid_request"
        missing = (tmp_path / "ACTIVE_GOAL_STATE.md").as_uri()
        assert run(editor, "showProjection", uri=missing)["error"]["data"]["category"] == "missing_path"

    async def test_restart_shows_everything_anew_and_ends_nothing(
        self, editor: Editor, goal: Path, tmp_path: Path
    ) -> None:
        introduce(editor, tmp_path, VIRTUAL)
        editor.open(goal.as_uri(), TEXT)
        content(editor, LAZY)
        first = await editor.next_push(goal.as_uri())
        before = editor.session.buffers[goal.as_uri()].reading()
        (tmp_path / "late").mkdir()
        save(tmp_path / "late/ACTIVE_GOAL_STATE.md", FAR)
        answer = editor.result("workspace/executeCommand", command="stateward.restart")

        assert answer["documents"] >= 1
        assert await editor.next_push(goal.as_uri()) == first
        await editor.until(lambda: editor.asked(REFRESH))
        assert editor.session.buffers[goal.as_uri()].reading().goal is not before.goal
        late = (tmp_path / "late/ACTIVE_GOAL_STATE.md").as_uri()
        await editor.until(lambda: late in editor.session.folders.goals.values())
        assert not editor.channel.closed
        assert "the daemon runs on" in told(editor)[-1]
