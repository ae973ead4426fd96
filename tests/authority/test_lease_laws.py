"""Laws of leases and claims, searched for counterexamples in histories whose clock goes forth and back."""

from __future__ import annotations

import random
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.leasing import A, B, Desk, at, todo
from state.drawn import search
from stateward_engine.authority.commands import ConfigureGoal
from stateward_engine.authority.leases import has_run_out, is_effective, is_live
from stateward_engine.authority.write_scopes import overlapping

if TYPE_CHECKING:
    from stateward_engine.authority.commands import Operation

pytestmark = pytest.mark.property

AGENTS: Final = (A, B, "agent-c")
STEPS: Final = 40
VERBS: Final = ("acquire", "acquire", "acquire", "claim", "claim", "renew", "renew", "transfer", "release")
MODES: Final = st.sampled_from(["soft_claim", "hard_lease", "unpromoted"])
SEEDS: Final = st.integers(0, 2**32)


class Walk:
    """A random history of two todos that write to the same file, and of their three agents.

    Attributes:
        on: The goal, and its clock, which goes on for seconds and at times jumps anywhere.
    """

    def __init__(self, mode: str, seed: int) -> None:
        self.on = Desk(
            todo("todo_one", required_write_scopes=["lens/*.py"]),
            todo("todo_two", required_write_scopes=["lens/grind.py"]),
            agents=AGENTS,
            handoff_mode="hard_lease" if mode == "hard_lease" else "soft_claim",
            promoted=mode != "unpromoted",
        )
        self.drawn = random.Random(seed)

    def step(self, *, configuring: bool = True) -> tuple[Operation, str, Any]:
        """Return the next command, and its status and answer or its reason and facts."""
        self.on.seconds = self.drawn.choice([self.on.seconds + self.drawn.randint(0, 20), self.drawn.randint(0, 400)])
        if configuring and not self.drawn.randrange(10):
            self.on.run(ConfigureGoal("optics", agents=tuple(self.drawn.sample(AGENTS, self.drawn.randint(1, 3)))))
        asked = self._command()
        return asked, *self.on.attempt(asked)

    def _command(self) -> Operation:
        """Return a command: mostly that of the holder of the lease, with its version; else anybody's."""
        on, drawn = self.on, self.drawn
        todo_id = drawn.choice(["todo_one", "todo_two"])
        more: dict[str, Any] = {"todo_id": todo_id, "ttl_seconds": drawn.choice([10, 60])}
        lease = on.goal.leases.get(todo_id, {"version": 0, "owner": A, "idempotency_key": "k"})
        key = f"k{drawn.randrange(20)}"
        verb = drawn.choice(VERBS)
        if verb == "claim" and on.promoted:
            return on.claim(drawn.choice(AGENTS), drawn.choice([None, key, key]), **more)
        if verb in {"acquire", "claim"}:
            return on.acquire(drawn.choice(AGENTS), key, **more)
        holder = (lease["owner"], lease["idempotency_key"], lease["version"])
        anybody = (drawn.choice(AGENTS), key, lease["version"] - drawn.randrange(2))
        who = drawn.choice([holder, holder, anybody])
        if verb == "transfer":
            return on.transfer(*who, drawn.choice(AGENTS), key, **more)
        return (on.renew if verb == "renew" else on.release)(*who, **more)


