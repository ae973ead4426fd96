"""A process that writes to a store until it is ended, for those who end it: `busy_writer.py STORE`.

It prints the number of each mutation that it was acknowledged, in order, and goes on where the store ends. Commands are
kept in flight all the time, so that an end meets groups being decided, written, synced, answered and compacted.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from stateward_engine.store.group import Rejected
from stateward_engine.store.store import open_store
from stateward_engine.store.writer import Compact
from store.planted import kept, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_engine.store.group import Outcome

_IN_FLIGHT: Final = 8
_COMPACTION_EVERY: Final = 40


def write_until(place: Path, acknowledged: int, end: Callable[[], None] | None = None) -> list[int]:
    """Run a writer until it has acknowledged so many, call `end`, kill it; return all that it did acknowledge."""
    with subprocess.Popen([sys.executable, __file__, str(place)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        seen = [writer.stdout.readline() for _ in range(acknowledged)]
        if end:
            end()
        writer.kill()
        seen += writer.stdout.readlines()
    # The kill may have cut the last line; a number that was not written whole was not acknowledged.
    return [int(line) for line in seen if line.endswith(b"\n")]


def main() -> None:
    room = threading.Semaphore(_IN_FLIGHT)

    def answered(number: int | None) -> Callable[[Outcome], None]:
        def done(outcome: Outcome) -> None:
            # One that fails keeps its place, so that little comes after it.
            if not isinstance(outcome, Rejected):
                if number is not None:
                    os.write(1, b"%d\n" % number)
                room.release()

        return done

    store = open_store(sys.argv[1])
    for number in itertools.count(len(kept(store.view))):
        room.acquire()
        store.submit(put(str(number), number), answered(number))
        if number % _COMPACTION_EVERY == 0:
            room.acquire()
            store.submit(Compact(), answered(None))


if __name__ == "__main__":
    main()
