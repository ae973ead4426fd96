"""`make crash`: every sweep of the store, whole, with one line of figures each.

Sweeps that need what this machine does not have say so in their line. The status is 1 if anything was violated.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from store.faults.failures import FAILURES
from store.faults.kernel import INJECTIONS, STRACE, sweep_injections
from store.faults.power import NoPowerSwitch, sweep_power_cuts
from store.faults.sweep import (
    record,
    record_killed_everywhere,
    record_recoveries,
    small_disks,
    sweep_crashes,
    sweep_failures,
)
from store.faults.workloads import BY_NAME, WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from store.faults.sweep import Findings

TESTS: Final = Path(__file__).parent.parent.parent
KILLS: Final = 300
POWER_CUTS: Final = 100
SEED: Final = random.randrange(2**32)
PLAIN: Final = [workload for workload in WORKLOADS if not workload.breaks]


def sweeps() -> Iterator[tuple[str, Findings | str]]:
    """Run every sweep, and yield what it was and what it found, or why it could not run."""
    with small_disks() as folder:
        recordings = [record(workload, folder) for workload in WORKLOADS]
        found = sweep_crashes(recordings, folder, seed=SEED)
        yield f"crash states of {len(WORKLOADS)} workloads", found
        killed = chain.from_iterable(record_killed_everywhere(workload, folder) for workload in PLAIN)
        yield "crash states after a kill at every change", sweep_crashes(killed, folder, seed=SEED, limit=10)
        recoveries = chain.from_iterable(
            record_recoveries(recording, folder, seed=SEED, count=20) for recording in recordings
        )
        yield "crash states of recoveries", sweep_crashes(recoveries, folder, seed=SEED, limit=10)
        found = sweep_failures(PLAIN, FAILURES, folder)
        yield f"failing calls, {len(FAILURES)} call and error pairs", found
        if STRACE:
            found = sweep_injections(BY_NAME["compactions"], INJECTIONS, folder)
            yield f"calls failed by the kernel, {len(INJECTIONS)} pairs", found
        else:
            yield "calls failed by the kernel", "not run: strace is not installed"
    try:
        yield "power cuts of ext4", sweep_power_cuts(POWER_CUTS, seed=SEED)
    except NoPowerSwitch as error:
        yield "power cuts of ext4", f"not run: {error}"


def kills() -> bool:
    """Kill daemons, and the server of two, under clients and agents; tell whether all that was answered is there."""
    modules = [str(TESTS / "e2e" / name) for name in ("test_kill.py", "test_goal_kill.py", "test_shared_kill.py")]
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", *modules]
    environment = {"STATEWARD_CRASH_KILLS": str(KILLS)}
    done = subprocess.run(["/usr/bin/env", *map("=".join, environment.items()), *command], check=False)
    return done.returncode == 0


def main() -> None:
    print(f"seed {SEED}")
    failed = False
    began = time.monotonic()
    for name, found in sweeps():
        took, began = time.monotonic() - began, time.monotonic()
        if isinstance(found, str):
            print(f"{name}: {found}", flush=True)
            continue
        print(f"{name}: {found.states} situations, {len(found.violations)} violations, {took:.0f} s", flush=True)
        for violation in found.violations[:20]:
            print(f"  {violation}")
        failed |= bool(found.violations)
    survived = kills()
    outcome = "nothing lost" if survived else "violations, see above"
    print(f"SIGKILL under 32 clients, and under agents: {KILLS} kills, {outcome}")
    sys.exit(failed or not survived)


if __name__ == "__main__":
    main()
