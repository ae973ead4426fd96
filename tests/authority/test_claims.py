"""Claims: one todo, one claimer, and the lease with it where one is wanted or needed (LX-055 to LX-057)."""

from __future__ import annotations

from typing import Any

import pytest

from authority.leasing import GRIND, A, B, Desk, todo
from stateward_engine.authority.claims import claim
from stateward_engine.authority.commands import ConfigureGoal


class TestSoftClaim:
    def test_a_claim_is_the_name_of_its_actor_on_the_record(self) -> None:
        """LX-055."""
        desk = Desk()
        desk.seconds = 5

        answer = desk.run(desk.claim(A, operation_id="op"))

        assert answer == {
            "schema_version": "loopx_coordination_todo_claim_result_v0",
            "todo_id": GRIND,
            "claimed_by": A,
            "handoff_mode": "soft_claim",
            "todo_changed": True,
            "lease_changed": False,
            "lease_idempotent": False,
            "already_claimed_by_you": False,
            "status": "applied",
            "changed": True,
            "goal_id": "optics",
            "operation_id": "op",
            "operation_id_given": True,
            "provider_revision": "file:5704e1d5:2",
            "cursor": "2",
            "source_authority": "file_v0",
            "original_receipt": answer["original_receipt"],
        }
        assert desk.goal.records[GRIND] == {**todo(), "claimed_by": A, "updated_at": "2026-12-01T12:00:05Z"}
        assert desk.goal.leases == {}

    def test_who_has_the_todo_already_is_told_so_under_whatever_id_he_asks(self) -> None:
        desk = Desk()
        desk.run(desk.claim(A))

        answer = desk.run(desk.claim(A))

        assert (answer["status"], answer["changed"], answer["already_claimed_by_you"]) == ("no_change", False, True)

    def test_a_loser_is_told_who_has_it_and_since_when(self) -> None:
        desk = Desk()
        desk.seconds = 5
        desk.run(desk.claim(A))
        desk.seconds = 9

        facts = desk.refusal(desk.claim(B))

        assert facts["reason_code"] == "claim_owner_mismatch"
        assert (facts["claimed_by"], facts["claimed_at"]) == (A, "2026-12-01T12:00:05Z")
        assert facts["message"] == "agent-a claimed the todo at 2026-12-01T12:00:05Z; take another one"
        assert facts["retryable"] is False

    def test_a_claim_that_came_from_elsewhere_has_no_time(self) -> None:
        desk = Desk(todo(claimed_by=A))

        facts = desk.refusal(desk.claim(B))

        assert (facts["claimed_by"], "claimed_at" in facts) == (A, False)
        assert facts["message"] == "agent-a claimed the todo; take another one"

    def test_a_lease_without_a_claim_is_in_the_way_as_well(self) -> None:
        desk = Desk()
        desk.run(desk.acquire(B, "lb", ttl_seconds=60))

        facts = desk.refusal(desk.claim(A))
        assert (facts["reason_code"], facts["lease_owner"]) == ("todo_lease_conflict", B)
        assert facts["acquired_at"] == "2026-12-01T12:00:00Z"
        desk.seconds = 60
        assert desk.run(desk.claim(A))["todo_changed"]

    def test_the_holder_of_a_lease_claims_under_it(self) -> None:
        desk = Desk(handoff_mode="hard_lease")
        desk.run(desk.acquire(A, "la"))

        answer = desk.run(desk.claim(A))

        assert (answer["todo_changed"], answer["lease_changed"], answer["lease"]["version"]) == (True, False, 1)

    @pytest.mark.parametrize(
        ("members", "who", "more", "reason", "fact"),
        [
            ({}, A, {"todo_id": "todo_none"}, "todo_not_found", {"path": "$.params.todo_id"}),
            ({}, "agent-c", {}, "actor_not_registered", {"path": "$.params.claimed_by", "wanted": [A, B]}),
            ({}, A, {"agent_id": "agent-c"}, "actor_not_registered", {"path": "$.params.agent_id"}),
            ({}, A, {"agent_id": B}, "claim_actor_mismatch", {"got": B, "wanted": A}),
            ({"role": "user"}, A, {}, "todo_not_agent", {"role": "user"}),
            ({"status": "done", "done": True}, A, {}, "todo_not_open", {"todo_status": "done"}),
            ({"archive_state": "archive"}, A, {}, "todo_not_open", {"archive_state": "archive"}),
            ({"excluded_agents": [A]}, A, {}, "actor_excluded", {"excluded_agents": [A]}),
        ],
    )
    def test_not_everybody_claims_everything(
        self, members: dict[str, Any], who: str, more: dict[str, Any], reason: str, fact: dict[str, Any]
    ) -> None:
        desk = Desk(todo(**members), agents=[A, B])

        facts = desk.refusal(desk.claim(who, **more))

        assert facts["reason_code"] == reason
        assert facts | fact == facts

    def test_an_expected_revision_is_asked_for_first(self) -> None:
        desk = Desk()
        desk.run(desk.claim(A))

        facts = desk.refusal(desk.claim(B, expected_provider_revision="file:5704e1d5:1"))

        assert facts["reason_code"] == "provider_revision_mismatch"

    def test_a_dry_run_says_what_would_be(self) -> None:
        desk = Desk()

        answer = desk.run(desk.claim(A, "la", dry_run=True))

        assert (answer["status"], answer["todo_changed"], answer["lease_changed"]) == ("planned", True, True)
        assert (desk.goal.records[GRIND], desk.goal.leases) == (todo(), {})


