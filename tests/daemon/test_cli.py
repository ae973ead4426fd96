"""protocol.md section 6: the command line, with a stand-in for the daemon or none."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from command_line import params_of
from stand_in import Message, refusal, result
from stateward.location import Place, log_path
from stateward_daemon.cli.printing import columns, paint
from stateward_daemon.cli.verbs import VERBS
from stateward_protocol import __version__

if TYPE_CHECKING:
    from pathlib import Path

GOAL = """\
---
status: active
---
# Goal

## Next Action

- go on

## Agent Todo

- [ ] 工作 one
  <!-- loopx:todo todo_id=todo_dup -->
- [ ] two \x1b[31m
  <!-- loopx:todo todo_id=todo_dup -->
"""
CLEAN = GOAL.replace("two \x1b[31m", "two").replace("todo_dup", "todo_first", 1).replace("todo_dup", "todo_second")


class TestUsage:
    """Exit status 2, and a message that says what to do."""

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["rea", "x"], "did you mean stateward read?"),
            (["goal", "checks", "x"], "did you mean stateward goal check?"),
            (["--frobnicate"], "options come after the verb"),
            (["--json", "where"], "options come after the verb, as in: stateward where --json\n"),
            (["--lines", "3", "daemon", "logs", "x"], "as in: stateward daemon logs --lines 3 x\n"),
            (["daemon", "logs", "--lines", "-3"], "a count is a whole number from 0"),
            (["daemon", "logs", "--lines", "many"], "a count is a whole number from 0"),
            (["read"], "required: PATH..."),
            (["read", "cwd", "--projection", "all"], "invalid choice: 'all'"),
            (["read", "cwd", "--proj", "keys"], "unrecognized arguments: --proj"),
            (["read", "cwd", "--wanted", "cwd,project"], "owners are global, cwd, session"),
            (["read", "cwd", "--timeout", "soon"], "seconds are a number above 0"),
            (["read", "cwd", "--timeout", "nan"], "seconds are a number above 0"),
            (["read", "cwd", "--timeout", "inf"], "seconds are a number above 0"),
            (["patch", '{"cwd":'], "the given JSON ends too early, after 7 characters"),
            (["patch", '{"cwd": "x'], "the given JSON ends too early, after 10 characters"),
            (["patch", "{cwd: 1}"], "the given text is not JSON"),
            (["patch", '{"a":1,"a":2}'], "two members of the same name"),
            (["configure"], "required: --history-limit"),
            (["import", "/nowhere/state.json"], "/nowhere/state.json cannot be read"),
            (["daemon", "run", "--idle-exit-s", "soon"], "see stateward daemon run --help"),
        ],
    )
    def test_a_wrong_command_line_is_refused(self, run: Any, arguments: list[str], said: str) -> None:
        printed = run(*arguments)

        assert (printed.status, printed.out) == (2, "")
        assert said in printed.err
        assert printed.err.startswith("stateward: ")

    def test_nothing_at_all_shows_the_verbs_and_is_a_usage_fault(self, run: Any) -> None:
        printed = run()

        assert (printed.status, printed.out) == (2, "")
        assert "stateward VERB" in printed.err

    def test_help_and_version_are_answers(self, run: Any) -> None:
        assert run("--version").out == f"stateward {__version__}\n"
        assert "Verbs:" in run("--help").out
        assert run("read", "--help").status == 0
        assert run("read", "--help").out.startswith("Usage: stateward read [OPTIONS] PATH...")

    @pytest.mark.parametrize("group", ["daemon", "goal"])
    def test_a_group_lists_its_verbs(self, run: Any, group: str) -> None:
        asked, bare = run(group, "--help"), run(group)

        assert (asked.status, asked.err, bare.status, bare.out) == (0, "", 2, "")
        assert bare.err == asked.out
        listed = [line.split("  ")[1] for line in asked.out.splitlines() if line.startswith(f"  {group} ")]
        assert listed == [name for name in VERBS if name.startswith(f"{group} ")]

    def test_arguments_are_escaped_in_complaints(self, run: Any) -> None:
        """Security row 24."""
        assert "\x1b" not in run("re\x1b[31mad").err
        assert "\x1b" not in run("read", "x", "--\x1b[31m").err


class TestReading:
    def test_a_value_is_printed_as_indented_json(self, run: Any, serve: Any) -> None:
        stand_in = serve(lambda message: result(message, {"value": {"next": ["工作"]}}))
        printed = run("read", "effective.tactics", "--session", "s1", "--wanted", "cwd,session")

        assert (printed.status, printed.err) == (0, "")
        assert printed.out == '{\n  "next": [\n    "工作"\n  ]\n}\n'
        assert params_of(stand_in, "read_state") == {"path": "effective.tactics", "projection": "value"}
        attach = params_of(stand_in, "attach")
        assert (attach["session"], attach["wanted"], attach["client"]["name"]) == (
            "s1",
            ["cwd", "session"],
            "stateward-cli",
        )

    def test_several_paths_are_one_batch_wherever_the_options_stand(self, run: Any, serve: Any) -> None:
        stand_in = serve(lambda message: result(message, {"meta": [], "keys": []}))
        printed = run("read", "cwd", "--projection", "keys", "global", "--json")

        assert params_of(stand_in, "read_state") == {"paths": ["cwd", "global"], "projection": "keys"}
        assert printed.json == {"meta": [], "keys": []}

    def test_a_hint_is_a_note_beside_the_value(self, run: Any, serve: Any) -> None:
        hint = {"type": "dangling-reference", "message": "not here\x1b", "paths": ["cwd.tactics.note"]}
        serve(lambda message: result(message, {"value": None, "hint": [hint]}))
        printed = run("read", "cwd.lazy.gone")

        assert printed.out == "null\n"
        assert printed.err == "hint: not here\\u001b\n  cwd.tactics.note\n"

    def test_state_cannot_drive_the_terminal(self, run: Any, serve: Any) -> None:
        """Security row 24: as JSON of the same value."""
        hostile = {"a\x9b2J": "\x1b]0;x\x07 \u202e \u2028"}
        serve(lambda message: result(message, {"value": hostile}))
        for arguments in (["read", "cwd"], ["read", "cwd", "--json"]):
            printed = run(*arguments)
            assert printed.out.replace("\n", "").isprintable()
            assert printed.json in (hostile, {"value": hostile})

    def test_a_baseline_is_printed_whole(self, run: Any, serve: Any) -> None:
        answer = {"state": {"tactics": {"a": 1}}, "lazy_navigation": {"available": False, "path": "effective.lazy"}}
        serve(lambda message: result(message, answer))

        assert run("baseline").json == run("baseline", "--json").json == answer

    def test_browsing_shows_keys_kinds_and_how_to_go_on(self, run: Any, serve: Any) -> None:
        answer = {"meta": {"type": "object", "size": 3}, "keys": {"a.md": "string", "rules": "array", "工作": "object"}}
        stand_in = serve(lambda message: result(message, answer))
        printed = run("browse", "cwd.lazy")

        assert printed.out == 'cwd.lazy  object of 3\n  "a.md"  string\n  rules   array\n  "工作"  object\n'
        assert printed.err == "go on with: stateward browse 'cwd.lazy.rules'\n"
        assert params_of(stand_in, "read_state") == {"path": "cwd.lazy", "projection": "keys"}

    @pytest.mark.parametrize(
        ("meta", "onward"),
        [
            ({"type": "array", "length": 2}, "stateward browse 'cwd.lazy[0]'"),
            ({"type": "array", "length": 0}, "stateward read 'cwd.lazy'"),
            ({"type": "string", "length": 5}, "stateward read 'cwd.lazy'"),
            ({"type": "number"}, "stateward read 'cwd.lazy'"),
        ],
    )
    def test_what_has_no_keys_is_indexed_or_read(self, run: Any, serve: Any, meta: Any, onward: str) -> None:
        serve(lambda message: result(message, {"meta": meta, "keys": []}))

        assert run("browse", "cwd.lazy").err.endswith(f": {onward}\n")

    def test_browsing_without_a_path_shows_the_wanted_scopes(self, run: Any, serve: Any) -> None:
        meta = {"type": "object", "size": 1}
        stand_in = serve(lambda message: result(message, {"meta": [meta] * 2, "keys": [{"lazy": "object"}] * 2}))
        printed = run("browse", "--wanted", "global")

        assert params_of(stand_in, "read_state")["paths"] == ["effective", "global"]
        assert printed.out == "effective  object of 1\n  lazy  object\nglobal  object of 1\n  lazy  object\n"

    def test_status_of_the_state_names_what_is_not_well(self, run: Any, serve: Any) -> None:
        health = {"global": {"ok": True, "reason": None}, "cwd": {"ok": False, "reason": "bad \x1b checksum"}}
        answer = {"revision": "G1/C2", "boundaries": 3, "scopes": health, "writer": {"ok": True, "reason": None}}
        serve(lambda message: result(message, answer))
        printed = run("state-status")

        assert "revision    G1/C2\n" in printed.out
        assert "cwd         not ok: bad \\u001b checksum\n" in printed.out


class TestWriting:
    def test_a_patch_is_sent_with_its_conditions(self, run: Any, serve: Any) -> None:
        stand_in = serve(lambda message: result(message, {"changed": ["cwd"]}))
        printed = run("patch", '{"cwd": {"tactics": null}}', "--idempotency-key", "k", "--if-revision", "C1")

        assert printed.out == "changed cwd\n"
        assert params_of(stand_in, "patch_state") == {
            "patch": {"cwd": {"tactics": None}},
            "idempotency_key": "k",
            "if_revision": "C1",
        }

    def test_what_a_patch_does_not_say_itself_is_printed(self, run: Any, serve: Any) -> None:
        updates = {"cascaded": ["cwd.lazy.plan"], "effective": [{"path": ["intents", "x"], "deleted": True}]}
        serve(lambda message: result(message, {"changed": ["cwd"], "state_updates": updates}))
        patch = ("patch", '{"cwd": {"intents": {"x": null}}}')

        first, _, rest = run(*patch).out.partition("\n")
        assert (first, json.loads(rest)) == ("changed cwd", updates)
        assert run(*patch, "--json").json == {"changed": ["cwd"], "state_updates": updates}

    def test_an_answer_and_a_fork_say_what_changed(self, run: Any, serve: Any) -> None:
        stand_in = serve(lambda message: result(message, {"changed": ["session"]}))

        assert run("respond", "the tests pass", "--session", "s1").out == "changed session\n"
        assert run("fork", "s1", "s2", "--json").json == {"changed": ["session"]}
        assert params_of(stand_in, "respond") == {"text": "the tests pass"}
        assert params_of(stand_in, "fork_session") == {"parent": "s1", "child": "s2"}

    def test_a_patch_is_read_from_standard_input(self, run: Any, serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        stand_in = serve(lambda message: result(message, {"changed": []}))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO('{"cwd": {"lazy": "工"}}'.encode())))

        assert run("patch", "-").out == "nothing changed\n"
        assert params_of(stand_in, "patch_state")["patch"] == {"cwd": {"lazy": "工"}}

    def test_a_number_that_is_not_finite_is_refused_before_anything_is_sent(self, run: Any) -> None:
        printed = run("patch", '{"cwd": {"x": 1e999}}')

        assert printed.status == 1
        assert "not finite" in printed.err
        assert "path: $.cwd.x" in printed.err

    def test_an_export_is_private_and_can_be_imported(self, run: Any, serve: Any, folder: Path) -> None:
        states = {"scopes": {"cwd": {"tactics": {"a": 1}}}}
        stand_in = serve(
            lambda message: result(message, states if message["method"] == "export_state" else {"changed": ["cwd"]})
        )
        file = str(folder / "state.json")

        assert run("export", file).err == f"exported cwd to {file}\n"
        assert (folder / "state.json").stat().st_mode & 0o777 == 0o600
        assert run("export", "-", "--json").json == states
        assert run("import", file).out == "changed cwd\n"
        assert params_of(stand_in, "import_state") == states

    def test_a_setting_is_printed_as_it_is_now(self, run: Any, serve: Any) -> None:
        serve(lambda message: result(message, {"history_limit": 7}))

        assert run("configure", "--history-limit", "7").out == "history_limit  7\n"
        assert run("configure", "--history-limit", "7", "--json").json == {"history_limit": 7}


class TestRefusals:
    """Section 4: what was wrong, where, what was wanted, and what a right call looks like."""

    def test_facts_follow_the_message_and_the_example_is_a_command(self, run: Any, serve: Any) -> None:
        data = {"path": "cwd.lazy.x\x1b", "got": ["a"], "example": '{"path": "cwd.lazy.memory[0]"}', "retryable": False}
        serve(lambda message: refusal(message, "wrong_kind", **data))
        printed = run("read", "cwd.lazy.x")

        assert (printed.status, printed.out) == (1, "")
        assert printed.err.splitlines() == [
            "stateward: refused as wrong_kind",
            "  path: cwd.lazy.x\\u001b",
            '  got: ["a"]',
            "  example: stateward read 'cwd.lazy.memory[0]'",
        ]

    def test_a_malformed_path_is_drawn_with_a_caret(self, run: Any, serve: Any) -> None:
        def answer(message: Message) -> list[Message]:
            refused = refusal(
                message, "malformed_path", path="cwd.工\t.x", wanted="a name", at=6, example='{"path": "cwd.tactics"}'
            )
            refused[0]["error"]["message"] = "expected a name at character 6"
            return refused

        serve(answer)

        assert run("read", "cwd.工\t.x").err.splitlines() == [
            "stateward: expected a name at character 6",
            "  cwd.工\\u0009.x",
            " " * len(r"  cwd.__\u0009") + "^",
            "  example: stateward read cwd.tactics",
        ]

    def test_an_example_of_another_projection_is_a_command(self, run: Any, serve: Any) -> None:
        serve(lambda message: refusal(message, "missing_path", example='{"path": "cwd", "projection": "keys"}'))

        assert run("read", "cwd.x").err.endswith("  example: stateward read cwd --projection keys\n")

    def test_an_example_of_a_patch_is_a_command(self, run: Any, serve: Any) -> None:
        serve(lambda message: refusal(message, "no_op", example='{"patch": {"cwd": {"tactics": {"a": 1}}}}'))

        assert """  example: stateward patch '{"cwd": {"tactics": {"a": 1}}}'\n""" in run("patch", "{}").err

    def test_a_mistake_of_ours_is_one_line_without_a_traceback(
        self, run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        document = tmp_path / "ACTIVE_GOAL_STATE.md"
        document.write_text("# Goal\n", encoding="utf-8")

        def fail(*_: object) -> None:
            raise ZeroDivisionError("a secret")

        monkeypatch.setattr("stateward_daemon.cli.goal_check.read_bytes", fail)
        ended = run("goal", "check", str(document))

        assert ended.status == 3
        assert "ZeroDivisionError" in ended.err
        assert "Traceback" not in ended.err
        assert "secret" not in ended.err

    def test_as_json_it_is_on_standard_output(self, run: Any, serve: Any) -> None:
        serve(lambda message: refusal(message, "missing_path", path="cwd.x"))
        printed = run("read", "cwd.x", "--json")

        assert (printed.status, printed.err) == (1, "")
        expected = {"category": "missing_path", "message": "refused as missing_path", "path": "cwd.x"}
        assert printed.json == {"error": expected}

    @pytest.mark.parametrize(
        ("category", "status"),
        [
            ("missing_path", 1),
            ("invalid_request", 1),
            ("refused", 1),
            ("too_large", 1),
            ("unsafe_document", 1),
            ("store_unavailable", 3),
            ("corrupt_store", 3),
            ("busy", 3),
        ],
    )
    def test_the_exit_status_tells_a_refusal_from_an_outage(
        self, run: Any, serve: Any, category: str, status: int
    ) -> None:
        serve(lambda message: refusal(message, category))

        assert run("configure", "--history-limit", "1").status == status

    def test_without_sockets_a_verb_works_in_process_and_says_so(
        self, run: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Product facts: the same verbs in-process when there is no daemon to be had."""
        asked: list[Any] = []

        def connect(*_: object, start: str, **__: object) -> Any:
            asked.append(start)
            if start == "auto":
                raise stateward.StatewardError("store_unavailable", "no sockets here", reason_code="no_socket")
            return stateward.Client(lambda: pytest.fail("not used"))

        import stateward  # noqa: PLC0415 - patched below

        monkeypatch.setattr(stateward, "connect", connect)
        monkeypatch.setattr(stateward.Client, "ping", lambda _: None)
        monkeypatch.setattr(stateward.Client, "read_state", lambda *_, **__: {"value": 1})
        printed = run("read", "cwd")

        assert asked == ["auto", "embedded"]
        assert (printed.status, printed.out) == (0, "1\n")
        assert printed.err == "note: no sockets here; working in this process\n"


class TestDaemonVerbs:
    def test_where_names_the_places_without_a_daemon_and_starts_none(self, run: Any, folder: Path) -> None:
        store = folder / "store"
        printed = run("where", "--store", str(store), "--json")

        assert printed.status == 0
        assert printed.json["store"] == str(store)
        assert printed.json["socket"].startswith(str(folder / "run/stateward/"))
        assert printed.json["log"] == str(log_path(Place(store)))
        assert printed.json["pid"] is None
        assert not store.exists()

    def test_where_names_the_socket_that_a_daemon_announced(self, run: Any, serve: Any, folder: Path) -> None:
        serve(lambda message: result(message, {}))

        assert run("where").out == (
            f"store   {folder}/store\nsocket  {folder}/d.sock\n"
            f"log     {log_path(Place(folder / 'store'))}\npid     42\n"
        )

    def test_where_has_no_socket_when_no_path_fits(
        self, run: Any, monkeypatch: pytest.MonkeyPatch, folder: Path
    ) -> None:
        monkeypatch.setenv("STATEWARD_SOCKET", "/" + "x" * 120)
        printed = run("where", "--store", str(folder / "store"), "--json")

        assert printed.json["socket"] is None
        assert "107 bytes" in printed.err

    def test_stopping_what_does_not_run_is_fine(self, run: Any, folder: Path) -> None:
        printed = run("daemon", "stop", "--store", str(folder / "store"))

        assert (printed.status, printed.err) == (0, "no daemon runs for this store\n")

    def test_stopping_asks_and_tells_when_it_was_not_waited_for(self, run: Any, serve: Any) -> None:
        stand_in = serve(lambda message: result(message, {"pid": 1}))
        printed = run("daemon", "stop", "--timeout", "0.05", "--json")

        assert printed.json["ended"] is False
        assert stand_in.methods() == ["attach", "shutdown_daemon"]

    def test_logs_are_escaped_and_cut_to_the_last_lines(self, run: Any, folder: Path) -> None:
        """Security row 24: every path that prints."""
        path = log_path(Place(folder / "store"))
        path.parent.mkdir(parents=True)
        path.write_bytes(b"one\ntwo \x1b[31m\nthree \xff\n")
        printed = run("daemon", "logs", "--store", str(folder / "store"), "--lines", "2")

        assert printed.out == "two \\u001b[31m\nthree \N{REPLACEMENT CHARACTER}\n"
        assert printed.err == f"log: {path}\n"

    def test_a_log_that_is_not_there_yet_is_no_fault(self, run: Any, folder: Path) -> None:
        assert run("daemon", "logs", "--store", str(folder / "store")).status == 0

    def test_live_connections_are_listed_one_to_a_line(self, run: Any, serve: Any) -> None:
        connection = {
            "id": 1, "kind": "agent", "client": "a\x1b", "version": "1", "pid": 7, "cwd": "/p", "session": None,
            "wanted": ["global", "cwd"],
        }  # fmt: skip
        serve(lambda message: result(message, {"connections": [connection]}))

        assert run("sessions").out == "1  agent  a\\u001b 1  pid 7  global,cwd  /p  -\n"


@pytest.fixture
def goal(folder: Path) -> Path:
    path = folder / "ACTIVE_GOAL_STATE.md"
    path.write_text(GOAL)
    return path


class TestGoalVerbs:
    """Section 6: they need neither daemon nor store."""

    @pytest.mark.parametrize("name", ["nowhere.md", "."])
    def test_a_file_that_is_not_there_is_a_usage_fault(self, run: Any, name: str) -> None:
        printed = run("goal", "show", name)

        assert printed.status == 2
        assert name in printed.err

    def test_show_prints_the_projection_itself(self, run: Any, goal: Path) -> None:
        printed = run("goal", "show", str(goal), "--json", "--goal-id", "g1", "--source-ref", "REF.md")

        assert printed.status == 0
        assert printed.json["goal_id"] == "g1"
        assert printed.json["source_ref"] == "REF.md"
        assert [item["todo_id"] for item in printed.json["todos"]["agent"]["items"]] == ["todo_dup", "todo_dup"]

    def test_show_tells_people_what_is_next_and_what_is_to_do(self, run: Any, goal: Path) -> None:
        printed = run("goal", "show", str(goal))

        assert "next action: go on\n" in printed.out
        assert "agent todos: 2 open, 0 done\n" in printed.out
        assert "open      todo_dup  two \\u001b[31m\n" in printed.out

    def test_show_names_the_file_and_lines_up_its_rows(self, run: Any, folder: Path) -> None:
        (folder / "plan.md").write_text(
            "## Agent Todo\n- [ ] one\n  <!-- loopx:todo todo_id=todo_a_long_one -->\n"
            "- [x] two\n  <!-- loopx:todo todo_id=todo_two -->\n"
        )
        printed = run("goal", "show", str(folder / "plan.md"))

        assert printed.out.splitlines()[0] == str(folder / "plan.md")
        assert printed.out.endswith("  open      todo_a_long_one  one\n  done      todo_two         two\n")
        assert printed.err == ""
        assert run("goal", "show", str(folder / "plan.md"), "--json").json["source_ref"] == "ACTIVE_GOAL_STATE.md"
        assert run("goal", "show", str(folder / "plan.md"), "--source-ref", "REF.md").out.startswith("REF.md\n")

    def test_show_of_a_document_with_errors_says_who_explains_them(self, run: Any, goal: Path) -> None:
        printed = run("goal", "show", str(goal))

        assert printed.status == 0
        assert printed.err == f"2 errors in this document; run stateward goal check {goal}\n"

    def test_show_of_a_refused_document_is_a_typed_error(self, run: Any, goal: Path) -> None:
        goal.write_text("---\nnever: closed\n")
        printed = run("goal", "show", str(goal), "--json")

        assert printed.status == 1
        error = printed.json["error"]
        assert (error["category"], error["kind"]) == ("unsafe_document", "unterminated_frontmatter")
        assert (error["line"], error["byte_offset"]) == (1, 0)


class TestTerminal:
    @pytest.mark.parametrize(("text", "width"), [("abc", 3), ("工作", 4), ("é", 1), ("e\N{COMBINING ACUTE ACCENT}", 1)])
    def test_a_character_takes_the_columns_that_terminals_give_it(self, text: str, width: int) -> None:
        assert columns(text) == width

    def test_color_is_for_terminals_whose_people_want_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv("TERM", "xterm")
        assert paint("x", "error", Terminal()) == "\x1b[31mx\x1b[0m"
        assert paint("x", "error", io.StringIO()) == "x"
        monkeypatch.setenv("TERM", "dumb")
        assert paint("x", "error", Terminal()) == "x"
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("NO_COLOR", "1")
        assert paint("x", "error", Terminal()) == "x"


def loaded_by(program: str) -> list[str]:
    """Return what a program in a process of its own prints: the modules that it has loaded."""
    loaded: list[str] = json.loads(
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
    )
    return loaded


class TestProcess:
    """The program as a process of its own."""

    def test_a_hot_verb_imports_neither_asyncio_nor_pygls_nor_the_engine(self) -> None:
        program = (
            "import sys, json; from stateward_daemon.cli.verbs import find_verb;"
            "verb, rest = find_verb(['read', 'cwd']); verb.parser().parse_intermixed_args(rest); verb.load();"
            "import stateward_daemon.cli; print(json.dumps(sorted(sys.modules)))"
        )
        loaded = loaded_by(program)

        assert "stateward_daemon.cli.state_verbs" in loaded
        assert {"asyncio", "pygls", "lsprotocol", "stateward_engine", "subprocess", "logging"}.isdisjoint(loaded)

    def test_a_start_of_the_daemon_imports_nothing_that_reads_documents(self) -> None:
        """Neither pygls (store.md section 6) nor what reads goal documents: most daemons serve agents alone."""
        loaded = loaded_by("import sys, json, stateward_daemon.lifecycle; print(json.dumps(sorted(sys.modules)))")

        assert "stateward_engine.store.store" in loaded
        assert {"pygls", "lsprotocol", "asyncinotify", "tomllib", "stateward_engine.goals.lines"}.isdisjoint(loaded)

    def test_the_package_is_the_program(self) -> None:
        command = [sys.executable, "-m", "stateward_daemon", "--version"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)

        assert done.stdout == f"stateward {__version__}\n"

    def test_a_reader_that_has_enough_is_no_traceback(self, goal: Path) -> None:
        goal.write_text("## Agent Todo\n" + "- [ ] x\n" * 20_000)
        command = [sys.executable, "-m", "stateward_daemon", "goal", "show", str(goal)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.readline()
            process.stdout.close()

            assert process.stderr.read() == b""

    def test_json_is_utf8_whatever_the_locale(self, goal: Path) -> None:
        command = [sys.executable, "-m", "stateward_daemon", "goal", "show", str(goal), "--json"]
        environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
        done = subprocess.run(command, capture_output=True, check=True, env=environment)

        assert "工作 one" in done.stdout.decode("utf-8")
