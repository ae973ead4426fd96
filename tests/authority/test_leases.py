"""Leases: taken, made longer, handed on, given back, shown, and demanded as a fence (LX-095 to LX-104)."""

from __future__ import annotations

from typing import Any

import pytest

from authority.leasing import GRIND, A, B, Desk, todo
from stateward_engine.authority.commands import ConfigureGoal, LeaseClaim
from stateward_engine.authority.leases import demand_fence, is_effective, passing_lease, retained
from stateward_engine.errors import Refused

POLISH = "todo_polish"


class TestAcquire:
    """authority.md section 6, `lease_acquire`."""

    def test_a_lease_lasts_as_long_as_it_says_and_holds_what_its_todo_needs_to_write(self) -> None:
        """LX-057."""
        desk = Desk(todo(required_write_scopes=["lens/**"]))

        answer = desk.run(desk.acquire())

        assert answer["status"] == "applied"
        assert answer["lease"] == {
            "schema_version": "task_lease_v0",
            "goal_id": "optics",
            "todo_id": GRIND,
            "owner": A,
            "idempotency_key": "la",
            "version": 1,
            "lease_epoch": 1,
            "status": "active",
            "write_scopes": ["lens/**"],
            "acquire_ttl_seconds": 2700,
            "acquired_at": "2026-12-01T12:00:00Z",
            "updated_at": "2026-12-01T12:00:00Z",
            "expires_at": "2026-12-01T12:45:00Z",
        }
        assert desk.goal.leases[GRIND] == answer["lease"]

    def test_what_is_held_already_is_a_repeat_whatever_id_asks(self) -> None:
        desk = Desk()
        first = desk.run(desk.acquire(ttl_seconds=60))
        desk.seconds = 59

        again = desk.run(desk.acquire(ttl_seconds=60))

        assert (again["status"], again["changed"], again["idempotent"]) == ("replayed", False, True)
        assert again["lease"] == first["lease"]

    @pytest.mark.parametrize(("owner", "key"), [(B, "lb"), (B, "la"), (A, "another")])
    def test_a_live_lease_is_in_the_way_of_everybody_and_says_whose_it_is(self, owner: str, key: str) -> None:
        desk = Desk()
        desk.run(desk.acquire(ttl_seconds=60))

        facts = desk.refusal(desk.acquire(owner, key))

        assert facts["reason_code"] == "todo_lease_conflict"
        assert facts["lease_owner"] == A
        assert facts["acquired_at"] == "2026-12-01T12:00:00Z"
        assert facts["expires_at"] == "2026-12-01T12:01:00Z"
        assert facts["message"] == (
            "the todo is leased: agent-a has the lease since 2026-12-01T12:00:00Z, until 2026-12-01T12:01:00Z"
        )

    def test_the_same_key_for_another_time_is_another_lease(self) -> None:
        desk = Desk()
        desk.run(desk.acquire(ttl_seconds=60))

        assert desk.refusal(desk.acquire(ttl_seconds=61))["reason_code"] == "idempotency_key_reuse"

    @pytest.mark.parametrize("end", ["expired", "released"])
    def test_a_key_serves_one_lease(self, end: str) -> None:
        desk = Desk()
        desk.run(desk.acquire(ttl_seconds=60))
        if end == "released":
            desk.run(desk.release(A, "la", 1))
        desk.seconds = 60

        assert desk.refusal(desk.acquire(ttl_seconds=60))["reason_code"] == "idempotency_key_reuse"
        answer = desk.run(desk.acquire(A, "la2", ttl_seconds=60))["lease"]
        assert (answer["version"], answer["lease_epoch"]) == (2, 2)
        assert "released_at" not in answer
        assert "released_at" not in desk.goal.leases[GRIND]

    @pytest.mark.parametrize(
        ("members", "owner", "reason", "fact"),
        [
            ({"status": "blocked"}, "agent-a", "todo_not_open", {"todo_status": "blocked"}),
            ({"archive_state": "archive"}, "agent-a", "todo_not_open", {"archive_state": "archive"}),
            ({}, "Agent A", "invalid_owner", {"path": "$.params.owner"}),
            ({}, "agent-c", "owner_not_registered", {"registered_agents": [A, B]}),
            ({"excluded_agents": [A]}, "agent-a", "owner_excluded_from_todo", {"excluded_agents": [A]}),
            ({"claimed_by": B}, "agent-a", "owner_conflicts_with_claim", {"claimed_by": B}),
            (
                {"role": "user", "task_class": "user_action"},
                "agent-a",
                "todo_not_executable",
                {"path": "$.params.todo_id"},
            ),
        ],
    )
    def test_who_may_not_work_on_a_todo_takes_no_lease_of_it(
        self, members: dict[str, Any], owner: str, reason: str, fact: dict[str, Any]
    ) -> None:
        """LX-008, LX-101."""
        desk = Desk(todo(**members), agents=[A, B])

        facts = desk.refusal(desk.acquire(owner))

        assert facts["reason_code"] == reason
        assert facts | fact == facts
        assert facts["handoff_mode"] == "soft_claim"
        assert facts["actual_version"] == 0

    def test_the_reasons_come_in_the_order_in_which_they_are_written(self) -> None:
        """What is wrong with everything is told from the todo outward, and eligibility before the version."""
        desk = Desk(todo(status="done", done=True, excluded_agents=["agent-c"], claimed_by=B), agents=[A, B])

        def reason(owner: str, todo_id: str = GRIND) -> str:
            return str(desk.refusal(desk.acquire(owner, todo_id=todo_id, expected_version=7))["reason_code"])

        assert reason("Agent C", "todo_none") == "todo_not_found"
        assert reason("Agent C") == "todo_not_open"
        desk.amend(GRIND, status="open", done=False)
        assert reason("Agent C") == "invalid_owner"
        assert reason("agent-c") == "owner_not_registered"
        desk.run(ConfigureGoal("optics", agents=(A, B, "agent-c")))
        assert reason("agent-c") == "owner_excluded_from_todo"
        assert reason(A) == "owner_conflicts_with_claim"
        assert reason(B) == "version_mismatch"

    @pytest.mark.parametrize("ttl_seconds", [0, -1, 86_401])
    def test_a_lease_lasts_a_second_to_a_day(self, ttl_seconds: int) -> None:
        desk = Desk()

        facts = desk.refusal(desk.acquire(ttl_seconds=ttl_seconds))

        assert (facts["reason_code"], facts["path"]) == ("invalid_ttl", "$.params.ttl_seconds")
        assert desk.run(desk.acquire(ttl_seconds=86_400))["lease"]["expires_at"] == "2026-12-02T12:00:00Z"

    def test_version_0_is_that_of_no_lease(self) -> None:
        desk = Desk()

        facts = desk.refusal(desk.acquire(expected_version=1))
        assert (facts["reason_code"], facts["expected_version"], facts["actual_version"]) == ("version_mismatch", 1, 0)
        assert desk.run(desk.acquire(expected_version=0))["lease"]["version"] == 1
        assert desk.refusal(desk.acquire(B, "lb", expected_version=0))["reason_code"] == "version_mismatch"

    def test_no_registered_agents_admit_every_well_formed_id(self) -> None:
        desk = Desk()

        assert desk.refusal(desk.acquire("Agent A"))["reason_code"] == "invalid_owner"
        assert desk.run(desk.acquire("agent-a.of:the@lab"))["status"] == "applied"

    def test_a_lease_whose_owner_may_not_work_any_more_is_in_nobodys_way(self) -> None:
        """LX-104: who is in the way is derived from facts. The next lease is another epoch."""
        desk = Desk(agents=[A, B])
        desk.run(desk.acquire())
        desk.run(ConfigureGoal("optics", agents=(B,)))

        answer = desk.run(desk.acquire(B, "lb"))

        assert (answer["lease"]["version"], answer["lease"]["lease_epoch"]) == (2, 2)


