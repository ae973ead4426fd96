"""What people at a shell are told: verbs, options and what to do, where programs get methods, members and facts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from stand_in import refusal, result
from stateward_daemon.cli.shell_words import in_shell
from stateward_daemon.cli.verbs import VERBS
from stateward_protocol.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import Printed

# Nobody does these from a shell: a mode is that of a connection, and `read` shows what a document of state shows.
WITHOUT_A_VERB = frozenset({"set_mode", "state_document"})
CLAIM = ("todo", "claim", "--goal-id", "g1", "--todo-id", "todo_one", "--agent-id", "bo")


class TestWords:
    @pytest.mark.parametrize("method", [name for name in METHODS if "_" in name and name not in WITHOUT_A_VERB])
    def test_each_method_is_a_verb(self, method: str) -> None:
        program, _, verb = in_shell(method).partition(" ")

        assert program == "stateward"
        assert verb.partition(" --")[0] in VERBS

    @pytest.mark.parametrize(
        ("said", "verb", "told"),
        [
            ("do it with goal_register", "todo list", "do it with stateward goal register"),
            ("todo_claim it; `clear` ends that", "todo update", "stateward todo claim it; --clear ends that"),
            ("let claimed_by be agent_id", "todo claim", "let --claimed-by be --agent-id"),
            ("priority: it is P0", "todo update", "--priority: it is P0"),
            ("lease.ttl_seconds: no", "todo claim", "--ttl-seconds: no"),
            ("$.params.lease is wanted", "todo claim", "--idempotency-key is wanted"),
            ("$.params.required_write_scopes[0] is a path", "todo add", "--required-write-scope is a path"),
            # What is no method and no member of the verb stays: reason codes, fields of records, ids.
            ("todo_list_of, archive_state and todo_id=x", "todo claim", "todo_list_of, archive_state and todo_id=x"),
            ("$.params.elsewhere", "todo claim", "$.params.elsewhere"),
        ],
    )
    def test_a_sentence(self, said: str, verb: str, told: str) -> None:
        assert in_shell(said, VERBS[verb]) == told


class TestRefusals:
    def test_the_option_and_what_was_given(self, run: Any, serve: Any) -> None:
        facts = {"path": "$.params.todo_id", "wanted": "string of todo_, then more"}
        serve(lambda message: refusal(message, "invalid_request", **facts))
        printed = run("todo", "receipt", "--goal-id", "g1", "--operation-id", "op 1")
        told = run("todo", "list", "--goal-id", "g1", "--todo-id", "a b")

        assert "path: $.params.todo_id" in printed.err
        assert told.err == "stateward: --todo-id: refused as invalid_request\n  got: 'a b'\n"

    def test_what_came_from_the_environment_says_so(
        self, run: Any, serve: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("STATEWARD_GOAL", "other")
        serve(lambda message: refusal(message, "refused", path="$.params.goal_id", got="other"))

        assert run("todo", "list").err.splitlines()[1:] == ["  option: --goal-id", "  got: other (from STATEWARD_GOAL)"]
        assert "from" not in run("todo", "list", "--goal-id", "mine").err

    def test_a_goal_that_is_not_named_may_come_from_the_environment(self, run: Any) -> None:
        assert "--goal-id/--goal, or set STATEWARD_GOAL; see" in run("todo", "list").err

    def test_members_that_are_wrong_are_options(self, run: Any, serve: Any) -> None:
        invalid = {"cadence": "it is empty; to remove a field, name it in `clear`", "priority": "it is P0"}
        serve(lambda message: refusal(message, "refused", reason_code="no", path="$.params.cadence", invalid=invalid))
        printed = run("todo", "update", "--goal-id", "g1", "--todo-id", "todo_one", "--cadence", "")

        assert printed.err.splitlines()[1:] == [
            "  reason_code: no",
            "  option: --cadence",
            "  --cadence: it is empty; to remove a field, name it in --clear",
            "  --priority: it is P0",
        ]

    def test_who_has_a_todo_is_said_in_a_sentence(self, run: Any, serve: Any) -> None:
        """LX-066: who, until when, and what to do; programs get the facts as well."""
        facts = {
            "reason_code": "claim_owner_mismatch",
            "path": "$.params.todo_id",
            "claimed_by": "ada",
            "lease_owner": "ada",
            "handoff_mode": "soft_claim",
            "expires_at": "2026-01-01T00:45:00Z",
        }
        serve(lambda message: refusal(message, "refused", **facts))

        assert run(*CLAIM).err == (
            "stateward: refused as refused (its lease lasts until 2026-01-01T00:45:00Z)\n"
            "  reason_code: claim_owner_mismatch\n"
        )
        assert run(*CLAIM, "--json").json["error"].items() >= facts.items()

    def test_an_example_is_a_command_for_the_same_goal(self, run: Any, serve: Any) -> None:
        example = {"todo_id": "todo_one", "lease": {"idempotency_key": "a-new-key", "expected_version": 3}}
        serve(lambda message: refusal(message, "refused", example=json.dumps(example)))

        assert run(*CLAIM).err.splitlines()[-1] == (
            "  example: stateward todo claim --goal-id g1 --todo-id todo_one --idempotency-key a-new-key "
            "--expected-version 3"
        )


class TestGoals:
    """The same in this process, with a real store."""

    @pytest.fixture
    def told(self, run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Printed]:
        monkeypatch.setenv("STATEWARD_STORE", str(folder / "store"))
        monkeypatch.setenv("STATEWARD_GOAL", "g1")
        monkeypatch.chdir(folder)
        assert run("goal", "new", "--goal-id", "g1", "--objective", "Ship", "--register", "--embedded").status == 0

        def tell(*words: str) -> Printed:
            printed: Printed = run(*words, "--embedded")
            return printed

        return tell

    @pytest.fixture
    def shown(self, told: Callable[..., Printed], folder: Path) -> Path:
        """The document of a promoted goal."""
        for words in ("todo add One", "authority bootstrap", "authority promote"):
            assert told(*words.split()).status == 0
        return folder / "ACTIVE_GOAL_STATE.md"

    @pytest.mark.parametrize("words", [("todo", "add", ""), ("todo", "add", "--text", "")])
    def test_an_empty_text_is_no_absent_one(self, told: Callable[..., Printed], words: tuple[str, ...]) -> None:
        assert told(*words, "--json").json["error"]["reason_code"] == "empty_text"

    @pytest.mark.parametrize(
        ("words", "wrong"),
        [
            (("todo", "add", "One", "--operation-id", ""), "--operation-id: expected"),
            (("todo", "list", "--todo-id", ""), "no todo of that id"),
            (("todo", "claim", "--todo-id", "todo_one", "--claimed-by", "", "--agent-id", "bo"), "--claimed-by:"),
            (("patch", '{"global": {"tactics": {"a": 1}}}', "--idempotency-key", ""), "--idempotency-key"),
        ],
    )
    def test_what_is_empty_is_given_all_the_same(
        self, told: Callable[..., Printed], words: tuple[str, ...], wrong: str
    ) -> None:
        printed = told(*words)

        assert printed.status == 1
        assert wrong in printed.err

    def test_an_update_of_nothing_is_no_update(self, told: Callable[..., Printed]) -> None:
        printed = told("todo", "update", "--todo-id", "todo_one")

        assert (printed.status, printed.out) == (2, "")
        assert "nothing is asked; say what to change" in printed.err

    def test_a_lease_is_told_with_what_proves_it_and_how_it_ended(self, told: Callable[..., Printed]) -> None:
        todo = told("todo", "add", "One", "--json").json["todo_id"]
        claim = ("todo", "claim", "--todo-id", todo, "--agent-id", "ada", "--ttl", "60", "--idempotency-key")
        assert ", version 1 under key ada-1" in told(*claim, "ada-1").out
        assert "the lease was theirs already, under key ada-1" in told(*claim, "ada-2").out

        held = ("--todo-id", todo, "--owner", "ada", "--idempotency-key", "ada-1", "--expected-version", "1")
        assert f"{todo} was leased by ada, released at " in told("lease", "release", *held).out
        inspected = told("lease", "inspect", "--todo-id", todo).out
        assert inspected.startswith(f"{todo} was leased by ada, released at ")
        assert inspected.count("\n") == 1

    def test_what_stands_against_a_promotion_says_how_to_mend_it(
        self, told: Callable[..., Printed], folder: Path
    ) -> None:
        document = folder / "ACTIVE_GOAL_STATE.md"
        row = "- [ ] One\n  <!-- loopx:todo todo_id=todo_one notes=x -->\n"
        document.write_text(document.read_text().replace("## Agent Todo\n", f"## Agent Todo\n\n{row}", 1))
        printed = told("authority", "qualify")
        line = 1 + document.read_text().split("\n").index(row.split("\n")[1])

        assert printed.status == 1
        where, remedy, missing = printed.out.splitlines()
        assert where == f"line {line}: unknown_metadata_key (todo_one, notes)"
        assert remedy.startswith("  ")
        assert "did you mean note?" in remedy
        assert missing.startswith("authority_shadow_missing: ")

    def test_a_shadow_that_is_missing_is_no_fault_of_the_document(self, told: Callable[..., Printed]) -> None:
        assert told("todo", "add", "One").status == 0
        assert told("authority", "qualify").out == (
            "authority_shadow_missing: no shadow was made of the document yet; "
            "run: stateward authority bootstrap --goal-id g1\n"
        )

    def test_a_preview_shows_what_would_be_written(self, told: Callable[..., Printed], shown: Path) -> None:
        assert told("todo", "project-markdown").out.splitlines()[1:] == ["the document says this already"]
        shown.write_text(shown.read_text().replace("[P1] One", "[P1] Two"))
        assert told("todo", "project-markdown").status == 1
        shown.unlink()
        lines = told("todo", "project-markdown").out.splitlines()

        assert lines[1:3] == ["--- a/ACTIVE_GOAL_STATE.md", "+++ b/ACTIVE_GOAL_STATE.md"]
        assert "+- [ ] [P1] One" in lines
        assert not shown.exists()

    def test_a_lost_document_is_made_again_and_that_is_told(self, told: Callable[..., Printed], shown: Path) -> None:
        shown.unlink()
        assert "its todo sections alone" in told("todo", "add", "Two").err
        shown.unlink()
        assert "its todo sections alone" in told("todo", "project-markdown", "--execute").out
        assert "its todo sections alone" not in told("todo", "project-markdown", "--execute").out

    def test_an_edited_section_says_where_and_has_a_way_out(self, told: Callable[..., Printed], shown: Path) -> None:
        """LX-107: both ways that the message names bring the display back."""
        whole = shown.read_text()
        end = "<!-- loopx:todo-region-v0 role=agent end -->"
        shown.write_text(whole.replace(end, f"What I think.\n{end}"))
        told_pending = told("todo", "add", "Two").err
        line = 1 + shown.read_text().split("\n").index("What I think.")

        assert f"(todo_projection_region_edited, line {line})" in told_pending
        assert "stateward todo project-markdown --execute" in told_pending
        text = shown.read_text()
        section = text[text.index("## Agent Todo") : text.index(end) + len(end) + 1]
        shown.write_text(text.replace(section, ""))
        assert told("todo", "project-markdown", "--execute").status == 0
        assert "- [ ] [P1] One" in shown.read_text()
        assert "- [ ] [P1] Two" in shown.read_text()

    def test_the_state_of_each_display_is_listed(self, told: Callable[..., Printed], shown: Path) -> None:
        assert told("goal", "list", "--display").out.splitlines()[0].endswith("  current")
        shown.unlink()
        assert told("goal", "list", "--display").out.splitlines()[0].endswith("  missing")
        assert told("goal", "list", "--display", "--json").json["goals"][0]["display"] == {"state": "missing"}
        assert "stateward goal configure --goal-id g1 --path NEW" in told("goal", "status").out


class TestDoctor:
    def test_it_reads_the_settings_of_a_start(self, run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("STATEWARD_IDLE_EXIT_S", "half an hour")
        printed = run("doctor", "--store", str(folder / "store"))

        assert printed.status == 1
        assert "fault    settings: the setting idle_exit_s (STATEWARD_IDLE_EXIT_S) does not fit" in printed.out

    def test_a_document_that_is_gone_is_a_fault_while_it_is_the_authority(
        self, run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("STATEWARD_STORE", str(folder / "store"))
        document = folder / "G.md"
        new = ("goal", "new", str(document), "--goal-id", "g1", "--objective", "Ship", "--register", "--embedded")
        assert run(*new).status == 0
        assert "ok       goals: 1 goal, each with its document as it should be" in run("doctor").out
        document.unlink()
        printed = run("doctor")

        assert printed.status == 1
        assert "fault    goals: the document of g1 is missing" in printed.out
        assert "stateward goal configure --goal-id g1 --path NEW" in printed.out


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("todo done", "did you mean stateward todo complete?"),
        ("todo delete", "did you mean stateward todo archive-completed or stateward todo update?"),
        ("todo remove", "did you mean stateward todo archive-completed or stateward todo update?"),
        ("todo release", "did you mean stateward lease release?"),
        ("todo start", "did you mean stateward todo claim?"),
        ("todo take", "did you mean stateward todo claim?"),
        ("goal remove", "see stateward goal --help"),
        ("todo zzz", "see stateward todo --help"),
        ("zzz", "see stateward --help"),
    ],
)
def test_words_that_others_use(run: Any, typed: str, meant: str) -> None:
    printed = run(*typed.split())

    assert (printed.status, printed.out) == (2, "")
    assert printed.err == f"stateward: there is no verb {typed}; {meant}\n"


def test_a_status_that_is_none_names_those_that_are(run: Any) -> None:
    printed = run("todo", "list", "--goal-id", "g1", "--status", "doing")

    assert printed.status == 2
    assert "choose from 'open', 'blocked', 'deferred', 'done'" in printed.err


def test_an_operation_that_nobody_knows_is_a_finding(run: Any, serve: Any) -> None:
    facts = {"goal_id": "g1", "operation_id": "op", "provider_revision": "r:1", "cursor": "1", "receipts": []}
    serve(lambda message: result(message, {"status": "missing", **facts}))

    assert run("todo", "receipt", "--goal-id", "g1", "--operation-id", "op").status == 1