class TestHardLease:
    def desk(self, **members: Any) -> Desk:
        return Desk(todo(**members), handoff_mode="hard_lease")

    def test_claim_lease_and_receipt_are_one_entry(self) -> None:
        """LX-056, LX-057: the scopes of the lease are those of the todo."""
        desk = self.desk(required_write_scopes=["lens"])
        sequence = desk.view.sequence

        answer = desk.run(desk.claim(A, "la", version=0, ttl_seconds=60, operation_id="op"))

        assert desk.view.sequence == sequence + 1
        assert (answer["todo_changed"], answer["lease_changed"]) == (True, True)
        assert answer["lease"] == desk.goal.leases[GRIND]
        assert answer["lease"]["write_scopes"] == ["lens"]
        assert answer["lease"]["expires_at"] == "2026-12-01T12:01:00Z"
        assert desk.goal.records[GRIND]["claimed_by"] == A
        assert desk.goal.receipts["op"]["answer"]["lease"] == answer["lease"]

    def test_without_a_key_the_refusal_is_a_recipe(self) -> None:
        desk = self.desk()

        facts = desk.refusal(desk.claim(A))

        assert facts["reason_code"] == "handoff_mode_requires_lease"
        assert facts["recovery"] == {
            "command": "todo_claim",
            "requires": "lease.idempotency_key",
            "expected_version": 0,
        }
        assert facts["example"] == (
            '{"todo_id": "todo_grind", "claimed_by": "agent-a", '
            '"lease": {"idempotency_key": "a-new-key", "expected_version": 0}}'
        )
        desk.run(desk.acquire(ttl_seconds=60))
        desk.seconds = 60
        assert desk.refusal(desk.claim(A))["recovery"]["expected_version"] == 1
        assert desk.run(desk.claim(A, "a-new-key", version=1))["lease"]["version"] == 2

    @pytest.mark.parametrize("key", ["la", "another"])
    def test_the_winner_that_claims_again_is_told_that_he_has_it(self, key: str) -> None:
        """Field case 28: whatever key he takes, and whatever version he thinks of."""
        desk = self.desk()
        won = desk.run(desk.claim(A, "la", version=0))

        answer = desk.run(desk.claim(A, key, version=0))

        assert (answer["status"], answer["already_claimed_by_you"]) == ("no_change", True)
        assert (answer["lease_changed"], answer["lease_idempotent"]) == (False, True)
        assert answer["lease"] == won["lease"]

    def test_a_claim_lapses_with_its_lease_and_not_before(self) -> None:
        """A dead agent keeps its todo from the others for as long as its lease lasts."""
        desk = self.desk()
        desk.run(desk.claim(A, "la", ttl_seconds=60))
        desk.seconds = 59
        facts = desk.refusal(desk.claim(B, "lb", version=1))
        assert (facts["reason_code"], facts["claimed_at"]) == ("claim_owner_mismatch", "2026-12-01T12:00:00Z")
        assert facts["expires_at"] == "2026-12-01T12:01:00Z"
        desk.seconds = 60

        answer = desk.run(desk.claim(B, "lb", version=1))

        assert (answer["claimed_by"], answer["todo_changed"], answer["lease"]["lease_epoch"]) == (B, True, 2)
        assert desk.goal.records[GRIND]["claimed_by"] == B
        assert desk.refusal(desk.claim(A, "la2"))["reason_code"] == "claim_owner_mismatch"

    def test_a_claim_without_a_lease_and_one_that_gave_it_back_stand(self) -> None:
        desk = Desk()
        desk.run(desk.claim(A))
        desk.seconds = 7_000
        assert desk.refusal(desk.claim(B))["reason_code"] == "claim_owner_mismatch"

        desk.run(desk.claim(A, "la", ttl_seconds=60))
        desk.run(desk.release(A, "la", 1))
        desk.seconds += 7_000
        assert desk.refusal(desk.claim(B))["reason_code"] == "claim_owner_mismatch"

    def test_a_claimer_whose_lease_has_run_out_takes_another_one(self) -> None:
        desk = self.desk()
        desk.run(desk.claim(A, "la", ttl_seconds=60))
        desk.seconds = 60

        answer = desk.run(desk.claim(A, "la2", version=1))
        assert (answer["already_claimed_by_you"], answer["lease_changed"], answer["lease"]["lease_epoch"]) == (
            True,
            True,
            2,
        )

    def test_what_is_said_of_the_lease_stands_in_its_member(self) -> None:
        desk = self.desk()
        assert desk.refusal(desk.claim(A, "la", version=3))["path"] == "$.params.lease.expected_version"
        assert desk.refusal(desk.claim(A, "la", ttl_seconds=0))["path"] == "$.params.lease.ttl_seconds"
        desk.run(desk.acquire(ttl_seconds=60))
        desk.seconds = 60

        facts = desk.refusal(desk.claim(A, "la"))

        assert (facts["reason_code"], facts["path"]) == ("idempotency_key_reuse", "$.params.lease.idempotency_key")


