"""Each call fails in each way, one per run: refused or survived, and the next start serves what was told.

`make crash` runs every workload through every row of the table, and lets the kernel fail the calls where it can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from store.faults.bugs import BUGS_OF_FAILURES
from store.faults.failures import ERRORS, FAILURES, LIES
from store.faults.sweep import sweep_failures
from store.faults.workloads import BY_NAME

if TYPE_CHECKING:
    from pathlib import Path

# One error of each call, and all that is no plain error.
SOME = [*{failure.call: failure for failure in ERRORS}.values(), *LIES]


@pytest.mark.parametrize("failure", SOME, ids=str)
def test_a_failing_call_is_refused_or_survived(failure: Any, scratch: Path) -> None:
    """DM-009; store.md section 4."""
    found = sweep_failures([BY_NAME["recovery after a kill"]], [failure], scratch)

    assert found.violations == []


def test_the_table_is_as_long_as_promised() -> None:
    assert len(FAILURES) >= 25
    assert len(SOME) >= 25


@pytest.mark.parametrize(("bug", "shown_by"), BUGS_OF_FAILURES.items(), ids=lambda bug: getattr(bug, "__name__", ""))
def test_every_planted_bug_is_found(bug: Any, shown_by: str, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bug(monkeypatch)
    writing = [failure for failure in FAILURES if failure.call in ("pwrite", "fdatasync")]

    assert sweep_failures([BY_NAME[shown_by]], writing, scratch, until_wrong=True).violations
