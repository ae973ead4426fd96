"""A person and the todos of a promoted goal, in an editor: problems, commands, actions and lenses.

editors.md section 1, goal-documents section 5; the editor parts of field cases 26 and 38.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from authority.shown_goal import FIELD_CASES, GOAL, GRIND, LENS, Ledger, serve
from editor import PULLS, Editor, codes, save
from stateward_daemon import diagnosis, grounds
from stateward_daemon.delivering import deliver
from stateward_daemon.host import at_once
from stateward_daemon.lanes import Lanes
from stateward_daemon.positions import Encoding, LineIndex
from stateward_daemon.standing import goal_status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TYPED: Final = (FIELD_CASES / "26-human-typed-inside-the-region/input.md").read_text("utf-8")
CLEAN: Final = (FIELD_CASES / "38-dirty-buffer-and-a-render/disk.md").read_text("utf-8")
NOTE: Final = "Anna says the 50 mm one, see photo."
PAGE: Final = (Path(__file__).parent.parent.parent / "docs/editors.md").read_text("utf-8")
ROW: Final = "- [ ] [P2] also clean the bench (typed by a human)"
ACTIONS: Final = {
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True},
        "codeLens": {"refreshSupport": True},
    },
    "textDocument": {
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}},
        "codeLens": {},
    },
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    document = tmp_path / "ACTIVE_GOAL_STATE.md"
    save(document, CLEAN)
    return document


@pytest.fixture
def ledger(path: Path) -> Ledger:
    return Ledger(path)


@pytest.fixture
async def editor(ledger: Ledger) -> AsyncIterator[Editor]:
    async with Editor() as editor:
        serve(editor.caller.host, ledger)
        yield editor


def on_disk(path: Path) -> str:
    return path.read_text("utf-8")


def introduce(editor: Editor, encoding: Encoding = Encoding.UTF_16, **capabilities: Any) -> Any:
    options = {"stateward": {"agent": "ada"}}
    general = {"positionEncodings": [encoding]}
    return editor.initialize({**ACTIONS, "general": general, **capabilities}, initializationOptions=options)


def run(editor: Editor, command: str, **argument: Any) -> Any:
    return editor.ask("workspace/executeCommand", command=f"stateward.{command}", arguments=[argument])


def result(editor: Editor, command: str, **argument: Any) -> Any:
    answer = run(editor, command, **argument)
    assert "error" not in answer, answer
    return answer["result"]


def told(editor: Editor) -> list[str]:
    return [m["params"]["message"] for m in editor.channel.sent if m.get("method") == "window/showMessage"]


def actions(editor: Editor, uri: str, line: int, only: list[str] | None = None, trigger: int = 1) -> Any:
    at = {"line": line, "character": 0}
    context = {"diagnostics": [], "triggerKind": trigger, **({"only": only} if only else {})}
    return editor.result(
        "textDocument/codeAction", textDocument={"uri": uri}, range={"start": at, "end": at}, context=context
    )


def lenses(editor: Editor, uri: str) -> list[tuple[int, str, str]]:
    found = editor.result("textDocument/codeLens", textDocument={"uri": uri})
    return [(at["range"]["start"]["line"], at["command"]["title"], at["command"]["command"]) for at in found]


def line_of(text: str, wanted: str) -> int:
    return text.split("\n").index(wanted)


def after(text: str, edit: dict[str, Any], encoding: Encoding = Encoding.UTF_16) -> str:
    """The text after an edit of its document, which has to be of the version that was open."""
    [change] = edit["documentChanges"]
    assert change["textDocument"]["version"] == 1
    index = LineIndex(text)
    spans = [
        (*(index.offset(at["line"], at["character"], encoding) for at in (r["start"], r["end"])), piece["newText"])
        for piece in change["edits"]
        for r in [piece["range"]]
    ]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text


class TestProblems:
    """LX-087, LX-122; the rows of section 5 about promoted goals."""

    async def test_what_somebody_typed_is_told_on_its_lines(self, editor: Editor, path: Path) -> None:
        """Field case 26: both lines, beside what refuses the document; no text is edited in a section."""
        save(path, TYPED)
        introduce(editor)
        editor.open(path.as_uri(), TYPED)
        items = (await editor.next_push(path.as_uri()))["diagnostics"]

        edited = [item["range"]["start"]["line"] for item in items if item["code"] == "edited_projection"]
        assert edited == [line_of(TYPED, NOTE), line_of(TYPED, ROW)]
        assert "foreign_content_in_marked_region" in codes({"items": items})

    async def test_an_old_display_is_told_without_an_edit_of_the_text(
        self, editor: Editor, ledger: Ledger, path: Path
    ) -> None:
        introduce(editor)
        deliver(editor.caller.host, GOAL)
        editor.open(path.as_uri(), on_disk(path))
        first = await editor.next_push(path.as_uri())
        ledger.touch()
        editor.caller.host.subscriptions.published(ledger.view)
        second = await editor.next_push(path.as_uri())

        assert (codes(first), codes(second)) == ([], ["stale_projection", "stale_projection"])
        assert second["version"] == 1
        await editor.until(lambda: editor.asked("workspace/codeLens/refresh"))

    async def test_a_client_that_asks_is_told_to_ask_again(self, editor: Editor, ledger: Ledger, path: Path) -> None:
        introduce(editor, textDocument=PULLS["textDocument"], workspace=PULLS["workspace"])
        deliver(editor.caller.host, GOAL)
        editor.open(path.as_uri(), on_disk(path))

        def pull(known: str | None = None) -> Any:
            return editor.result("textDocument/diagnostic", textDocument={"uri": path.as_uri()}, previousResultId=known)

        first = pull()
        assert pull(first["resultId"])["kind"] == "unchanged"
        ledger.touch()
        editor.caller.host.subscriptions.published(ledger.view)
        await editor.until(lambda: editor.asked("workspace/diagnostic/refresh"))
        assert codes(pull(first["resultId"])) == ["stale_projection", "stale_projection"]

    async def test_a_revision_that_somebody_wrote_is_no_newer_display(self, editor: Editor, path: Path) -> None:
        """Neither its digest nor its revision is believed because it stands there."""
        introduce(editor)
        deliver(editor.caller.host, GOAL)
        text = on_disk(path)
        digest = text.partition("role=agent provider_revision=")[2].partition("records_sha256=")[2][:64]
        editor.open(path.as_uri(), text.replace(digest, "0" * 64))
        items = (await editor.next_push(path.as_uri()))["diagnostics"]

        assert sorted(codes({"items": items})) == ["edited_projection", "stale_projection"]
        assert len({item["range"]["start"]["line"] for item in items}) == 1

    async def test_leases_are_told_of_where_they_are_needed(self, path: Path) -> None:
        claimed = {**GRIND, "claimed_by": "codex"}
        for mode, wanted in (("soft_claim", []), ("hard_lease", ["claim_without_lease"])):
            ledger = Ledger(path, LENS, claimed, handoff_mode=mode)
            async with Editor() as editor:
                serve(editor.caller.host, ledger)
                introduce(editor)
                deliver(editor.caller.host, GOAL)
                editor.open(path.as_uri(), on_disk(path))
                assert codes(await editor.next_push(path.as_uri())) == wanted

    async def test_a_lease_that_ran_out_is_told(self, path: Path) -> None:
        ledger = Ledger(path, LENS, {**GRIND, "claimed_by": "codex"}, handoff_mode="hard_lease")
        lease = {"owner": "codex", "status": "active", "expires_at": "2020-01-01T00:00:00Z"}
        ledger.change(leases={"todo_grind": lease})
        async with Editor() as editor:
            serve(editor.caller.host, ledger)
            introduce(editor)
            deliver(editor.caller.host, GOAL)
            editor.open(path.as_uri(), on_disk(path))
            assert codes(await editor.next_push(path.as_uri())) == ["expired_lease"]

    async def test_a_lease_that_runs_out_while_nothing_happens_is_told(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No call and no edit says so: the clock does."""
        ledger = Ledger(path, LENS, {**GRIND, "claimed_by": "codex"}, handoff_mode="hard_lease")
        async with Editor() as editor:
            serve(editor.caller.host, ledger)
            introduce(editor)
            lease = {"owner": "codex", "status": "active", "expires_at": "2126-12-01T12:00:01Z"}
            ledger.change(leases={"todo_grind": lease})
            deliver(editor.caller.host, GOAL)
            clock = ["2126-12-01T12:00:00.900000Z"]

            wait = grounds.Expiry.wait

            def waits(*arguments: Any) -> None:
                """Once the wait for the expiry has begun, nothing but that is left to tell of it."""
                wait(*arguments)
                clock.append("2126-12-01T12:00:01.000000Z")

            monkeypatch.setattr(grounds.Expiry, "wait", waits)
            for module in (diagnosis, grounds):
                monkeypatch.setattr(module, "utc_now", lambda: clock[-1])
            editor.open(path.as_uri(), on_disk(path))
            first = await editor.next_push(path.as_uri())
            second = await editor.next_push(path.as_uri())

        assert (codes(first), codes(second)) == ([], ["expired_lease"])

    async def test_a_hover_tells_of_the_lease(self, editor: Editor, ledger: Ledger, path: Path) -> None:
        introduce(editor)
        lease = {"owner": "codex", "status": "active", "acquired_at": "2026-12-01T12:00:00Z"}
        ledger.change(leases={"todo_grind": {**lease, "expires_at": "2126-12-01T12:00:01Z"}})
        editor.open(path.as_uri(), CLEAN)
        at = {"line": line_of(CLEAN, "- [ ] [P1] Grind it."), "character": 3}
        found = editor.result("textDocument/hover", textDocument={"uri": path.as_uri()}, position=at)

        assert "- lease: codex has the lease since 2026-12-01T12:00:00Z, until " in found["contents"]["value"]

    async def test_a_reference_that_leads_nowhere_is_told_as_to_agents(self, editor: Editor, path: Path) -> None:
        introduce(editor)
        editor.open(path.as_uri(), CLEAN + "\nSee $global.lazy.nothing.\n")

        assert "dangling_state_reference" in codes(await editor.next_push(path.as_uri()))

    async def test_a_promoted_document_is_compared_in_a_thread(self, editor: Editor, path: Path) -> None:
        introduce(editor)
        editor.open(path.as_uri(), CLEAN)
        before = editor.channel.worked
        lenses(editor, path.as_uri())

        assert editor.channel.worked == before + 1


