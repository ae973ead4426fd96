"""protocol.md section 6: the verbs about goals, todos, leases and the authority, with a stand-in for the daemon."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from command_line import params_of
from stand_in import refusal, result

if TYPE_CHECKING:
    from pathlib import Path

    from stand_in import Message

LEASE = {
    "schema_version": "task_lease_v0",
    "goal_id": "g1",
    "todo_id": "todo_one",
    "owner": "ada",
    "idempotency_key": "k1",
    "version": 1,
    "lease_epoch": 1,
    "status": "active",
    "write_scopes": [],
    "acquire_ttl_seconds": 2700,
    "acquired_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
    "expires_at": "2026-01-01T00:45:00Z",
}
OPERATION = {
    "status": "applied",
    "changed": True,
    "goal_id": "g1",
    "operation_id": "op-1",
    "operation_id_given": True,
    "provider_revision": "file:s:1",
    "cursor": "1",
    "source_authority": "file_v0",
}
SHADOW = {"todo_count": 2, "source_sha256": "0" * 64}
# What a daemon answers, by method.
ANSWERS: dict[str, dict[str, Any]] = {
    "ping": {"ok": True},
    "todo_list": {
        "goal_id": "g1",
        "source": "markdown_active_state",
        "todos": [
            {"todo_id": "todo_one", "role": "agent", "status": "open", "text": "[P1] 工作\x1b[31m", "claimed_by": "ada"}
        ],
        "todo_count": 3,
        "returned_count": 1,
    },
    "todo_add": {**OPERATION, "todo": {}, "todo_id": "todo_one", "added": True},
    "todo_claim": {
        **OPERATION,
        "todo_id": "todo_one",
        "claimed_by": "ada",
        "handoff_mode": "hard_lease",
        "lease": LEASE,
        "lease_changed": True,
        "lease_idempotent": False,
        "todo_changed": True,
        "already_claimed_by_you": False,
    },
    "todo_update": {**OPERATION, "todo": {}, "todo_id": "todo_one"},
    "todo_complete": {
        **OPERATION,
        "status": "done",
        "todo_id": "todo_one",
        "todo": {},
        "completed_at": "2026-01-01T00:00:00Z",
        "completion_continuation": "successor",
        "completion_receipt_id": f"tcw_{'0' * 64}",
        "generated_successors": [{"todo_id": "todo_two"}],
    },
    "todo_archive_completed": {
        **OPERATION,
        "status": "planned",
        "active_done_before": 3,
        "active_done_after": 2,
        "moved_count": 1,
        "moved_todo_ids": ["todo_one"],
    },
    "todo_receipt": {
        "status": "missing",
        "goal_id": "g1",
        "operation_id": "op-1",
        "provider_revision": "file:s:1",
        "cursor": "1",
        "receipts": [],
    },
    "project_markdown": {"status": "planned", "provider_revision": "file:s:1"},
    "refresh_state": {**OPERATION, "record": {}, "diagnosis": {"missing_work": False, "idle_roles": []}},
    **{
        f"lease_{verb}": {**OPERATION, "todo_id": "todo_one", "action": verb, "lease": LEASE, "idempotent": False}
        for verb in ("acquire", "renew", "transfer", "release")
    },
    "lease_inspect": {
        "schema_version": "task_lease_v0",
        "goal_id": "g1",
        "todo_id": "todo_one",
        "todo": None,
        "active": False,
        "lease": LEASE,
        "lease_path": None,
        "handoff_mode": "soft_claim",
        "source_authority": "file_v0",
        "provider_revision": "file:s:1",
        "legacy_fallback_used": False,
        "reason": "lease_expired",
        "since": "2026-01-01T00:45:00Z",
    },
    "authority_shadow_bootstrap": {**OPERATION, **SHADOW, "shadow_state": "ready"},
    "authority_shadow_qualify": {
        "goal_id": "g1",
        "qualified": False,
        "refusals": [{"reason_code": "nested_todo", "line": 12, "todo_id": "todo_one"}],
        "todo_count": 0,
        "source_sha256": "0" * 64,
        "schema_version": "loopx_authority_shadow_v0",
        "shadow_sha256": None,
        "shadow_state": None,
    },
    "goal_diagnostics": {"items": []},
    "authority_promote": {
        **OPERATION,
        **SHADOW,
        "shadow_state": "promoted",
        "promoted": True,
        "handoff_mode": "hard_lease",
    },
    "authority_rollback": {**OPERATION, **SHADOW, "shadow_state": "quarantined"},
    "goal_new": {"goal_id": "g1", "path": "/p/G.md", "created": True},
    "goal_register": {"goal_id": "g1", "path": "/p/G.md", "created": False},
    "goal_configure": {
        "goal_id": "g1",
        "agents": ["ada"],
        "handoff_mode": "soft_claim",
        "path": "/home/ada/GOAL.md",
    },
    "goal_list": {
        "goals": [
            {
                "goal_id": "g1",
                "path": "/p/G.md",
                "promoted": True,
                "handoff_mode": "soft_claim",
                "provider_revision": "file:s:1",
            }
        ]
    },
    "goal_status": {
        "goal_id": "g1",
        "path": "/p/G.md",
        "promoted": True,
        "handoff_mode": "soft_claim",
        "agents": [],
        "provider_revision": "file:s:1",
        "cursor": "1",
        "source_authority": "file_v0",
        "display": {"state": "edited", "reason_code": "todo_projection_region_edited", "lines": [7]},
    },
}
ONE = ["--goal-id", "g1", "--todo-id", "todo_one"]
HELD = [*ONE, "--owner", "ada", "--idempotency-key", "k1"]
VERSION_1 = ["--expected-version", "1"]
SENT_HELD = {"goal_id": "g1", "todo_id": "todo_one", "owner": "ada", "idempotency_key": "k1"}


class Typed(NamedTuple):
    """A command: its words, the method behind it, what it is sent, and the first line for people."""

    words: str
    method: str
    sent: dict[str, Any]
    said: str


CALLS: list[tuple[str, str, dict[str, Any], str]] = [
    (
        "todo list --goal g1 --ready --agent ada --limit 1",
        "todo_list",
        {"goal_id": "g1", "ready": True, "agent_id": "ada", "limit": 1},
        "open      agent  todo_one  [P1] 工作\\u001b[31m  (ada)",
    ),
    (
        "todo add --goal-id g1 'Rehearse it' --priority P0 --required-write-scope a/** --required-write-scope b,c",
        "todo_add",
        {
            "goal_id": "g1",
            "role": "agent",
            "text": "Rehearse it",
            "priority": "P0",
            "required_write_scopes": ["a/**", "b,c"],
        },
        "added todo_one",
    ),
    (
        'todo add --goal-id g1 --role user --text Decide --decision-scope \'{"kind": "other"}\' --operation-id op-1',
        "todo_add",
        {
            "goal_id": "g1",
            "role": "user",
            "text": "Decide",
            "decision_scope": {"kind": "other"},
            "operation_id": "op-1",
        },
        "added todo_one",
    ),
    (
        "todo claim --goal-id g1 --todo-id todo_one --agent-id ada --idempotency-key k1 --expected-version 0",
        "todo_claim",
        {
            "goal_id": "g1",
            "todo_id": "todo_one",
            "claimed_by": "ada",
            "agent_id": "ada",
            "lease": {"idempotency_key": "k1", "expected_version": 0},
        },
        "todo_one is claimed by ada, with its lease until 2026-01-01T00:45:00Z, version 1 under key k1",
    ),
    (
        "todo update --goal-id g1 --todo-id todo_one --priority P0 --clear note --clear reason --provider-revision r:1",
        "todo_update",
        {
            "goal_id": "g1",
            "todo_id": "todo_one",
            "priority": "P0",
            "clear": ["note", "reason"],
            "expected_provider_revision": "r:1",
        },
        "updated todo_one",
    ),
    (
        "todo complete --goal-id g1 --todo-id todo_one --evidence 'took 8 minutes' --next 'Ship it' --agent-id ada",
        "todo_complete",
        {
            "goal_id": "g1",
            "todo_id": "todo_one",
            "agent_id": "ada",
            "evidence": "took 8 minutes",
            "next": {"role": "agent", "text": "Ship it"},
        },
        "completed todo_one; todo_two comes next",
    ),
    (
        "todo archive-completed --goal-id g1 --max-active-done 2",
        "todo_archive_completed",
        {"goal_id": "g1", "role": "agent", "max_active_done": 2},
        "would be: archived 1 todo; 2 finished ones stay",
    ),
    (
        "todo receipt --goal-id g1 --operation-id op-1",
        "todo_receipt",
        {"goal_id": "g1", "operation_id": "op-1"},
        "no operation of that id was accepted",
    ),
    (
        "todo project-markdown --goal-id g1 --provider-revision file:s:1 --execute",
        "project_markdown",
        {"goal_id": "g1", "provider_revision": "file:s:1", "execute": True},
        "planned, revision file:s:1",
    ),
    (
        "refresh-state --goal-id g1 --agent-id ada --classification in_progress --turn-key t1 --next-action Go",
        "refresh_state",
        {"goal_id": "g1", "agent_id": "ada", "classification": "in_progress", "turn_key": "t1", "next_action": "Go"},
        "recorded",
    ),
    (
        shlex.join(["lease", "acquire", *HELD, "--ttl-seconds", "60"]),
        "lease_acquire",
        {**SENT_HELD, "ttl_seconds": 60},
        "todo_one is leased by ada, version 1 under key k1, until 2026-01-01T00:45:00Z",
    ),
    (
        shlex.join(["lease", "acquire", *ONE, "--agent-id", "ada", "--idempotency-key", "k1"]),
        "lease_acquire",
        {**SENT_HELD, "agent_id": "ada"},
        "todo_one is leased by ada, version 1 under key k1, until 2026-01-01T00:45:00Z",
    ),
    (
        shlex.join(["lease", "renew", *HELD, *VERSION_1]),
        "lease_renew",
        {**SENT_HELD, "expected_version": 1},
        "todo_one is leased by ada, version 1 under key k1, until 2026-01-01T00:45:00Z",
    ),
    (
        shlex.join(["lease", "transfer", *HELD, *VERSION_1, "--new-owner", "bo", "--new-idempotency-key", "k2"]),
        "lease_transfer",
        {**SENT_HELD, "expected_version": 1, "new_owner": "bo", "new_idempotency_key": "k2"},
        "todo_one is leased by ada, version 1 under key k1, until 2026-01-01T00:45:00Z",
    ),
    (
        shlex.join(["lease", "release", *HELD, *VERSION_1]),
        "lease_release",
        {**SENT_HELD, "expected_version": 1},
        "todo_one is leased by ada, version 1 under key k1, until 2026-01-01T00:45:00Z",
    ),
    (
        shlex.join(["lease", "inspect", *ONE]),
        "lease_inspect",
        {"goal_id": "g1", "todo_id": "todo_one"},
        "todo_one was leased by ada, version 1 under key k1, until 2026-01-01T00:45:00Z",
    ),
    (
        "authority bootstrap --goal-id g1",
        "authority_shadow_bootstrap",
        {"goal_id": "g1"},
        "the shadow has 2 todos; go on with: stateward authority qualify --goal-id g1",
    ),
    (
        "authority qualify --goal-id g1",
        "authority_shadow_qualify",
        {"goal_id": "g1"},
        "line 12: nested_todo (todo_one)",
    ),
    (
        "authority promote --goal-id g1 --handoff-mode hard_lease",
        "authority_promote",
        {"goal_id": "g1", "handoff_mode": "hard_lease"},
        "the ledger is the authority of 2 todos now",
    ),
    (
        "authority rollback --goal-id g1",
        "authority_rollback",
        {"goal_id": "g1"},
        "the shadow is put aside; the document is the authority, as before",
    ),
    (
        "goal new /p/G.md --goal-id g1 --objective Ship --register",
        "goal_new",
        {
            "goal_id": "g1",
            "path": "/p/G.md",
            "objective": "Ship",
            "next_action": "Define the first bounded step.",
        },
        "registered g1, /p/G.md",
    ),
    (
        "goal register /p/./G.md --goal-id g1 --agents ada,bo",
        "goal_register",
        {"goal_id": "g1", "path": "/p/G.md", "agents": ["ada", "bo"]},
        "already registered: g1, /p/G.md",
    ),
    (
        "goal configure --goal-id g1 --agents '' --handoff-mode soft_claim",
        "goal_configure",
        {"goal_id": "g1", "agents": [], "handoff_mode": "soft_claim"},
        "g1: soft_claim, open to ada, /home/ada/GOAL.md",
    ),
    ("goal list", "goal_list", {}, "g1  ledger  soft_claim  /p/G.md"),
    ("goal status --goal-id g1", "goal_status", {"goal_id": "g1"}, "authority  file_v0"),
]
# The answers that are findings.
FOUND = {"authority_shadow_qualify", "todo_receipt"}


def answer(message: Message) -> list[Message]:
    """Answer each method as a daemon does."""
    told = ANSWERS[message["method"]]
    params = message["params"]
    return result(
        message, {name: params.get(name, value) if name == "operation_id" else value for name, value in told.items()}
    )


@pytest.mark.parametrize("call", [Typed(*call) for call in CALLS], ids=lambda call: call.words[:40])
class TestCalls:
    def test_people_are_told_in_a_line(self, run: Any, serve: Any, call: Typed) -> None:
        stand_in = serve(answer)
        printed = run(*shlex.split(call.words))
        params = params_of(stand_in, call.method)

        assert printed.out.splitlines()[0] == call.said
        assert printed.status == (1 if call.method in FOUND else 0)
        # The library gives an identity to what has none.
        assert {name: params[name] for name in params if name != "operation_id" or name in call.sent} == call.sent
        # It is about a goal, whatever directory it is typed in.
        assert params_of(stand_in, "attach").get("cwd") is None

    def test_programs_are_told_ok_and_the_answer(self, run: Any, serve: Any, call: Typed) -> None:
        """authority.md section 1: the exit status is 0 exactly when `ok`."""
        serve(answer)
        printed = run(*shlex.split(call.words), "--json")
        told = {"ok": call.method not in FOUND, **ANSWERS[call.method]}
        if "operation_id_given" in told and call.method != "todo_archive_completed":
            told |= {"operation_id": printed.json["operation_id"]}
            told |= {"operation_id_given": "operation_id" in call.sent}

        assert printed.json["ok"] is (printed.status == 0)
        assert printed.json == told


class TestRefusals:
    """authority.md section 1: `ok` and `status: "failed"` are for programs; facts are for both."""

    REFUSED = ("refused", {"reason_code": "todo_lease_conflict", "claimed_by": "bo"})

    def test_programs(self, run: Any, serve: Any) -> None:
        serve(lambda message: refusal(message, self.REFUSED[0], **self.REFUSED[1]))
        printed = run("todo", "claim", *ONE, "--claimed-by", "ada", "--json")

        assert printed.status == 1
        assert printed.json == {
            "ok": False,
            "status": "failed",
            "error": {
                "category": "refused",
                "message": "refused as refused",
                "reason_code": "todo_lease_conflict",
                "claimed_by": "bo",
            },
        }

    def test_people(self, run: Any, serve: Any) -> None:
        serve(lambda message: refusal(message, self.REFUSED[0], **self.REFUSED[1]))
        printed = run("todo", "claim", *ONE, "--claimed-by", "ada")

        assert (printed.status, printed.out) == (1, "")
        assert printed.err.splitlines() == [
            "stateward: refused as refused",
            "  reason_code: todo_lease_conflict",
        ]

    @pytest.mark.parametrize(
        ("typed", "said"),
        [
            ("todo list", "required: --goal-id"),
            ("todo add --goal-id g1", "give the text once"),
            ("todo add --goal-id g1 One --text Two", "give the text once"),
            ("todo claim --goal-id g1 --todo-id todo_one", "name the agent with --claimed-by, or with --agent-id"),
            ("lease acquire --goal-id g1 --todo-id todo_one --idempotency-key k", "name the agent with --owner"),
            ("lease renew --goal-id g1 --todo-id todo_one --owner a --idempotency-key k", "--expected-version"),
            ("todo complete --goal-id g1 --todo-id todo_one --next '{'", "and this is not"),
            ("authority promote --goal-id g1 --handoff-mode none", "invalid choice: 'none'"),
            ("todo lisst --goal-id g1", "did you mean stateward todo list?"),
            ("reset-scope goal", "which goal? name it, as in: stateward reset-scope goal --goal-id release-2.4"),
            ("watch --topics lunch", "topics are state, goals, todos"),
        ],
    )
    def test_a_wrong_command_line(self, run: Any, typed: str, said: str) -> None:
        printed = run(*shlex.split(typed))

        assert printed.status == 2
        assert said in printed.err

    def test_a_usage_fault_is_json_as_well(self, run: Any) -> None:
        printed = run("todo", "add", "--goal-id", "g1", "--json")

        assert (printed.status, printed.json["ok"], printed.json["status"]) == (2, False, "failed")


class TestNotes:
    """What is not the answer goes to standard error."""

    def test_a_display_that_is_pending_is_disclosed(self, run: Any, serve: Any) -> None:
        """LX-107: the commit stands, and JSON and text both say that the display does not show it."""
        outbox = {"status": "pending", "reason_code": "todo_projection_region_edited", "recommended_action": "look"}
        pending = {**ANSWERS["todo_add"], "projection_delivery": "pending", "projection_outbox": outbox}
        serve(lambda message: result(message, pending))
        printed = run("todo", "add", "--goal-id", "g1", "One", "--operation-id", "op-1")

        assert printed.status == 0
        assert printed.err == (
            "note: committed, and the document does not show it yet (todo_projection_region_edited); look\n"
        )
        told = run("todo", "add", "--goal-id", "g1", "One", "--json").json
        assert (told["ok"], told["projection_delivery"], told["projection_outbox"]) == (True, "pending", outbox)

    def test_a_projection_that_is_pending_failed(self, run: Any, serve: Any) -> None:
        serve(
            lambda message: result(message, {"status": "pending", "reason_code": "todo_projection_write_unavailable"})
        )
        printed = run("todo", "project-markdown", "--goal-id", "g1", "--execute", "--json")

        assert (printed.status, printed.json["ok"], printed.json["status"]) == (1, False, "pending")

    def test_what_went_as_it_should_has_no_note(self, run: Any, serve: Any) -> None:
        serve(answer)

        assert run("todo", "add", "--goal-id", "g1", "One").err == ""

    def test_the_goal_may_come_from_the_environment(
        self, run: Any, serve: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("STATEWARD_GOAL", "g1")
        stand_in = serve(answer)
        run("todo", "list")

        assert params_of(stand_in, "todo_list") == {"goal_id": "g1"}

    def test_a_todo_is_read_with_its_whole_text(self, run: Any, serve: Any) -> None:
        todo = {"todo_id": "todo_one", "text": "cut…", "title": "cut…", "excluded_agents": ["bo"], "note": "n"}
        exact = {**ANSWERS["todo_list"], "todo": todo, "full_text": "All of it"}
        serve(lambda message: result(message, exact))

        assert run("todo", "list", *ONE).out == 'All of it\n  todo_id: todo_one\n  excluded_agents: ["bo"]\n  note: n\n'


class TestResetting:
    """The streams of a goal are given up as scopes are: what goes is shown, and the name is typed."""

    def test_a_goal_shows_what_goes_and_says_how_to_do_it_unasked(self, run: Any, serve: Any) -> None:
        stand_in = serve(answer)
        printed = run("reset-scope", "goal", "--goal-id", "g1")

        assert printed.status == 2
        assert printed.out.splitlines()[0] == "path      /p/G.md"
        assert "All of this goes, with its history: the goal stream of g1." in printed.err
        assert "stateward reset-scope goal --goal-id g1 --yes" in printed.err
        assert "reset_scope" not in stand_in.methods()

    def test_a_display_is_given_up_unasked(self, run: Any, serve: Any) -> None:
        stand_in = serve(lambda message: result(message, {"changed": ["display"]}))
        printed = run("reset-scope", "display", "--goal-id", "g1", "--yes")

        assert (printed.status, printed.out) == (0, "changed display\n")
        assert params_of(stand_in, "reset_scope") == {"scope": "display", "goal_id": "g1"}


def item(line: int, code: str) -> dict[str, Any]:
    place = {"line": line, "character": 0}
    message = "told \x1b[31m as it is"
    return {
        "range": {"start": place, "end": place},
        "severity": "warning",
        "code": code,
        "message": message,
        "related": [],
    }


def test_what_is_wrong_with_a_changed_document_is_printed(run: Any, serve: Any) -> None:
    """The first few, on standard error; with `--json` all that was told."""
    told = {"problems": [item(line, "implicit_todo_ids") for line in range(7)], "problem_count": 9}
    serve(lambda message: result(message, {**ANSWERS["todo_add"], **told}))
    printed = run("todo", "add", "--goal-id", "g1", "One")

    assert printed.err.splitlines()[0] == "note: the document has 9 problems now"
    assert printed.err.splitlines()[1] == "  line 1: warning[implicit_todo_ids] told \\u001b[31m as it is"
    assert printed.err.splitlines()[-1] == "  and 4 more"
    assert run("todo", "add", "--goal-id", "g1", "One", "--json").json["problems"] == told["problems"]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            {"items": [item(3, "nested_todo")], "problem_count": 1},
            "  line 4: warning[nested_todo] told \\u001b[31m as it is\n",
        ),
        ({"items": [], "problem_count": 0}, "  there are none\n"),
        ({}, "  what they are now is not known: stateward goal check tells\n"),
    ],
)
def test_problems_that_changed_are_watched(run: Any, serve: Any, found: dict[str, Any], said: str) -> None:
    """The topic `goals` on a terminal."""
    told = {"goal": "g1", "uri": "file:///w/GOAL.md", "projection_diagnostics": None, **found}

    def subscribed(message: Message) -> list[Message]:
        answers = result(message, {"topics": message["params"].get("topics", []), "ok": True})
        return [*answers, {"jsonrpc": "2.0", "method": "diagnostics_changed", "params": told}]

    serve(subscribed)

    assert run("watch", "--topics", "goals", "--count", "1").out == f"problems of g1 changed\n{said}"
    assert run("watch", "--topics", "goals", "--count", "1", "--json").json["goal"] == "g1"


def test_goals_that_changed_are_watched(run: Any, serve: Any, folder: Path) -> None:
    """The topic `todos` on a terminal: ids and a revision."""
    assert folder.exists()
    told = {"goal_id": "g1", "provider_revision": "file:s:2", "todo_ids": ["todo_one"]}

    def subscribed(message: Message) -> list[Message]:
        answers = result(message, {"topics": message["params"].get("topics", []), "ok": True})
        return [*answers, {"jsonrpc": "2.0", "method": "todos_changed", "params": told}]

    serve(subscribed)

    assert run("watch", "--topics", "todos", "--count", "1").out == "todo_one of g1 changed, revision file:s:2\n"
    assert run("watch", "--topics", "todos", "--count", "1", "--json").json == told