class TestWriteScopes:
    """Two effective leases of a goal never have a path in common."""

    def two(self, left: list[str], right: list[str], **members: Any) -> Desk:
        desk = Desk(
            todo(required_write_scopes=left, task_repository="lab/lens"),
            todo(POLISH, required_write_scopes=right, **members),
            agents=[A, B],
        )
        desk.run(desk.acquire(ttl_seconds=60))
        return desk

    def test_the_one_who_comes_later_waits_and_is_told_for_what(self) -> None:
        desk = self.two(["lens/*.py", "doc/"], ["lens/grind.py", "test/"])

        facts = desk.refusal(desk.acquire(B, "lb", todo_id=POLISH))

        assert facts["reason_code"] == "write_scope_conflict"
        assert facts["conflicts"] == {GRIND: A}
        assert facts["write_scopes"] == ["lens/grind.py"]
        assert desk.inspect(POLISH)["lease"] is None

    def test_scopes_apart_go_on_side_by_side(self) -> None:
        desk = self.two(["lens/*.py"], ["lens/*.md"])

        assert desk.run(desk.acquire(B, "lb", todo_id=POLISH))["status"] == "applied"

    def test_a_lease_that_ended_or_lost_its_owner_is_in_nobodys_way(self) -> None:
        """LX-104: an effectiveness that somebody claims is not asked for anywhere; facts decide."""
        for end in ("expired", "released", "removed", "claimed by another"):
            desk = self.two(["lens"], ["lens"])
            match end:
                case "expired":
                    desk.seconds = 60
                case "released":
                    desk.run(desk.release(A, "la", 1))
                case "removed":
                    desk.run(ConfigureGoal("optics", agents=(B,)))
                case _:
                    desk.amend(GRIND, claimed_by=B)

            assert desk.run(desk.acquire(B, "lb", todo_id=POLISH))["status"] == "applied", end

    @pytest.mark.parametrize(
        ("repository", "status"),
        [("Lab/Lens", "write_scope_conflict"), (None, "write_scope_conflict"), ("lab/b", "applied")],
    )
    def test_paths_of_two_repositories_are_two_paths(self, repository: str | None, status: str) -> None:
        desk = self.two(["lens"], ["lens"], **({"task_repository": repository} if repository else {}))

        assert desk.attempt(desk.acquire(B, "lb", todo_id=POLISH))[0] == status

    def test_a_claim_with_a_lease_waits_as_well(self) -> None:
        desk = self.two(["lens"], ["lens"])

        assert desk.refusal(desk.claim(B, "lb", todo_id=POLISH))["reason_code"] == "write_scope_conflict"
        assert "claimed_by" not in desk.goal.records[POLISH]