class TestCommands:
    """SF-012: a command goes the way of its method, and answers alike."""

    async def test_they_are_announced(self, editor: Editor) -> None:
        announced = introduce(editor)

        of_todos = ["claimTodo", "completeTodo", "takeTodo", "showReceipt", "projectMarkdown"]
        names = [*of_todos, "readState", "showProjection", "restart"]
        commands = announced["executeCommandProvider"]["commands"]
        assert commands == [f"stateward.{name}" for name in names]
        assert all(f"| `{command}` |" in PAGE for command in commands)
        kinds = announced["codeActionProvider"]["codeActionKinds"]
        assert all(f"| `{kind}`" in PAGE for kind in kinds)

    async def test_a_claim_is_that_of_the_person(self, editor: Editor, ledger: Ledger, path: Path) -> None:
        introduce(editor)
        answer = result(editor, "claimTodo", uri=path.as_uri(), todo_id="todo_grind")

        assert (answer["status"], answer["claimed_by"], answer["projection_delivery"]) == (
            "applied",
            "ada",
            "delivered",
        )
        assert ledger.snapshot().goal.records["todo_grind"]["claimed_by"] == "ada"
        assert "claimed_by=ada" in on_disk(path)

    async def test_a_refusal_is_shown_and_typed(self, editor: Editor, path: Path) -> None:
        introduce(editor)
        error = run(editor, "claimTodo", uri=path.as_uri(), todo_id="todo_lens")["error"]

        assert error["data"]["reason_code"] == "todo_not_agent"
        assert told(editor) == [error["message"]]

    async def test_an_agent_that_is_no_name_is_refused(self, editor: Editor, path: Path) -> None:
        editor.initialize(initializationOptions={"stateward": {"agent": "Ada L."}})
        error = run(editor, "claimTodo", uri=path.as_uri(), todo_id="todo_grind")["error"]

        assert error["data"]["path"] in ("$.params.claimed_by", "$.params.agent_id")

    @pytest.mark.parametrize("arguments", [None, [], ["todo_grind"], [{}, {}], [{}], [{"uri": "file:///nowhere"}]])
    async def test_a_wrong_argument_is_told(self, editor: Editor, arguments: Any) -> None:
        introduce(editor)
        answer = editor.ask("workspace/executeCommand", command="stateward.claimTodo", arguments=arguments)

        assert told(editor) == [answer["error"]["message"]]

    async def test_an_unknown_command_names_the_nearest(self, editor: Editor) -> None:
        introduce(editor)

        assert run(editor, "claimTodos")["error"]["data"]["did_you_mean"] == "stateward.claimTodo"

    async def test_a_todo_of_the_user_is_completed_by_the_user(
        self, editor: Editor, ledger: Ledger, path: Path
    ) -> None:
        introduce(editor)
        answer = result(editor, "completeTodo", uri=path.as_uri(), todo_id="todo_lens", decision_outcome="approve")

        assert answer["status"] == "done"
        assert ledger.snapshot().goal.records["todo_lens"]["done"] is True

    async def test_where_leases_are_needed_the_editor_takes_and_shows_its_own(self, path: Path) -> None:
        ledger = Ledger(path, LENS, GRIND, handoff_mode="hard_lease")
        async with Editor() as editor:
            serve(editor.caller.host, ledger)
            introduce(editor)
            lease = result(editor, "claimTodo", uri=path.as_uri(), todo_id="todo_grind")["lease"]
            done = result(editor, "completeTodo", uri=path.as_uri(), todo_id="todo_grind", evidence="ground")

        assert lease["owner"] == "ada"
        assert lease["idempotency_key"].startswith("editor:")
        assert (done["status"], done["lease"]["status"]) == ("done", "released")

    async def test_a_lease_that_an_agent_of_that_name_took_is_not_gone_on_with(self, path: Path) -> None:
        ledger = Ledger(path, LENS, GRIND, handoff_mode="hard_lease")
        async with Editor() as editor:
            serve(editor.caller.host, ledger)
            introduce(editor)
            key = {"idempotency_key": "mine", "expected_version": 0}
            result(editor, "claimTodo", uri=path.as_uri(), todo_id="todo_grind", lease=key)
            error = run(editor, "completeTodo", uri=path.as_uri(), todo_id="todo_grind")["error"]

        assert error["data"]["reason_code"] == "lease_fence_required"

    async def test_a_receipt_is_shown(self, editor: Editor, path: Path) -> None:
        introduce(editor)
        assert "no receipt" in run(editor, "showReceipt", uri=path.as_uri(), todo_id="todo_grind")["error"]["message"]
        result(editor, "claimTodo", uri=path.as_uri(), todo_id="todo_grind", operation_id="claim-1")
        answer = result(editor, "showReceipt", goal_id=GOAL, todo_id="todo_grind")

        assert (answer["status"], answer["operation_id"]) == ("found", "claim-1")
        assert told(editor)[-1].startswith("claim-1 was accepted at ")
        assert result(editor, "showReceipt", goal_id=GOAL, operation_id="never")["status"] == "missing"
        assert told(editor)[-1] == "never was never accepted"

    async def test_the_receipt_of_a_todo_is_that_of_what_happened_last(self, editor: Editor, path: Path) -> None:
        introduce(editor)
        result(editor, "claimTodo", uri=path.as_uri(), todo_id="todo_grind", operation_id="z")
        result(editor, "completeTodo", uri=path.as_uri(), todo_id="todo_grind", operation_id="a", evidence="ground")

        assert result(editor, "showReceipt", uri=path.as_uri(), todo_id="todo_grind")["operation_id"] == "a"

    async def test_the_next_message_need_not_wait_for_a_command(self, editor: Editor, path: Path) -> None:
        """DM-007: each request is answered once, and the connection ends behind the answer."""
        introduce(editor)
        waiting: list[Any] = []
        editor.caller.host.lanes = Lanes(lambda *job: waiting.append(job))
        argument = {"uri": path.as_uri(), "todo_id": "todo_lens", "decision_outcome": "approve"}
        params = {"command": "stateward.completeTodo", "arguments": [argument]}
        for _ in range(2):
            editor.send(id="command", method="workspace/executeCommand", params=params)
        assert lenses(editor, path.as_uri()) != []
        [duplicate] = editor.answers("command")
        assert duplicate["error"]["data"]["category"] == "invalid_message"
        assert not editor.session.settled

        while waiting:
            at_once(*waiting.pop())
        assert [answer["result"]["status"] for answer in editor.answers("command")[1:]] == ["done"]
        assert editor.session.settled

    async def test_a_display_is_projected_or_it_is_said_why_not(self, editor: Editor, path: Path) -> None:
        introduce(editor)
        assert result(editor, "projectMarkdown", uri=path.as_uri())["status"] == "delivered"
        save(path, TYPED)
        report = result(editor, "projectMarkdown", uri=path.as_uri())

        assert report["reason_code"] == "todo_projection_region_edited"
        assert told(editor)[-1].startswith("the document does not show it yet: ")

    async def test_an_unsaved_document_that_is_the_authority_is_saved_first(self, path: Path) -> None:
        ledger = Ledger(path, promoted=False)
        async with Editor() as editor:
            serve(editor.caller.host, ledger)
            introduce(editor)
            editor.open(path.as_uri(), CLEAN)
            editor.change(path.as_uri(), 2, {"text": CLEAN + "\nmore\n"})
            error = run(editor, "claimTodo", uri=path.as_uri(), todo_id="todo_grind")["error"]["data"]
            assert (error["reason_code"], error["retryable"]) == ("document_buffer_dirty", True)
            assert on_disk(path) == CLEAN
            display = goal_status(editor.caller.host, GOAL)["display"]
            assert display == {"state": "buffer_dirty", "reason_code": "document_buffer_dirty"}

            editor.change(path.as_uri(), 3, {"text": CLEAN})
            assert goal_status(editor.caller.host, GOAL)["display"] == {"state": "current"}
            assert result(editor, "claimTodo", uri=path.as_uri(), todo_id="todo_grind")["claimed_by"] == "ada"
            assert "claimed_by=ada" in on_disk(path)


