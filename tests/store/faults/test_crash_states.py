"""The power is cut at every point of every workload: the next start serves what was told, or what was under way.

`make crash` looks at all states; here some of each workload are drawn.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from store.faults.bugs import BUGS_OF_CRASHES
from store.faults.sweep import record, record_killed, record_killed_everywhere, record_recoveries, sweep_crashes
from store.faults.workloads import BY_NAME, WORKLOADS

if TYPE_CHECKING:
    from pathlib import Path

    from store.faults.workloads import Workload

SEED = random.randrange(2**32)


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_a_power_cut_takes_back_nothing_that_was_told(workload: Workload, scratch: Path) -> None:
    """DM-005, DM-009: nothing lost, nothing half there, no ghost, and the start can be repeated."""
    found = sweep_crashes([record(workload, scratch)], scratch, seed=SEED, limit=30)

    assert found.violations == [], f"seed {SEED}"
    assert found.states == 30


@pytest.mark.parametrize("at", [9, 15, 19, 22, 24])
def test_a_power_cut_after_a_kill_takes_back_nothing_that_was_told(at: int, scratch: Path) -> None:
    """What the next process found in the kernel's cache alone, and served, is as good as acknowledged."""
    recording = record_killed(BY_NAME["groups"], scratch, at)
    assert recording

    found = sweep_crashes([recording], scratch, seed=SEED, limit=10)

    assert found.violations == [], f"seed {SEED}"


def test_a_first_start_that_is_killed_anywhere_leaves_no_name_to_chance(scratch: Path) -> None:
    """The next start finds what was named and never synced, and must not build on it."""
    found = sweep_crashes(record_killed_everywhere(BY_NAME["first start"], scratch), scratch, seed=SEED, limit=10)

    assert found.violations == [], f"seed {SEED}"


@pytest.mark.parametrize("name", ["groups", "clean restarts", "failed sync"])
def test_a_power_cut_during_recovery_takes_back_nothing(name: str, scratch: Path) -> None:
    recoveries = record_recoveries(record(BY_NAME[name], scratch), scratch, seed=SEED, count=3)

    found = sweep_crashes(recoveries, scratch, seed=SEED, limit=10)

    assert found.violations == [], f"seed {SEED}"


@pytest.mark.parametrize(("bug", "shown_by"), BUGS_OF_CRASHES.items(), ids=lambda bug: getattr(bug, "__name__", ""))
def test_every_planted_bug_is_found(bug: Any, shown_by: str, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bug(monkeypatch)

    assert sweep_crashes([record(BY_NAME[shown_by], scratch)], scratch, seed=1, until_wrong=True).violations
