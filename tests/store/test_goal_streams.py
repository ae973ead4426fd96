"""The streams of goals: kept, checkpointed and damaged like those of scopes, and beside them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from stateward_engine.authority.commands import (
    AcquireLease,
    ConfigureGoal,
    LeaseClaim,
    NoteDelivery,
    RegisterGoal,
    ReleaseLease,
)
from stateward_engine.authority.goal import display_of, find_goal, identity_of
from stateward_engine.errors import CorruptStore, Refused
from stateward_engine.state.commands import ResetScope
from stateward_engine.store.check import check_store
from stateward_engine.store.store import open_store
from stateward_engine.store.writer import Compact
from store.planted import kept, noon, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COMMANDS = (
    RegisterGoal("looms", "/home/ada/looms.md", {"objective": "weave"}, ("bo",), "5704e1d5"),
    RegisterGoal("yarn", "/home/ada/yarn.md", {"objective": "spin"}, None, "not used"),
    put("a", 1),
    ConfigureGoal("looms", handoff_mode="hard_lease"),
    NoteDelivery("looms", "file:5704e1d5:2", {"agent": "ab"}),
)


@pytest.fixture
def used(place: Path) -> Path:
    with open_store(place, now=noon) as store:
        for command in COMMANDS:
            store.commit_now(command)
        before = store.view
        store.commit_now(Compact())
        store.commit_now(ConfigureGoal("looms", agents=("bo", "cy")))
    with open_store(place, read_only=True) as store:
        assert store.view.scope(identity_of("yarn")) == before.scope(identity_of("yarn"))
    return place


def checkpoint_of(place: Path, kind: str, goal_id: str) -> Path:
    folder = place / "streams" / kind
    (found,) = [path for path in folder.glob("*.json") if f'"goal":"{goal_id}"' in path.read_text()]
    return found


def test_a_goal_is_there_again_from_its_checkpoint_and_from_the_journal(used: Path) -> None:
    with open_store(used) as store:
        goal = find_goal(store.view, "looms")

        assert (goal.path, goal.agents, goal.configured_mode) == ("/home/ada/looms.md", ["bo", "cy"], "hard_lease")
        assert goal.provider_revision == "file:5704e1d5:3"
        assert store.view.scope(display_of("looms")).planes["sections"] == {"agent": "ab"}
        assert kept(store.view) == {"a": 1}
    assert not check_store(used).faults


def test_a_damaged_goal_fails_alone_and_begins_anew_when_it_is_given_up(used: Path) -> None:
    """Rows LX-099, DM-011."""
    file = checkpoint_of(used, "goal", "looms")
    file.write_bytes(file.read_bytes().replace(b"/ada/", b"/eve/"))

    with open_store(used) as store:
        with pytest.raises(CorruptStore) as caught:
            find_goal(store.view, "looms")
        assert caught.value.facts["example"] == "stateward reset-scope goal --goal-id looms"
        assert find_goal(store.view, "yarn").path == "/home/ada/yarn.md"
        assert kept(store.view) == {"a": 1}

        store.commit_now(ResetScope(identity_of("looms")))
        store.commit_now(COMMANDS[0])
        assert find_goal(store.view, "looms").agents == ["bo"]


def test_the_checkpoint_of_another_goal_is_not_believed(used: Path) -> None:
    shutil.copy(checkpoint_of(used, "goal", "yarn"), checkpoint_of(used, "goal", "looms"))

    with open_store(used) as store, pytest.raises(CorruptStore) as caught:
        find_goal(store.view, "looms")
    assert caught.value.facts["reason"] == "it belongs to another directory, session, scope or goal"


def test_a_lease_outlives_a_restart_and_a_lost_one_stays_lost_whatever_the_clock_says_then(place: Path) -> None:
    """Field case 29: leases are no map in memory, and neither are the versions that outdate them."""
    grind = {"todo_id": "todo_grind", "role": "agent", "status": "open", "archive_state": "active"}

    def members(key: str, version: int | None = None) -> dict[str, Any]:
        lease = LeaseClaim(key, version, ttl_seconds=60)
        return {"goal_id": "looms", "operation_id": f"{key}-{version}", "todo_id": "todo_grind", "lease": lease}

    def acquire(key: str) -> AcquireLease:
        return AcquireLease(**members(key), owner="bo", todos={"todo_grind": grind})

    def at(time: str) -> Callable[[], str]:
        return lambda: f"2026-12-01T{time}.000000Z"

    with open_store(place, now=at("12:00:00")) as store:
        store.commit_now(COMMANDS[0])
        store.commit_now(acquire("first"))
    with open_store(place, now=at("12:01:00")) as store:
        store.commit_now(acquire("second"))
    with open_store(place, now=at("12:00:05")) as store:
        with pytest.raises(Refused, match="bo has the lease since 2026-12-01T12:01:00Z, until 2026-12-01T12:02:00Z"):
            store.commit_now(ReleaseLease(**members("first", 1), owner="bo"))
        store.commit_now(ReleaseLease(**members("second", 2), owner="bo"))

        lease = find_goal(store.view, "looms").leases["todo_grind"]
        assert (lease["idempotency_key"], lease["version"], lease["status"]) == ("second", 2, "released")
        assert lease["released_at"] == "2026-12-01T12:01:00Z"
