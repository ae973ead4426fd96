"""Real daemons in folders of their own."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest
from field_goal import FieldGoal

from wire import Daemon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from field_goal import GoalOf

    from store.postgres_server import PostgresServer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "e2e" in item.path.parts:
            item.add_marker(pytest.mark.e2e)


def logged(folder: Path) -> str:
    """Return all that the daemons of a folder logged or complained about."""
    return "".join(file.read_text(encoding="utf-8") for file in [*folder.glob("home/**/*.log"), folder / "daemon.err"])


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Daemon]]:
    """Start the daemon of this test, with settings by name; it is ended afterwards.

    It must not have logged a mistake of its own.
    """
    with contextlib.ExitStack() as running:
        yield lambda **settings: running.enter_context(Daemon(tmp_path, **settings))
    assert "incident" not in logged(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon for a module, for tests that need neither settings nor a restart."""
    folder = tmp_path_factory.mktemp("shared")
    with Daemon(folder) as daemon:
        yield daemon
    assert "incident" not in logged(folder)


@pytest.fixture
def daemon(shared: Daemon, tmp_path: Path) -> Daemon:
    """The shared daemon, with a directory, and so a state, of this test's own."""
    shared.cwd = tmp_path / "project"
    shared.cwd.mkdir()
    return shared


@pytest.fixture
def goal_of(daemon: Daemon) -> Iterator[GoalOf]:
    """Make the goal of this test from the bytes of its document."""
    with contextlib.ExitStack() as opened:
        yield lambda content: opened.enter_context(FieldGoal(daemon, content))


@pytest.fixture(scope="session")
def new_store_in_database(postgres: PostgresServer) -> Callable[[], str]:
    """Make stores in a database that nobody else has; return the address of each."""
    return lambda: postgres.new_target().shown


@pytest.fixture
def store_in_database(new_store_in_database: Callable[[], str]) -> str:
    """The address of a store in a database that this test has for itself."""
    return new_store_in_database()