class TestRenew:
    def test_a_renewed_lease_has_a_new_version_of_the_same_epoch(self) -> None:
        desk = Desk()
        desk.run(desk.acquire(ttl_seconds=60))
        desk.seconds = 30

        lease = desk.run(desk.renew(A, "la", 1))["lease"]

        assert (lease["version"], lease["lease_epoch"]) == (2, 1)
        assert lease["expires_at"] == "2026-12-01T12:01:30Z"
        assert lease["acquired_at"] == "2026-12-01T12:00:00Z"
        assert desk.run(desk.renew(A, "la", 2, ttl_seconds=300))["lease"]["expires_at"] == "2026-12-01T12:05:30Z"

    def test_a_late_holder_is_told_why_and_since_when(self) -> None:
        desk = Desk()
        desk.run(desk.acquire(ttl_seconds=60))
        desk.seconds = 60

        facts = desk.refusal(desk.renew(A, "la", 1))
        assert (facts["reason_code"], facts["expired_at"]) == ("lease_expired", "2026-12-01T12:01:00Z")
        assert facts["message"].startswith("the lease of agent-a ran out at 2026-12-01T12:01:00Z")

        desk.run(desk.acquire(B, "lb"))
        facts = desk.refusal(desk.renew(A, "la", 1))
        assert (facts["reason_code"], facts["actual_version"], facts["lease_owner"]) == ("version_mismatch", 2, B)
        assert facts["acquired_at"] == "2026-12-01T12:01:00Z"
        assert facts | {"todo_status": "open", "handoff_mode": "soft_claim", "expected_version": 1} == facts

    @pytest.mark.parametrize(
        ("owner", "key", "version", "reason"),
        [
            (A, "la", None, "version_required"),
            (A, "la", 2, "version_mismatch"),
            (B, "la", 2, "version_mismatch"),
            (B, "la", 1, "lease_cas_mismatch"),
            (A, "lb", 1, "lease_cas_mismatch"),
        ],
    )
    def test_a_lease_is_named_by_version_owner_and_key(
        self, owner: str, key: str, version: int | None, reason: str
    ) -> None:
        desk = Desk()
        desk.run(desk.acquire())

        assert desk.refusal(desk.renew(owner, key, version))["reason_code"] == reason
        assert desk.refusal(desk.release(owner, key, version))["reason_code"] == reason
        assert desk.refusal(desk.transfer(owner, key, version, B, "new"))["reason_code"] == reason

    def test_what_was_given_back_is_not_made_longer(self) -> None:
        desk = Desk()
        assert desk.refusal(desk.renew(A, "la", 0))["reason_code"] == "lease_missing"
        desk.run(desk.acquire())
        desk.run(desk.release(A, "la", 1))

        facts = desk.refusal(desk.renew(A, "la", 1))
        assert (facts["reason_code"], facts["released_at"]) == ("lease_released", "2026-12-01T12:00:00Z")

    def test_who_may_not_work_any_more_makes_no_lease_longer(self) -> None:
        desk = Desk(agents=[A, B])
        desk.run(desk.acquire())
        desk.run(ConfigureGoal("optics", agents=(B,)))

        assert desk.refusal(desk.renew(A, "la", 1))["reason_code"] == "owner_not_registered"

    def test_it_lasts_no_longer_than_a_day(self) -> None:
        desk = Desk()
        desk.run(desk.acquire())

        assert desk.refusal(desk.renew(A, "la", 1, ttl_seconds=86_401))["reason_code"] == "invalid_ttl"