@pytest.mark.parametrize("encoding", [Encoding.UTF_16, Encoding.UTF_8])
class TestTypedRows:
    """Field case 26 in the editor: a typed row becomes a todo, and a note goes below the end marker."""

    def typed(self, editor: Editor, path: Path, encoding: Encoding) -> str:
        text = TYPED.replace("also clean", "\N{WATER WAVE} also clean").replace("Anna", "\N{WATER WAVE} Anna")
        save(path, text)
        introduce(editor, encoding)
        editor.open(path.as_uri(), text)
        return text

    async def test_a_row_is_taken_through_the_writer_and_out_of_the_text(
        self, editor: Editor, ledger: Ledger, path: Path, encoding: Encoding
    ) -> None:
        text = self.typed(editor, path, encoding)
        row = next(line for line in text.split("\n") if "clean" in line)
        [action] = actions(editor, path.as_uri(), line_of(text, row), ["quickfix"])
        command = action["command"]
        assert action["title"] == "Take this row as a todo"

        answers = [editor.result("workspace/executeCommand", **command) for _ in range(2)]
        assert [answer["status"] for answer in answers] == ["applied", "replayed"]
        added = ledger.snapshot().goal.records[answers[0]["todo_id"]]
        assert added["text"] == "[P2] \N{WATER WAVE} also clean the bench (typed by a human)"

        await editor.until(lambda: editor.asked("workspace/applyEdit"))
        edit = editor.asked("workspace/applyEdit")[0]["params"]["edit"]
        assert after(text, edit, encoding) == text.replace(f"{row}\n", "")

    async def test_once_that_is_saved_the_todo_is_shown_in_its_place(
        self, editor: Editor, path: Path, encoding: Encoding
    ) -> None:
        text = self.typed(editor, path, encoding).replace("\N{WATER WAVE} Anna says the 50 mm one, see photo.\n", "")
        save(path, text)
        editor.open(path.as_uri(), text)
        row = next(line for line in text.split("\n") if "clean" in line)
        command = actions(editor, path.as_uri(), line_of(text, row), ["quickfix"])[0]["command"]
        todo_id = editor.result("workspace/executeCommand", **command)["todo_id"]
        [asked] = editor.asked("workspace/applyEdit")
        without = after(text, asked["params"]["edit"], encoding)
        editor.change(path.as_uri(), 2, {"text": without})
        editor.send(id=asked["id"], result={"applied": True})
        save(path, without)
        editor.notify("textDocument/didSave", textDocument={"uri": path.as_uri()})

        assert f"todo_id={todo_id}" in on_disk(path)

    async def test_what_the_client_does_not_apply_the_person_is_told(
        self, editor: Editor, path: Path, encoding: Encoding
    ) -> None:
        text = self.typed(editor, path, encoding)
        row = next(line for line in text.split("\n") if "clean" in line)
        command = actions(editor, path.as_uri(), line_of(text, row), ["quickfix"])[0]["command"]
        editor.result("workspace/executeCommand", **command)
        editor.send(id=editor.asked("workspace/applyEdit")[0]["id"], result={"applied": False})

        assert told(editor)[-1] == "the row is a todo now; delete the line that you typed, and save"

    async def test_a_row_of_another_text_is_not_taken(
        self, editor: Editor, ledger: Ledger, path: Path, encoding: Encoding
    ) -> None:
        text = self.typed(editor, path, encoding)
        row = next(line for line in text.split("\n") if "clean" in line)
        command = actions(editor, path.as_uri(), line_of(text, row), ["quickfix"])[0]["command"]
        editor.change(path.as_uri(), 2, {"text": "# else\n" + text})
        head = ledger.head

        assert "another one by now" in editor.ask("workspace/executeCommand", **command)["error"]["message"]
        assert ledger.head == head

    async def test_a_note_goes_below_the_end_marker(self, editor: Editor, path: Path, encoding: Encoding) -> None:
        text = self.typed(editor, path, encoding)
        note = next(line for line in text.split("\n") if "Anna" in line)
        [action] = actions(editor, path.as_uri(), line_of(text, note), ["quickfix"])
        moved = after(text, action["edit"], encoding)

        assert (action["title"], action["isPreferred"]) == ("Move the line below the end marker", False)
        assert [item["code"] for item in action["diagnostics"]] == ["foreign_content_in_marked_region"]
        assert moved == text.replace(f"{note}\n", "").replace("role=user end -->", f"role=user end -->\n\n{note}")