class TestLeaseLaws:
    """authority.md section 1, clocks, and section 6, leases."""

    @search(40)
    @given(MODES, SEEDS)
    def test_versions_and_epochs_only_rise_and_an_epoch_has_one_owner_and_key(self, mode: str, seed: int) -> None:
        walk = Walk(mode, seed)
        holders: dict[tuple[str, int], tuple[str, str]] = {}
        for _ in range(STEPS):
            before = walk.on.goal.leases
            walk.step()
            for todo_id, lease in walk.on.goal.leases.items():
                old = before.get(todo_id, {"version": 0, "lease_epoch": 0})
                assert lease["version"] - old["version"] in {0, 1}
                assert lease["lease_epoch"] - old["lease_epoch"] in {0, lease["version"] - old["version"]}
                holder = (lease["owner"], lease["idempotency_key"])
                assert holders.setdefault((todo_id, lease["lease_epoch"]), holder) == holder

    @search(40)
    @given(MODES, SEEDS)
    def test_an_epoch_that_ended_never_lives_again(self, mode: str, seed: int) -> None:
        """A clock that is set back revives nothing that an accepted operation has seen ended."""
        walk, ended = Walk(mode, seed), set()
        for _ in range(STEPS):
            walk.step()
            goal = walk.on.goal
            for todo_id, lease in goal.leases.items():
                epoch = (todo_id, lease["lease_epoch"])
                assert not (epoch in ended and is_live(lease, goal.now(at(0))))
                if not is_live(lease, goal.latest):
                    ended.add(epoch)

    @search(40)
    @given(MODES, SEEDS)
    def test_two_effective_leases_have_no_path_in_common(self, mode: str, seed: int) -> None:
        """As long as nobody gets back the rights that he lost."""
        walk = Walk(mode, seed)
        for _ in range(STEPS):
            walk.step(configuring=False)
            goal, todos = walk.on.goal, walk.on.goal.records if walk.on.promoted else walk.on.todos
            scopes = [
                lease["write_scopes"]
                for todo_id, lease in goal.leases.items()
                if is_effective(goal, todos[todo_id], lease, goal.now(at(walk.on.seconds)))
            ]
            assert len(scopes) < 2 or not overlapping(*scopes)

    @search(40)
    @given(st.sampled_from(["soft_claim", "hard_lease"]), SEEDS)
    def test_a_todo_has_one_claimer_and_under_leases_nobody_claims_without_one(self, mode: str, seed: int) -> None:
        """The claimer changes only when the lease of the last one has run out."""
        walk = Walk(mode, seed)
        for _ in range(STEPS):
            before = walk.on.goal
            _, status, answer = walk.step()
            goal = walk.on.goal
            for todo_id, record in goal.records.items():
                was, now = before.records.get(todo_id, {}).get("claimed_by"), goal.now(at(walk.on.seconds))
                assert was in (None, record.get("claimed_by")) or has_run_out(before.leases.get(todo_id), was, now)
            if goal.needs_leases and status in {"applied", "no_change"} and "claimed_by" in answer:
                assert answer["lease"] == goal.leases[answer["todo_id"]]
                assert answer["lease"]["owner"] == answer["claimed_by"]

    @search(40)
    @given(MODES, SEEDS)
    def test_a_repeat_is_answered_as_the_first_time_and_changes_nothing(self, mode: str, seed: int) -> None:
        walk = Walk(mode, seed)
        answers = [walk.step() for _ in range(STEPS)]
        view = walk.on.view

        for asked, status, answer in answers:
            if status == "applied":
                assert walk.on.run(asked) == {**answer, "status": "replayed", "changed": False}
        assert walk.on.view is view

    def test_the_histories_come_to_everything_that_can_happen(self) -> None:
        """What is never tried keeps every law."""
        walks = [Walk(mode, seed) for seed in range(20) for mode in ("soft_claim", "hard_lease", "unpromoted")]

        seen = {
            (type(asked).__name__, status) for walk in walks for asked, status, _ in (walk.step() for _ in range(STEPS))
        }
        for verb in ("AcquireLease", "RenewLease", "TransferLease", "ReleaseLease", "ClaimTodo"):
            assert (verb, "applied") in seen
        assert {status for _, status in seen} >= {
            *("replayed", "no_change", "owner_not_registered", "actor_not_registered", "owner_conflicts_with_claim"),
            *("claim_owner_mismatch", "todo_lease_conflict", "write_scope_conflict", "idempotency_key_reuse"),
            *("version_mismatch", "lease_cas_mismatch", "lease_expired", "lease_released", "lease_missing"),
            "handoff_mode_requires_lease",
        }