class TestTransfer:
    def test_the_new_owner_has_a_new_epoch_and_a_key_of_his_own(self) -> None:
        desk = Desk()
        desk.run(desk.acquire(ttl_seconds=60))
        desk.seconds = 30

        lease = desk.run(desk.transfer(A, "la", 1, B, "lb"))["lease"]

        assert (lease["owner"], lease["idempotency_key"], lease["version"], lease["lease_epoch"]) == (B, "lb", 2, 2)
        assert (lease["acquired_at"], lease["expires_at"]) == ("2026-12-01T12:00:30Z", "2026-12-01T12:01:30Z")
        assert desk.refusal(desk.renew(A, "la", 2))["reason_code"] == "lease_cas_mismatch"
        assert desk.run(desk.renew(B, "lb", 2))["lease"]["version"] == 3

    @pytest.mark.parametrize(
        ("to", "key", "reason", "path"),
        [
            (B, "la", "idempotency_key_reuse", "$.params.new_idempotency_key"),
            ("agent-c", "lc", "owner_not_registered", "$.params.new_owner"),
            ("Agent", "lc", "invalid_owner", "$.params.new_owner"),
        ],
    )
    def test_not_everybody_takes_it_over(self, to: str, key: str, reason: str, path: str) -> None:
        desk = Desk(agents=[A, B])
        desk.run(desk.acquire())

        facts = desk.refusal(desk.transfer(A, "la", 1, to, key))

        assert (facts["reason_code"], facts["path"]) == (reason, path)

    def test_a_claimed_todo_stays_with_its_claimer(self) -> None:
        desk = Desk()
        desk.run(desk.claim(A, "la"))

        facts = desk.refusal(desk.transfer(A, "la", 1, B, "lb"))

        assert (facts["reason_code"], facts["claimed_by"]) == ("owner_conflicts_with_claim", A)

    def test_a_lease_that_is_not_effective_is_not_handed_on(self) -> None:
        """Its scopes may have been leased with another todo since."""
        desk = Desk(agents=[A, B])
        desk.run(desk.acquire())
        desk.amend(GRIND, excluded_agents=[A])

        assert desk.refusal(desk.transfer(A, "la", 1, B, "lb"))["reason_code"] == "owner_excluded_from_todo"


