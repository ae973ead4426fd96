"""What every engine of the ledger has to pass: subclass `LedgerKit`, and say how to open one.

Each test opens the same ledger again and again, as restarts do. An engine that many processes share sets `shared`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from stateward_engine.errors import StoreUnavailable
from stateward_engine.state.commands import Configure
from stateward_engine.state.view import View
from stateward_engine.store.group import Committed, Rejected
from stateward_engine.store.ledger import Stale
from stateward_engine.store.writer import Compact, WriterCore
from store.planted import kept, noon, put

if TYPE_CHECKING:
    from stateward_engine.store.ledger import Ledger


class LedgerKit:
    """store.md section 1. LX-121: a mutation, its head and its receipt land in one append."""

    shared = False

    def open(self) -> tuple[Ledger, View]:
        """Open the ledger of this test; a second call opens the same one again."""
        raise NotImplementedError

    def core(self) -> WriterCore:
        ledger, view = self.open()
        return WriterCore(view, ledger, now=noon)

    def reopened(self, core: WriterCore) -> WriterCore:
        core.ledger.close()
        return self.core()

    @staticmethod
    def commit(core: WriterCore, *commands: Any) -> list[Any]:
        outcomes: list[Any] = []
        while len(outcomes) < len(commands):
            outcomes += core.commit(commands[len(outcomes) :])
        return outcomes

    def test_a_new_ledger_is_empty(self) -> None:
        ledger, view = self.open()
        assert (view, ledger.head, ledger.poison) == (View(), 0, None)
        ledger.close()

    def test_what_was_appended_is_there_again_in_order(self) -> None:
        core = self.core()
        for number in range(5):
            self.commit(core, put("n", number, idempotency_key=f"k{number}"))
        self.commit(core, Configure(2))
        view = core.view

        again = self.reopened(core)

        assert again.view == view
        assert (again.ledger.head, view.sequence) == (6, 6)
        again.ledger.close()

    def test_a_group_counts_each_entry(self) -> None:
        core = self.core()
        self.commit(core, *(put(f"k{number}", number) for number in range(7)))
        assert core.ledger.head == core.view.sequence == 7
        assert kept(self.reopened(core).view) == {f"k{number}": number for number in range(7)}

    def test_an_append_behind_the_head_is_stale_and_writes_nothing(self) -> None:
        core = self.core()
        self.commit(core, put("a", 1), put("b", 2))
        view = core.view
        with pytest.raises(Stale):
            core.ledger.append([msgspec.json.encode({"never": 1})], expected_head=1)
        assert core.ledger.head == 2
        assert self.reopened(core).view == view

    def test_compaction_changes_nothing_that_can_be_seen(self) -> None:
        core = self.core()
        self.commit(core, put("a", 1, idempotency_key="k"), put("b", 2), Compact(), put("b", 3), Compact(), Compact())
        self.commit(core, put("c", 4))
        view = core.view
        again = self.reopened(core)
        assert again.view == view
        assert self.commit(again, put("a", 1, idempotency_key="k"))[0].receipt
        assert again.view.sequence == view.sequence
        again.ledger.close()

    def test_compaction_shortens_what_a_start_replays(self) -> None:
        core = self.core()
        self.commit(core, *(put("same", number) for number in range(50)))
        long = core.ledger.length
        self.commit(core, Compact())
        assert core.ledger.length < long / 3
        core.ledger.close()

    def test_a_ledger_that_was_closed_takes_nothing_more(self) -> None:
        core = self.core()
        self.commit(core, put("a", 1))
        core.ledger.close()
        (outcome,) = core.commit([put("b", 2)])
        assert isinstance(outcome, Rejected)
        assert isinstance(outcome.error, StoreUnavailable)
        assert kept(core.view) == {"a": 1}
        assert kept(self.core().view) == {"a": 1}

    def test_following_alone_finds_nothing(self) -> None:
        core = self.core()
        self.commit(core, put("a", 1))
        assert core.ledger.follow(core.view) is core.view
        core.ledger.close()

    def test_a_lost_race_is_decided_again_on_what_the_other_did(self) -> None:
        if not self.shared:
            return
        one, two = self.core(), self.core()
        self.commit(one, put("a", 1))
        (outcome,) = two.commit([put("b", 2, if_revision="G0/C1/S1")])
        assert isinstance(outcome, Committed)
        assert kept(two.view) == {"a": 1, "b": 2}
        (outcome,) = one.commit([put("c", 3, if_revision="G0/C1/S1")])
        assert isinstance(outcome, Rejected)
        assert kept(one.view) == {"a": 1, "b": 2}