SEGMENTS = st.sampled_from(["lens", "Lens", "doc", "*", "**", "?ens", "l*", "*.py", "a.py", "[ab].py", "."])
SCOPES = st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join)
SHORT_SCOPES = st.lists(SEGMENTS, min_size=1, max_size=2).map("/".join)
NAMES = st.sampled_from(["lens", "LENS", "doc", "a.py", "b.py", "x"])
PATHS = st.lists(NAMES, min_size=1, max_size=4)


def lies_in(path: list[str], scope: str) -> bool:
    """Tell whether a path lies in a scope, found out one segment after the other."""

    def fits(names: list[str], segments: list[str]) -> bool:
        if not segments:
            return True
        if segments[0] == "**":
            return fits(names, segments[1:]) or bool(names and fits(names[1:], segments))
        return bool(names) and alike(names[0].lower(), segments[0].lower()) and fits(names[1:], segments[1:])

    return fits(path, [segment for segment in scope.split("/") if segment != "."])


def alike(name: str, pattern: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return alike(name, pattern[1:]) or bool(name and alike(name[1:], pattern))
    first, rest = ("?", pattern[4:]) if pattern[0] == "[" else (pattern[0], pattern[1:])
    return bool(name) and first in ("?", name[0]) and alike(name[1:], rest)


class TestScopeLaws:
    """Two scopes overlap when some path lies in both."""

    @search(60)
    @given(SCOPES, SCOPES, PATHS)
    def test_a_path_that_lies_in_both_makes_them_overlap(self, left: str, right: str, path: list[str]) -> None:
        if lies_in(path, left) and lies_in(path, right):
            assert overlapping([left], [right]) == [left]

    @search(60)
    @given(SCOPES, SCOPES)
    def test_overlapping_is_of_both_alike(self, left: str, right: str) -> None:
        assert bool(overlapping([left], [right])) == bool(overlapping([right], [left]))
        assert overlapping([left], [left]) == [left]

    @search(60)
    @given(SHORT_SCOPES, SHORT_SCOPES)
    def test_scopes_that_overlap_have_a_path_in_common(self, left: str, right: str) -> None:
        """Two scopes of two segments meet in four segments at most; these names fit all segments that are drawn."""
        names = ["lens", "doc", "a.py", "l.py"]
        paths = (path for length in range(1, 5) for path in product(names, repeat=length))

        common = any(lies_in([*path], left) and lies_in([*path], right) for path in paths)
        assert bool(overlapping([left], [right])) == common

    @pytest.mark.parametrize(
        ("left", "right", "meet"),
        [
            ("lens", "lens/grind.py", True),
            ("lens/", "lens", True),
            ("lens", "lens2", False),
            ("./", "doc", True),
            ("*", "doc/a", True),
            ("**/a.py", "lens", True),
            ("lens/*.py", "LENS/a.PY", True),
            ("lens/*.py", "lens/*.md", False),
            ("lens/*/a", "lens/b/c", False),
            ("lens/**/a.py", "lens/b/c/*.py", True),
            ("lens/[ab].py", "lens/c.py", True),
            ("lens/?.py", "lens/cc.py", False),
            ("lens/[", "lens/[", True),
        ],
    )
    def test_what_people_write(self, left: str, right: str, meet: bool) -> None:
        assert bool(overlapping([left], [right])) is meet

    def test_no_scopes_are_in_nobodys_way(self) -> None:
        assert overlapping([], ["lens"]) == []
        assert overlapping(["lens"], []) == []

    def test_a_scope_may_be_of_any_length(self) -> None:
        """No recursion goes as deep as a scope is long."""
        assert overlapping(["*a" * 2_000 + "*" + "/**" * 100], ["*b" * 40 + "*" + "/**/x" * 100]) != []