class TestRelease:
    """LX-103: a release has its own fence, and needs no eligibility."""

    def test_a_lease_that_was_given_back_keeps_its_version_and_epoch(self) -> None:
        desk = Desk()
        desk.run(desk.acquire())
        desk.seconds = 10

        lease = desk.run(desk.release(A, "la", 1))["lease"]

        assert (lease["status"], lease["version"], lease["lease_epoch"]) == ("released", 1, 1)
        assert lease["released_at"] == "2026-12-01T12:00:10Z"
        desk.seconds = 20
        again = desk.run(desk.release(A, "la", 1))
        assert (again["status"], again["changed"], again["lease"]) == ("replayed", False, lease)

    def test_what_is_not_there_is_given_back_already(self) -> None:
        desk = Desk()

        answer = desk.run(desk.release(A, "la", 0))

        assert (answer["status"], answer["reason_code"], answer["idempotent"]) == ("no_change", "lease_missing", True)
        assert desk.refusal(desk.release(A, "la", 1))["reason_code"] == "version_mismatch"

    def test_whatever_became_of_owner_and_todo_a_lease_can_be_given_back(self) -> None:
        desk = Desk(agents=[A, B], promoted=True)
        desk.run(desk.acquire(ttl_seconds=60))
        desk.run(ConfigureGoal("optics", agents=(B,)))
        desk.amend(GRIND, status="done", done=True, excluded_agents=[A], claimed_by=B)
        desk.seconds = 600

        assert desk.run(desk.release(A, "la", 1))["status"] == "applied"


class TestInspect:
    """LX-095 to LX-101."""

    def test_after_promotion_all_comes_from_one_revision_of_the_ledger(self) -> None:
        desk = Desk(handoff_mode="hard_lease")
        desk.run(desk.acquire())

        assert desk.inspect() == {
            "schema_version": "task_lease_v0",
            "goal_id": "optics",
            "todo_id": GRIND,
            "todo": todo(),
            "active": True,
            "lease": desk.goal.leases[GRIND],
            "lease_path": None,
            "handoff_mode": "hard_lease",
            "source_authority": "file_v0",
            "provider_revision": "file:5704e1d5:2",
            "legacy_fallback_used": False,
        }

    def test_before_promotion_it_comes_from_the_leases_of_the_store(self) -> None:
        desk = Desk(promoted=False)
        desk.run(desk.acquire())

        seen = desk.inspect()

        assert seen["active"]
        assert seen["source_authority"] == "local_lease_store"
        assert seen["lease_path"] == "file:5704e1d5:goals/optics/leases/todo_grind"
        assert seen["legacy_fallback_used"] is False

    def test_nothing_there_is_no_lease(self) -> None:
        """LX-098: whether the todo is there or not."""
        desk = Desk()

        for todo_id in (GRIND, "todo_none"):
            seen = desk.inspect(todo_id)
            assert (seen["lease"], seen["active"], seen["reason"]) == (None, False, "lease_missing")
            assert (seen["todo"] is None) == (todo_id == "todo_none")
            assert "executor_constraint" not in seen

    def test_a_lease_that_ended_says_how_and_when(self) -> None:
        desk = Desk()
        desk.run(desk.acquire(ttl_seconds=60))
        desk.seconds = 61

        seen = desk.inspect()
        assert (seen["active"], seen["reason"], seen["since"]) == (False, "lease_expired", "2026-12-01T12:01:00Z")
        assert (seen["lease"]["owner"], seen["lease"]["status"]) == (A, "active")

        desk.run(desk.release(A, "la", 1))
        seen = desk.inspect()
        assert (seen["active"], seen["reason"], seen["since"]) == (False, "lease_released", "2026-12-01T12:01:01Z")

    @pytest.mark.parametrize("promoted", [True, False])
    def test_a_live_lease_whose_owner_may_not_use_it_says_why(self, promoted: bool) -> None:
        """LX-100, LX-101, LX-102: the lease stays as it is, and so does the claim."""
        desk = Desk(agents=[A, B], promoted=promoted)
        desk.run(desk.acquire())
        before = desk.goal.leases

        def constraint() -> Any:
            seen = desk.inspect()
            assert not seen["active"]
            assert seen["lease"]["status"] == "active"
            assert seen["reason"] == seen["executor_constraint"]["reason"]
            return seen["executor_constraint"]

        desk.amend(GRIND, claimed_by=B)
        assert constraint() == {"effective": False, "reason": "owner_conflicts_with_claim", "claimed_by": B}
        desk.amend(GRIND, claimed_by=A, excluded_agents=[A])
        assert constraint() == {"effective": False, "reason": "owner_excluded_from_todo", "excluded_agents": [A]}
        desk.run(ConfigureGoal("optics", agents=(B,)))
        assert constraint() == {"effective": False, "reason": "owner_not_registered", "registered_agents": [B]}
        desk.amend(GRIND, status="blocked")
        assert constraint() == {
            "effective": False,
            "reason": "todo_not_open",
            "todo_status": "blocked",
            "archive_state": "active",
        }
        assert desk.goal.leases == before


