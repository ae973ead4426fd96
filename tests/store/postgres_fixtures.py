"""The server that tests of several folders share; `conftest.py` of the project has pytest know of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from store.postgres_server import postgres_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_engine.store.postgresql_target import Target
    from store.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server that nobody stops or breaks."""
    with postgres_server() as server:
        yield server


@pytest.fixture
def target(postgres: PostgresServer) -> Target:
    """A ledger in a database, empty and of this test alone."""
    return postgres.new_target()