class TestActions:
    async def test_a_fix_of_a_text_is_an_edit_of_its_version(self, editor: Editor, tmp_path: Path) -> None:
        uri = (tmp_path / "other" / "ACTIVE_GOAL_STATE.md").as_uri()
        text = "---\nstatus: active\n---\n## Next Action\n\n- go\n\n## Agent Todo\n\n- [ ] \N{WATER WAVE} a\n- [ ] b\n"
        introduce(editor)
        editor.open(uri, text)
        fix, every, mend = actions(editor, uri, 9)

        assert (fix["title"], fix["kind"], fix["isPreferred"]) == ("Give the row its id", "quickfix", True)
        assert after(text, fix["edit"]).count("todo_id=") == 1
        assert (every["title"], every["kind"]) == ("Give all 2 rows their ids", "quickfix")
        assert after(text, every["edit"]).count("todo_id=") == 2
        assert (mend["title"], mend["kind"]) == ("Make all safe fixes", "source.fixAll.stateward")
        assert after(text, mend["edit"]).count("todo_id=") == 2

    async def test_only_what_is_wanted_is_made(self, editor: Editor, tmp_path: Path) -> None:
        uri = (tmp_path / "other" / "ACTIVE_GOAL_STATE.md").as_uri()
        introduce(editor)
        editor.open(uri, "---\na: b\n---\n## Next Action\n\n- go\n\n## Agent Todo\n\n- [ ] a\n")

        def kinds(only: list[str] | None = None, trigger: int = 1) -> list[str]:
            return [action["kind"] for action in actions(editor, uri, 9, only, trigger)]

        assert (
            kinds(["source"]) == kinds(["source.fixAll"]) == kinds(["source.fixAll"], 2) == ["source.fixAll.stateward"]
        )
        assert kinds(trigger=2) == kinds(["quickfix"]) == ["quickfix"]
        assert kinds(["quick"]) == kinds(["refactor"]) == []

    async def test_a_section_of_a_promoted_goal_is_not_edited(self, editor: Editor, path: Path) -> None:
        text = CLEAN.replace(
            "- [ ] [P1] Grind it.\n  <!-- loopx:todo todo_id=todo_grind status=open", "- [ ] [P1] x\n  <!--"
        )
        introduce(editor)
        editor.open(path.as_uri(), text)
        found = actions(editor, path.as_uri(), line_of(text, "- [ ] [P1] x"))

        assert [action["title"] for action in found] == ["Take this row as a todo"]

    async def test_a_row_offers_what_can_be_done_about_it(self, editor: Editor, path: Path) -> None:
        introduce(editor)
        editor.open(path.as_uri(), CLEAN)
        line = line_of(CLEAN, "- [ ] [P1] Grind it.")
        assert [a["title"] for a in actions(editor, path.as_uri(), line)] == [
            "Claim: [P1] Grind it.",
            "Complete: [P1] Grind it.",
        ]
        result(editor, "claimTodo", uri=path.as_uri(), todo_id="todo_grind")
        titles = [a["title"] for a in actions(editor, path.as_uri(), line, ["stateward"])]
        assert titles == ["Complete: [P1] Grind it.", "Show receipt: [P1] Grind it."]

    async def test_a_client_of_commands_alone_gets_those(self, editor: Editor, path: Path) -> None:
        editor.initialize()
        editor.open(path.as_uri(), CLEAN)
        found = actions(editor, path.as_uri(), line_of(CLEAN, "- [ ] [P1] Grind it."))

        assert [command["command"] for command in found] == ["stateward.claimTodo", "stateward.completeTodo"]

    async def test_a_client_without_versions_gets_plain_edits(self, editor: Editor, tmp_path: Path) -> None:
        uri = (tmp_path / "other" / "ACTIVE_GOAL_STATE.md").as_uri()
        editor.initialize({"textDocument": ACTIONS["textDocument"]})
        editor.open(uri, "# Goal\n")
        found = actions(editor, uri, 0)

        assert all(list(action["edit"]["changes"]) == [uri] for action in found)
        assert found