class TestFence:
    """Section 6, `todo_update` and `todo_complete`: what an actor may go on with."""

    def fence(self, desk: Desk, agent_id: str | None, proof: LeaseClaim | None = None, *, required: bool = True) -> Any:
        """Return the lease, or the facts of the refusal."""
        now = desk.goal.now(f"2026-12-01T12:{desk.seconds // 60:02}:{desk.seconds % 60:02}Z")
        try:
            return demand_fence(desk.goal, desk.goal.records[GRIND], agent_id, proof, now, required=required)
        except Refused as fault:
            return fault.facts["reason_code"], fault.facts

    def test_without_leases_nobody_needs_one(self) -> None:
        desk = Desk()
        assert self.fence(desk, A) is None

        desk.run(desk.acquire(ttl_seconds=60))
        assert self.fence(desk, A) == desk.goal.leases[GRIND]
        desk.seconds = 60
        assert self.fence(desk, A) is None

    def test_under_leases_proof_is_needed_by_those_who_do_the_work_of_an_agent(self) -> None:
        desk = Desk(handoff_mode="hard_lease")
        assert self.fence(desk, A)[0] == "lease_fence_required"
        assert self.fence(desk, A, LeaseClaim("la", 1))[0] == "lease_fence_required"
        assert self.fence(desk, A, required=False) is None

        desk.run(desk.acquire())
        reason, facts = self.fence(desk, A)
        assert (reason, facts["actual_version"], facts["path"]) == ("lease_fence_required", 1, "$.params.lease")
        assert self.fence(desk, A, required=False) == desk.goal.leases[GRIND]
        desk.amend(GRIND, role="user")
        assert self.fence(desk, A) == desk.goal.leases[GRIND]

    def test_a_proof_names_the_lease_as_it_is_now(self) -> None:
        desk = Desk(handoff_mode="hard_lease")
        desk.run(desk.acquire())

        assert self.fence(desk, A, LeaseClaim("la", 1)) == desk.goal.leases[GRIND]
        assert self.fence(desk, A, LeaseClaim("la")) == desk.goal.leases[GRIND]
        assert self.fence(desk, A, LeaseClaim("la", 2))[0] == "lease_cas_mismatch"
        assert self.fence(desk, A, LeaseClaim("lb", 1))[0] == "lease_cas_mismatch"
        desk.run(desk.release(A, "la", 1))
        assert self.fence(desk, A, LeaseClaim("la", 1))[0] == "lease_fence_required"

    @pytest.mark.parametrize("proof", [None, LeaseClaim("la", 1)])
    @pytest.mark.parametrize("agent_id", [B, None])
    def test_the_lease_of_another_is_in_the_way_until_it_ends(
        self, agent_id: str | None, proof: LeaseClaim | None
    ) -> None:
        desk = Desk()
        desk.run(desk.acquire(ttl_seconds=60))

        reason, facts = self.fence(desk, agent_id, proof)
        assert (reason, facts["lease_owner"], facts["expires_at"]) == (
            "lease_owner_mismatch",
            A,
            "2026-12-01T12:01:00Z",
        )
        desk.seconds = 60
        assert self.fence(desk, agent_id) is None

    def test_a_late_holder_is_told_why_and_since_when(self) -> None:
        desk = Desk()
        desk.run(desk.acquire(ttl_seconds=60))
        desk.seconds = 60

        reason, facts = self.fence(desk, A, LeaseClaim("la", 1))
        assert (reason, facts["expired_at"]) == ("lease_expired", "2026-12-01T12:01:00Z")
        desk.run(desk.acquire(B, "lb"))
        reason, facts = self.fence(desk, A, LeaseClaim("la", 1))
        assert (reason, facts["lease_owner"], facts["acquired_at"]) == (
            "lease_owner_mismatch",
            B,
            "2026-12-01T12:01:00Z",
        )

    def test_a_lease_without_effect_is_in_nobodys_way(self) -> None:
        desk = Desk(agents=[A, B])
        desk.run(desk.acquire())
        desk.run(ConfigureGoal("optics", agents=(B,)))

        assert self.fence(desk, B) is None


