"""A real process, really killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from stateward_engine.store.store import open_store
from store.busy_writer import write_until
from store.planted import kept

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("rounds", [[1, 2, 9, 30, 75, 200]])
def test_a_killed_writer_loses_nothing_that_it_acknowledged(place: Path, rounds: list[int]) -> None:
    """DM-009: every acknowledged mutation is there, and none is there by half (`kept` checks both scopes)."""
    expected = 0
    for acknowledged in rounds:
        numbers = write_until(place, acknowledged)
        assert numbers == list(range(expected, expected + len(numbers)))

        with open_store(place) as store:
            found = kept(store.view)
        # More than was acknowledged may be there, but only what was submitted next, without a hole.
        assert found == {str(number): number for number in range(len(found))}
        assert len(found) >= expected + len(numbers)
        expected = len(found)
