"""Lists of todos: in which order, how much of each, and which of them can be worked on."""

from __future__ import annotations

from typing import Any

import pytest

from authority.planted import NOON, record
from stateward_engine.authority.listing import list_todos, records_sha256, summary_of
from stateward_engine.errors import Refused
from stateward_engine.goals.contract import RECORD_FIELDS
from stateward_engine.goals.digests import value_sha256

LONG = "[P1] " + "\u6838\u5bf9\u6f6e\u4f4d\U0001f30a\u8868" * 200


def ids(records: list[dict[str, Any]], **wanted: Any) -> list[str]:
    return [todo["todo_id"] for todo in list_todos(records, now=NOON, **wanted)["todos"]]


def is_ready(todo: dict[str, Any], *others: dict[str, Any], agent_id: str | None = None, now: str = NOON) -> bool:
    answer = list_todos([todo, *others], ready=True, agent_id=agent_id, now=now)
    listed = todo["todo_id"] in [each["todo_id"] for each in answer["todos"]]
    assert listed == list_todos([todo, *others], todo_id=todo["todo_id"], agent_id=agent_id, now=now)["ready"]
    return listed


RECORDS = [
    record("todo_b"),
    record("todo_a", claimed_by="bo"),
    record("todo_imported", schema_version="todo_item_v0", source_section="Agent Todo", index=7),
    record("todo_user", role="user", status="blocked"),
    record("todo_gone", status="done", archive_state="archive"),
]


class TestLists:
    """Source: authority.md section 6, `todo_list`; goal-documents 4.2. Rows LX-008, LX-047, LX-083 and LX-137."""

    def test_todos_come_as_a_document_shows_them(self) -> None:
        assert ids(RECORDS) == ["todo_user", "todo_imported", "todo_a", "todo_b"]

    def test_the_archive_is_listed_when_it_is_asked_for(self) -> None:
        assert ids(RECORDS, role="archive") == ["todo_gone"]

    def test_what_is_asked_for_is_what_comes(self) -> None:
        assert ids(RECORDS, role="user") == ["todo_user"]
        assert ids(RECORDS, status="blocked") == ["todo_user"]
        assert ids(RECORDS, agent_id="cy") == ["todo_user", "todo_imported", "todo_b"]
        assert ids(RECORDS, ready=False) == ["todo_user", "todo_a"]

    def test_a_limit_shortens_the_list_and_not_the_count(self) -> None:
        answer = list_todos(RECORDS, limit=1, now=NOON)

        assert (len(answer["todos"]), answer["todo_count"], answer["returned_count"]) == (1, 4, 1)
        assert list_todos(RECORDS, limit=0, now=NOON)["returned_count"] == 0

    def test_a_list_is_bounded_and_says_so(self) -> None:
        """Field case 11: cut between characters, never inside of one."""
        (todo,) = list_todos([record(text=LONG)], now=NOON)["todos"]

        assert (len(todo["text"]), todo["text"][-1]) == (500, "\u2026")
        assert (todo["text_truncated"], todo["text_length"]) == (True, len(LONG))
        assert (len(todo["title"]), todo["title"][-1]) == (500, "\u2026")
        assert LONG.startswith(todo["text"][:-1])
        todo["text"].encode()

    def test_a_short_text_is_whole(self) -> None:
        (todo,) = list_todos([record()], now=NOON)["todos"]

        assert (todo["text"], todo["text_truncated"], todo["text_length"]) == ("[P1] Warp the loom.", False, 19)

    def test_one_todo_is_read_with_all_of_its_text_archived_or_not(self) -> None:
        answer = list_todos([record(text=LONG, status="done", archive_state="archive")], todo_id="todo_warp", now=NOON)

        assert (answer["full_text"], answer["todo"]["text_truncated"]) == (LONG, True)
        assert (answer["todos"], answer["todo_count"]) == ([answer["todo"]], 1)

    def test_one_that_is_not_there_is_refused(self) -> None:
        with pytest.raises(Refused) as caught:
            list_todos(RECORDS, todo_id="todo_weft", now=NOON)

        assert caught.value.facts["reason_code"] == "todo_not_found"

    def test_the_digest_is_of_whole_records_in_order(self) -> None:
        """Goal-documents 4.2: unlike the digest of a section it counts what a record does not have."""
        native = {name for name in RECORD_FIELDS if name not in ("index", "source_section")}
        whole = [{name: each.get(name) for name in native} for each in (record("todo_a"), record("todo_b"))]

        assert records_sha256([record("todo_b"), record("todo_a")]) == value_sha256(whole)

    def test_a_summary_counts_each_role_and_the_archive(self) -> None:
        assert summary_of(RECORDS) == {
            "user": {"total_count": 1, "open_count": 0, "blocked_count": 1, "deferred_count": 0, "done_count": 0},
            "agent": {"total_count": 3, "open_count": 3, "blocked_count": 0, "deferred_count": 0, "done_count": 0},
            "archived_count": 1,
        }


