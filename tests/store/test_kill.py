"""A real process, really killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from stateward_engine.store.store import open_store
from store.planted import kept

# Commands are kept in flight all the time, so that a kill meets groups being decided, written, synced and answered.
WRITER: Final = """
import itertools, os, sys, threading
sys.path.insert(0, sys.argv[2])
from stateward_engine.store.store import open_store
from store.planted import kept, put

room = threading.Semaphore(8)

def acknowledge(number):
    def done(outcome):
        assert outcome.receipt
        os.write(1, b"%d\\n" % number)
        room.release()
    return done

store = open_store(sys.argv[1])
for number in itertools.count(len(kept(store.view))):
    room.acquire()
    store.submit(put(str(number), number), acknowledge(number))
"""


def write_until(place: Path, acknowledged: int) -> list[int]:
    """Run a writer, kill it once it has acknowledged so many, and return everything that it did acknowledge."""
    tests = Path(__file__).parent.parent
    with subprocess.Popen([sys.executable, "-c", WRITER, str(place), str(tests)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        seen = [writer.stdout.readline() for _ in range(acknowledged)]
        writer.kill()
        seen += writer.stdout.readlines()
    # The kill may have cut the last line; a number that was not written whole was not acknowledged.
    return [int(line) for line in seen if line.endswith(b"\n")]


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
