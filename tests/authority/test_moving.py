"""store.md section 1: a store that moves between machines keeps everything, under the names of the other store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from stateward_engine.authority.commands import RegisterGoal
from stateward_engine.authority.goal import Machine, find_goal
from stateward_engine.authority.moving import moved
from stateward_engine.state.commands import PatchState
from stateward_engine.state.patch import parse_patch
from stateward_engine.state.view import SCOPES, Selection
from stateward_engine.store.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from stateward_engine.state.view import View
    from stateward_engine.store.store import Store

HERE, THERE = Machine("m1", "loom"), Machine("m2", "wheel")


def patch(store: Store, cwd: str, session: str) -> None:
    change: dict[str, Any] = {scope: {"tactics": {"at": cwd}} for scope in SCOPES}
    parsed = parse_patch(change, SCOPES)
    store.commit_now(PatchState(Selection(cwd, session, SCOPES), parsed, idempotency_key=f"key-{session}"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store", any_file_system=True) as opened:
        yield opened


@pytest.fixture
def alone(store: Store) -> View:
    """What a machine has for itself."""
    patch(store, "/home/ada", "s1")
    store.commit_now(RegisterGoal("looms", "/home/ada/goal.md", {}, None, "5704e1d5"))
    return store.view


def test_what_a_machine_had_for_itself_is_named_after_it(alone: View) -> None:
    there = moved(alone, None, HERE)
    selection, named = Selection("/home/ada", "s1", SCOPES), Selection("//m1/home/ada", "s1", SCOPES)

    assert there.planes(named) == alone.planes(selection)
    assert there.planes(selection)["cwd"] == {}
    assert list(there.sessions) == ["//m1/home/ada"]
    assert [(key.cwd, kept.home.cwd) for key, kept in there.receipts.items()] == [("//m1/home/ada", "//m1/home/ada")]
    goal = find_goal(there, "looms")
    assert (goal.path, goal.machine) == ("/home/ada/goal.md", HERE)


def test_there_and_back_is_the_same_store(alone: View) -> None:
    assert moved(moved(alone, None, HERE), HERE, None) == alone
    assert moved(alone, None, None) == alone


def test_what_other_machines_have_keeps_its_names(store: Store) -> None:
    """A store of two machines that one takes for itself, and gives back."""
    for machine in (HERE, THERE):
        patch(store, f"//{machine.id}/home/ada", "s1")
        store.commit_now(RegisterGoal(machine.host, "/home/ada/goal.md", {}, None, "5704e1d5", machine))
    taken = moved(store.view, HERE, None)

    assert {identity.cwd for identity in taken.scopes} == {None, "/home/ada", "//m2/home/ada"}
    assert (find_goal(taken, "loom").machine, find_goal(taken, "wheel").machine) == (None, THERE)
    assert moved(taken, None, HERE) == store.view
