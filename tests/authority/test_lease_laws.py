"""Laws of leases and claims, searched for counterexamples in histories whose clock goes forth and back."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.leasing import A, B, Desk, at, todo
from state.drawn import search
from stateward_engine.authority.commands import ConfigureGoal
from stateward_engine.authority.leases import is_effective, is_live
from stateward_engine.authority.write_scopes import overlapping

if TYPE_CHECKING:
    from stateward_engine.authority.commands import Operation

pytestmark = pytest.mark.property

C = "agent-c"
WHO = st.sampled_from([A, B, C])
KEYS = st.sampled_from(["k1", "k2", "k3", "k4"])
TODOS = st.sampled_from(["todo_one", "todo_two"])
VERSIONS = st.sampled_from([0, 0, 1, -1])
TTLS = st.sampled_from([None, 10, 60, 200])
VERBS = st.sampled_from(["acquire", "acquire", "renew", "transfer", "release", "claim", "claim", "agents"])
SECONDS = st.integers(0, 300)
STEPS = st.lists(st.tuples(SECONDS, VERBS, TODOS, st.none() | WHO, KEYS, VERSIONS, TTLS, WHO), min_size=1, max_size=24)


def desk(mode: str) -> Desk:
    return Desk(
        todo("todo_one", required_write_scopes=["lens/*.py"]),
        todo("todo_two", required_write_scopes=["lens/grind.py"]),
        handoff_mode="hard_lease" if mode == "hard_lease" else "soft_claim",
        promoted=mode != "unpromoted",
    )


def command(on: Desk, step: tuple[Any, ...], *, configuring: bool = True) -> Operation | ConfigureGoal:
    """Return the command of a step: that of the holder of the lease, or of somebody with some key.

    Its version is that of the lease, one more or one less.
    """
    _, verb, todo_id, who, key, off, ttl_seconds, other = step
    lease = on.goal.leases.get(todo_id, {"version": 0, "owner": A, "idempotency_key": key})
    if who is None:
        who, key = lease["owner"], lease["idempotency_key"]
    version = lease["version"] + off
    common: dict[str, Any] = {"todo_id": todo_id, "ttl_seconds": ttl_seconds}
    match verb:
        case "renew":
            return on.renew(who, key, version, **common)
        case "transfer":
            return on.transfer(who, key, version, other, f"{key}-{other}", **common)
        case "release":
            return on.release(who, key, version, **common)
        case "claim" if on.promoted:
            return on.claim(who, key if off else None, version=version if off > 0 else None, **common)
        case "agents" if configuring:
            return ConfigureGoal("optics", agents=(who, other))
        case _:
            return on.acquire(who, key, **common, expected_version=version if off > 0 else None)


def take(on: Desk, step: tuple[Any, ...], **more: bool) -> tuple[str, Any]:
    on.seconds = step[0]
    asked = command(on, step, **more)
    if isinstance(asked, ConfigureGoal):
        return "configured", on.run(asked)
    return on.attempt(asked)


MODES = st.sampled_from(["soft_claim", "hard_lease", "unpromoted"])


class TestLeaseLaws:
    """authority.md section 1, clocks, and section 6, leases."""

    @search(60)
    @given(MODES, STEPS)
    def test_versions_and_epochs_only_rise_and_an_epoch_has_one_owner_and_key(
        self, mode: str, steps: list[tuple[Any, ...]]
    ) -> None:
        on = desk(mode)
        holders: dict[tuple[str, int], tuple[str, str]] = {}
        for step in steps:
            before = on.goal.leases
            take(on, step)
            for todo_id, lease in on.goal.leases.items():
                old = before.get(todo_id, {"version": 0, "lease_epoch": 0})
                assert lease["version"] - old["version"] in {0, 1}
                assert lease["lease_epoch"] - old["lease_epoch"] in {0, lease["version"] - old["version"]}
                holder = (lease["owner"], lease["idempotency_key"])
                assert holders.setdefault((todo_id, lease["lease_epoch"]), holder) == holder

    @search(60)
    @given(MODES, STEPS, SECONDS)
    def test_an_epoch_that_ended_never_lives_again(self, mode: str, steps: list[tuple[Any, ...]], last: int) -> None:
        """A clock that is set back revives nothing that an accepted operation has seen ended."""
        on, ended = desk(mode), set()
        for step in steps:
            take(on, step)
            goal = on.goal
            for todo_id, lease in goal.leases.items():
                epoch = (todo_id, lease["lease_epoch"])
                for seconds in (0, on.seconds, last):
                    assert not (epoch in ended and is_live(lease, goal.now(at(seconds))))
                if not is_live(lease, goal.latest):
                    ended.add(epoch)

    @search(60)
    @given(MODES, STEPS)
    def test_two_effective_leases_have_no_path_in_common(self, mode: str, steps: list[tuple[Any, ...]]) -> None:
        """As long as nobody gets back the rights that he lost."""
        on = desk(mode)
        for step in steps:
            take(on, step, configuring=False)
            goal, todos = on.goal, on.goal.records if on.promoted else on.todos
            scopes = [
                lease["write_scopes"]
                for todo_id, lease in goal.leases.items()
                if is_effective(goal, todos[todo_id], lease, goal.now(at(on.seconds)))
            ]
            assert len(scopes) < 2 or not overlapping(*scopes)

    @search(60)
    @given(st.sampled_from(["soft_claim", "hard_lease"]), STEPS)
    def test_a_todo_has_one_claimer_and_under_leases_nobody_claims_without_one(
        self, mode: str, steps: list[tuple[Any, ...]]
    ) -> None:
        on = desk(mode)
        claimers: dict[str, str] = {}
        for step in steps:
            status, answer = take(on, step)
            for todo_id, record in on.goal.records.items():
                if claimed_by := record.get("claimed_by"):
                    assert claimers.setdefault(todo_id, claimed_by) == claimed_by
            if status == "applied" and "already_claimed_by_you" in answer and mode == "hard_lease":
                assert answer["lease"]["owner"] == answer["claimed_by"]
                assert answer["lease"] == on.goal.leases[answer["todo_id"]]

    @search(60)
    @given(MODES, STEPS, STEPS)
    def test_a_repeat_is_answered_as_the_first_time_and_changes_nothing(
        self, mode: str, steps: list[tuple[Any, ...]], later: list[tuple[Any, ...]]
    ) -> None:
        on, answers = desk(mode), []
        for step in steps:
            on.seconds = step[0]
            asked = command(on, step)
            if not isinstance(asked, ConfigureGoal):
                answers.append((asked, *on.attempt(asked)))
        for step in later:
            take(on, step)
        view = on.view
        for asked, status, answer in answers:
            if status == "applied":
                again = on.run(asked)
                assert again == {**answer, "status": "replayed", "changed": False}
        assert on.view is view


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
        assert overlapping(["*a" * 2_000 + "*" + "/**" * 400], ["*b" * 40 + "*" + "/**/x" * 400]) != []