def test_field_case_28_one_of_thirty_two_wins() -> None:
    for mode in ("soft_claim", "hard_lease"):
        desk = Desk(handoff_mode=mode)
        order = [7, *range(32)]

        told = [desk.attempt(desk.claim(f"agent-{n}", f"l{n}", operation_id=f"claim-{n}")) for n in order]

        assert [status for status, _ in told] == [
            "applied",
            *("replayed" if n == 7 else "claim_owner_mismatch" for n in range(32)),
        ]
        assert {facts["claimed_by"] for _, facts in told} == {"agent-7"}
        assert told[8][1]["original_receipt"] == told[0][1]["original_receipt"]


@pytest.mark.parametrize("key", [None, "la"])
def test_a_todo_of_a_document_is_claimed_by_the_same_rules(key: str | None) -> None:
    """Whoever edits the document gets the record after the claim, and the lease for the ledger."""
    desk = Desk(promoted=False)

    claimed = claim(desk.goal, desk.todos, desk.claim(A, key), "2026-12-01T12:00:00Z")

    assert claimed.todo == {**todo(), "claimed_by": A, "updated_at": "2026-12-01T12:00:00Z"}
    assert (claimed.lease is not None) == (key is not None)
    desk.amend(GRIND, claimed_by=A)
    again = claim(desk.goal, desk.todos, desk.claim(A), "2026-12-01T12:01:00Z")
    assert (again.todo, again.answer["already_claimed_by_you"]) == (desk.todos[GRIND], True)


def test_a_removed_actor_claims_nothing_any_more() -> None:
    desk = Desk(agents=[A, B])
    desk.run(ConfigureGoal("optics", agents=(B,)))

    assert desk.refusal(desk.claim(A))["reason_code"] == "actor_not_registered"
