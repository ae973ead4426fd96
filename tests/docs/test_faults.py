"""The tables of planted faults fit the sources that they break; `make faults` plants them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from faults import TABLES, load

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.parent.name}-{table.stem}")
class TestTable:
    def test_every_fault_can_be_planted(self, table: Path) -> None:
        """A line that was changed needs its fault anew: what would break its rule now?"""
        assert [problem for fault in load(table) if (problem := fault.problem())] == []

    def test_no_rule_is_listed_twice(self, table: Path) -> None:
        rules = [fault.rule for fault in load(table)]

        assert [rule for rule in rules if rules.count(rule) > 1] == []