class TestLenses:
    async def test_a_section_tells_what_is_left_and_a_todo_what_can_be_done(self, editor: Editor, path: Path) -> None:
        introduce(editor)
        deliver(editor.caller.host, GOAL)
        text = on_disk(path)
        editor.open(path.as_uri(), text)

        assert lenses(editor, path.as_uri()) == [
            (line_of(text, "## User Todo / Owner Review Reading Queue"), "1 open", ""),
            (line_of(text, "## Agent Todo"), "1 open", ""),
            (line_of(text, "- [ ] [P0] Pick a lens."), "Complete", "stateward.completeTodo"),
            (line_of(text, "- [ ] [P1] Grind it."), "Claim", "stateward.claimTodo"),
            (line_of(text, "- [ ] [P1] Grind it."), "Complete", "stateward.completeTodo"),
        ]

    async def test_an_old_display_says_so_and_projects(self, editor: Editor, ledger: Ledger, path: Path) -> None:
        introduce(editor)
        deliver(editor.caller.host, GOAL)
        editor.open(path.as_uri(), on_disk(path))
        ledger.finish()
        behind = "1 open \N{EM DASH} display behind head: shows 1, head is 2"
        sections = [(title, command) for _, title, command in lenses(editor, path.as_uri())][:2]

        assert sections == [(behind, "stateward.projectMarkdown")] * 2

    async def test_a_section_that_was_never_rendered_shows_no_revision(self, editor: Editor, path: Path) -> None:
        introduce(editor)
        editor.open(path.as_uri(), CLEAN)

        assert lenses(editor, path.as_uri())[0][1].endswith("shows no revision, head is 1")

    async def test_without_a_goal_only_the_counts_are_there(self, editor: Editor, tmp_path: Path) -> None:
        introduce(editor)
        uri = (tmp_path / "other" / "ACTIVE_GOAL_STATE.md").as_uri()
        editor.open(uri, "## Agent Todo\n- [x] a\n- [ ] b\n- [-] c\n## User Todo\n")

        assert [title for _, title, _ in lenses(editor, uri)] == ["1 open, 1 deferred, 1 done", "no todos"]

    async def test_a_goal_that_is_not_promoted_offers_its_rows(self, path: Path) -> None:
        ledger = Ledger(path, promoted=False)
        async with Editor() as editor:
            serve(editor.caller.host, ledger)
            introduce(editor)
            editor.open(path.as_uri(), CLEAN)
            titles = [title for _, title, _ in lenses(editor, path.as_uri())]

        assert titles == ["1 open", "1 open", "Complete", "Claim", "Complete"]

    async def test_a_todo_that_is_done_offers_its_receipt_alone(self, path: Path) -> None:
        ledger = Ledger(path, LENS, {**GRIND, "status": "done", "done": True})
        ledger.change(receipts={"op-1": {"cursor": 1, "answer": {"todo_id": "todo_grind"}}})
        async with Editor() as editor:
            serve(editor.caller.host, ledger)
            introduce(editor)
            deliver(editor.caller.host, GOAL)
            editor.open(path.as_uri(), on_disk(path))

            titles = [title for _, title, _ in lenses(editor, path.as_uri())]

        assert titles == ["1 open", "1 done", "Complete", "Show receipt"]