def test_a_decision_takes_its_lease_in_passing() -> None:
    desk = Desk()

    lease = passing_lease(desk.goal, desk.goal.records[GRIND], "user", "2026-12-01T12:00:00Z")

    assert (lease["idempotency_key"], lease["version"], lease["owner"]) == ("auto-todo_grind", 1, "user")


def test_a_lease_is_retained_until_it_is_given_back() -> None:
    desk = Desk()
    assert retained(desk.goal, GRIND) is None
    desk.run(desk.acquire(ttl_seconds=60))
    desk.seconds = 600

    kept = retained(desk.goal, GRIND)
    assert kept == desk.goal.leases[GRIND]
    assert not is_effective(desk.goal, desk.goal.records[GRIND], kept, "2026-12-01T12:10:00Z")
    desk.run(desk.release(A, "la", 1))
    assert retained(desk.goal, GRIND) is None


class TestUnpromoted:
    """Section 3: leases are records of the ledger; the todo is what its document says when the call comes."""

    def test_a_lease_of_a_todo_of_a_document_is_kept_in_the_ledger(self) -> None:
        desk = Desk(promoted=False)

        assert desk.run(desk.acquire())["lease"] == desk.goal.leases[GRIND]
        assert desk.run(desk.renew(A, "la", 1))["lease"]["version"] == 2
        assert desk.run(desk.transfer(A, "la", 2, B, "lb"))["lease"]["owner"] == B
        assert desk.run(desk.release(B, "lb", 3))["lease"]["status"] == "released"

    def test_what_the_document_says_decides(self) -> None:
        desk = Desk(todo(required_write_scopes=["lens"]), todo(POLISH, required_write_scopes=["lens"]), promoted=False)
        desk.run(desk.acquire())
        assert desk.refusal(desk.acquire(B, "lb", todo_id="todo_none"))["reason_code"] == "todo_not_found"
        assert desk.refusal(desk.acquire(B, "lb", todo_id=POLISH))["reason_code"] == "write_scope_conflict"

        desk.amend(GRIND, status="done", done=True)
        assert desk.run(desk.acquire(B, "lb", todo_id=POLISH))["status"] == "applied"

    def test_a_repeat_is_known_again_whatever_the_document_says_by_then(self) -> None:
        desk = Desk(promoted=False)
        first = desk.run(desk.acquire(operation_id="op"))
        desk.amend(GRIND, status="done", done=True)

        again = desk.run(desk.acquire(operation_id="op"))

        assert (again["status"], again["lease"]) == ("replayed", first["lease"])

    def test_nobody_needs_a_lease_there(self) -> None:
        assert not Desk(promoted=False, handoff_mode="hard_lease").goal.needs_leases


def test_field_case_29_a_late_completion_after_the_lease_was_lost() -> None:
    """What the owner of a lost lease may do, and that a clock set back gives it back to nobody."""
    desk = Desk(handoff_mode="hard_lease")
    desk.run(desk.acquire(ttl_seconds=60))
    late = LeaseClaim("la", 1)

    desk.seconds = 61
    seen = desk.inspect()
    assert (seen["active"], seen["reason"], seen["lease"]["owner"]) == (False, "lease_expired", A)
    desk.seconds = 62
    assert desk.run(desk.acquire(B, "lb", ttl_seconds=60))["lease"]["version"] == 2
    for desk.seconds in (63, 5):
        assert TestFence().fence(desk, A, late)[0] == "lease_owner_mismatch"
        assert desk.refusal(desk.renew(A, "la", 1))["reason_code"] == "version_mismatch"
        assert desk.refusal(desk.release(A, "la", 1))["reason_code"] == "version_mismatch"
        seen = desk.inspect()
        assert (seen["active"], seen["lease"]["owner"]) == (True, B)
        assert TestFence().fence(desk, B, LeaseClaim("lb", 2)) == desk.goal.leases[GRIND]