class TestReadiness:
    """`ready` is open, unclaimed or the agent's own, not held up, and its resume condition met."""

    def test_an_open_todo_is_ready_and_no_other(self) -> None:
        assert is_ready(record())
        assert not any(is_ready(record(status=status)) for status in ("done", "blocked", "deferred"))
        assert not list_todos([record(archive_state="archive")], todo_id="todo_warp", now=NOON)["ready"]

    def test_it_is_nobodys_or_the_agents_own(self) -> None:
        assert is_ready(record(claimed_by="bo"), agent_id="bo")
        assert not list_todos([record(claimed_by="bo")], todo_id="todo_warp", agent_id="cy", now=NOON)["ready"]
        assert not is_ready(record(claimed_by="bo"))
        assert not is_ready(record(excluded_agents=["bo"]), agent_id="bo")
        assert not is_ready(record(bound_agent="bo"))

    def test_what_a_user_has_to_do_is_not_for_an_agent(self) -> None:
        assert is_ready(record(role="user"))
        assert not list_todos([record(role="user")], todo_id="todo_warp", agent_id="bo", now=NOON)["ready"]

    def test_a_claim_that_has_lapsed_keeps_nobody_away(self) -> None:
        lease = {"owner": "bo", "status": "active", "expires_at": NOON}
        for owner, ready in (("bo", True), ("di", False)):
            leases = {"todo_warp": {**lease, "owner": owner}}
            wanted: dict[str, Any] = {"ready": True, "agent_id": "cy", "now": NOON, "leases": leases}
            assert bool(list_todos([record(claimed_by="bo")], **wanted)["todos"]) is ready

    def test_a_todo_that_another_unblocks_waits_for_it(self) -> None:
        gate = record("todo_gate", role="user", unblocks_todo_id="todo_warp")

        assert not is_ready(record(), gate)
        assert is_ready(record(), {**gate, "status": "done"})
        assert is_ready(record(), {**gate, "archive_state": "archive"})
        assert is_ready(record("todo_weft"), gate)
        assert is_ready(gate, record())

    def test_a_gate_holds_up_its_agent_or_all(self) -> None:
        gate = record("todo_gate", role="user", blocks_agent="bo")

        assert not is_ready(record(), gate, agent_id="bo")
        assert is_ready(record(), gate, agent_id="cy")
        assert not is_ready(record(), record("todo_gate", role="user", global_gate=True), agent_id="cy")
        assert is_ready(record(), record("todo_gate", role="user", global_gate=True, status="done"), agent_id="cy")

    def test_a_gate_that_names_a_todo_holds_up_no_other(self) -> None:
        gate = record("todo_gate", role="user", blocks_agent="bo", unblocks_todo_id="todo_weft")

        assert is_ready(record(), gate, record("todo_weft"), agent_id="bo")

    def test_required_decisions_are_approved(self) -> None:
        scope = {"kind": "direction", "granularity": "goal", "scope_key": "blue"}
        todo = record(required_decision_scopes=[scope])
        gate = record("todo_gate", role="user", status="done", decision_scope=scope, decision_outcome="approve")

        assert is_ready(todo, gate)
        assert not is_ready(todo)
        assert not is_ready(todo, {**gate, "decision_outcome": "reject"})
        assert not is_ready(todo, {**gate, "decision_scope": {**scope, "scope_key": "red"}})

    @pytest.mark.parametrize(
        ("condition", "others", "ready"),
        [
            ("resume_at:2026-12-01T12:00:00Z", [], True),
            ("resume_at:2026-12-01T12:00:00.500Z", [], False),
            ("todo_done:todo_weft", [record("todo_weft", status="done", archive_state="archive")], True),
            ("todo_done:todo_weft", [record("todo_weft", status="deferred")], False),
            ("todo_done:todo_weft", [], False),
            ("monitor_changed:todo_sky", [record("todo_sky", material_change_generation=3)], True),
            ("monitor_changed:todo_sky", [record("todo_sky", material_change_generation=2)], False),
            ("monitor_changed:todo_sky", [], False),
            ("pr_merged:#7", [], False),
        ],
    )
    def test_a_resume_condition_is_met_or_not(self, condition: str, others: list[dict[str, Any]], ready: bool) -> None:
        todo = record(resume_when=condition, resume_monitor_generation=2)

        assert is_ready(todo, *others) is ready
        assert is_ready({**todo, "resume_ready": True}, *others)


def test_relations_say_who_waits_for_whom_and_what_came_of_it() -> None:
    records = [
        record(resume_when="todo_done:todo_yarn", superseded_by="todo_next", successor_todo_ids=["todo_next"]),
        record("todo_yarn", status="done", successor_todo_ids=["todo_warp"]),
        record("todo_gate", role="user", unblocks_todo_id="todo_warp"),
        record("todo_weft", resume_when="todo_done:todo_warp"),
        record("todo_old", superseded_by="todo_warp"),
        record("todo_next"),
    ]

    relations = list_todos(records, todo_id="todo_warp", now=NOON)["relations"]

    assert {name: [(each["todo_id"], each["status"]) for each in them] for name, them in relations.items()} == {
        "waits_for": [("todo_gate", "open"), ("todo_yarn", "done")],
        "blocks": [("todo_weft", "open")],
        "successors": [("todo_next", "open")],
        "predecessors": [("todo_yarn", "done")],
        "superseded_by": [("todo_next", "open")],
        "supersedes": [("todo_old", "open")],
    }
