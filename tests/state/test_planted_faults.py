"""The table of planted faults fits the sources that it breaks; `make faults` plants them."""

from __future__ import annotations

from state.planted_faults import load


def test_every_fault_can_be_planted() -> None:
    """A line that was changed needs its fault anew: what would break its rule now?"""
    assert [problem for fault in load() if (problem := fault.problem())] == []


def test_no_rule_is_listed_twice() -> None:
    rules = [fault.rule for fault in load()]

    assert [rule for rule in rules if rules.count(rule) > 1] == []
