"""One group: commands in, one record out, and what each command is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from stateward_engine.errors import StaleBasis, TooLarge
from stateward_engine.state.draft import Draft
from stateward_engine.state.transition import Repeat
from stateward_engine.store import group as group_module
from stateward_engine.store.decide import decide
from stateward_engine.store.group import Committed, Rejected
from stateward_engine.store.scan import scan
from store.planted import group_lengths, kept, noon, put

if TYPE_CHECKING:
    from pathlib import Path

    from stateward_engine.state.transition import Transition
    from stateward_engine.state.view import Basis
    from stateward_engine.store.decide import Command
    from stateward_engine.store.group import Outcome
    from stateward_engine.store.store import Store
    from stateward_engine.store.writer import WriterCore


class TestOneGroup:
    """decide each on the draft, one entry each, one group, append (store.md section 3)."""

    def test_commands_are_decided_each_on_what_the_ones_before_it_left(self, core: WriterCore, journal: Path) -> None:
        outcomes = core.commit(
            [put("a", 1), put("b", 2, if_revision="G0/C1/S1"), put("c", 3, if_revision="G0/C0/S0"), put("d", 4)]
        )

        first, second, stale, last = outcomes
        assert isinstance(stale, Rejected)
        assert isinstance(stale.error, StaleBasis)
        assert [o.sequence for o in (first, second, last) if isinstance(o, Committed)] == [1, 2, 3]
        assert kept(core.view) == {"a": 1, "b": 2, "d": 4}
        assert group_lengths(journal) == [3]

    def test_a_cohort_over_scopes_and_planes_is_one_entry(self, core: WriterCore, journal: Path) -> None:
        """SF-175, SF-176: one transition identity spans all changed scopes and planes, hot and lazy."""
        (outcome,) = core.commit([put("a", 1)])

        assert isinstance(outcome, Committed)
        assert len(outcome.transition.patches) == 2
        assert group_lengths(journal) == [1]

    def test_a_command_that_changes_nothing_writes_nothing(self, core: WriterCore, journal: Path) -> None:
        """SF-187: rejected patches create no transition and keep accepted state."""
        core.commit([put("a", 1, idempotency_key="k")])
        before, view = journal.read_bytes(), core.view

        same, repeated, stale = core.commit(
            [put("a", 1), put("a", 1, idempotency_key="k"), put("a", 2, if_revision="G0/C0/S0")]
        )

        assert isinstance(same, Repeat)
        assert isinstance(repeated, Repeat)
        assert isinstance(stale, Rejected)
        assert journal.read_bytes() == before
        assert core.view is view

    def test_entries_of_a_group_carry_the_clock_that_was_given(self, core: WriterCore) -> None:
        (outcome,) = core.commit([put("a", 1)])

        assert isinstance(outcome, Committed)
        assert outcome.at == noon()

    def test_a_stale_basis_is_refused_against_the_basis_of_the_commit(self, core: WriterCore) -> None:
        """SF-191, SF-189."""
        core.commit([put("a", 1)])

        (outcome,) = core.commit([put("a", 2, if_revision="G0/C0/S0")])

        assert isinstance(outcome, Rejected)
        assert isinstance(outcome.error, StaleBasis)


class TestBounds:
    """A group is closed before its payload passes 16 MiB; one entry may have 64 MiB (store.md section 2)."""

    def test_a_group_is_closed_before_its_payload_passes_the_bound(
        self, core: WriterCore, journal: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(group_module, "GROUP_BYTES_MAX", 2_000)
        commands = [put(f"k{n}", "x" * 200) for n in range(9)]
        outcomes: list[Outcome] = []
        while len(outcomes) < len(commands):
            outcomes += core.commit(commands[len(outcomes) :])

        assert [o.sequence for o in outcomes if isinstance(o, Committed)] == list(range(1, 10))
        groups = scan(journal.read_bytes(), file="").groups
        assert len(groups) > 1
        assert max(len(group.payload) for group in groups) <= 2_000
        assert len(groups[0].payload) + 1 + len(groups[0].payload) // groups[0].count > 2_000

    @pytest.mark.parametrize(("short_by", "taken"), [(0, 2), (1, 1)])
    def test_the_bound_is_exact(
        self, core: WriterCore, journal: Path, monkeypatch: pytest.MonkeyPatch, short_by: int, taken: int
    ) -> None:
        # The first values make keys, of which the receipts tell; later ones are entries of one length.
        core.commit([put("a", 1), put("b", 2)])
        core.commit([put("a", 2), put("b", 3)])
        _, group = scan(journal.read_bytes(), file="").groups
        monkeypatch.setattr(group_module, "GROUP_BYTES_MAX", len(group.payload) - short_by)

        assert len(core.commit([put("a", 3), put("b", 4)])) == taken

    def test_an_entry_larger_than_a_group_is_a_group_of_its_own(
        self, core: WriterCore, journal: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(group_module, "GROUP_BYTES_MAX", 700)

        assert len(core.commit([put("small", 1), put("large", "x" * 2000)])) == 1
        assert len(core.commit([put("large", "x" * 2000)])) == 1

        assert group_lengths(journal) == [1, 1]

    def test_an_entry_over_its_own_bound_is_too_large_and_harms_no_other(
        self, core: WriterCore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """security.md row 29."""
        monkeypatch.setattr(group_module, "ENTRY_BYTES_MAX", 700)

        before, large, after = core.commit([put("a", 1), put("b", "x" * 700), put("c", 3)])

        assert isinstance(large, Rejected)
        assert isinstance(large.error, TooLarge)
        assert large.error.facts == {"limit": "max_entry_bytes"}
        assert isinstance(before, Committed)
        assert isinstance(after, Committed)
        assert kept(core.view) == {"a": 1, "c": 3}


class TestMistakesOfOurs:
    """An unexpected exception refuses that command alone."""

    @pytest.fixture
    def broken(self, core: WriterCore) -> WriterCore:
        def decide_badly(basis: Basis, command: Command, at: str) -> Transition | Repeat:
            if getattr(command, "idempotency_key", None) == "break decide":
                raise ZeroDivisionError
            return decide(basis, command, at)

        core._decide = decide_badly
        return core

    def test_in_decide_it_leaves_the_commands_beside_it_alone(self, broken: WriterCore) -> None:
        before, wrong, after = broken.commit([put("a", 1), put("b", 2, idempotency_key="break decide"), put("c", 3)])

        assert isinstance(wrong, Rejected)
        assert isinstance(wrong.error, ZeroDivisionError)
        assert [o.sequence for o in (before, after) if isinstance(o, Committed)] == [1, 2]
        assert kept(broken.view) == {"a": 1, "c": 3}

    def test_in_apply_it_leaves_no_half_of_its_transition(
        self, core: WriterCore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        apply = Draft.apply

        def apply_half(draft: Any, transition: Transition, *, at: str, sequence: int) -> None:
            apply(draft, transition, at=at, sequence=sequence)
            if "b" in str(transition.patches):
                raise ZeroDivisionError

        monkeypatch.setattr(Draft, "apply", apply_half)
        outcomes = core.commit([put("a", 1), put("b", 2), put("c", 3)])

        assert [type(outcome) for outcome in outcomes] == [Committed, Rejected, Committed]
        assert kept(core.view) == {"a": 1, "c": 3}
        assert core.view.sequence == 2

    def test_before_the_write_it_refuses_the_group_and_the_thread_lives_on(
        self, store: Store, core: WriterCore
    ) -> None:
        def no_clock() -> str:
            raise ZeroDivisionError

        core._now = no_clock
        with pytest.raises(ZeroDivisionError):
            store.commit_now(put("a", 1))
        core._now = noon

        store.commit_now(put("b", 2))
        assert kept(store.view) == {"b": 2}
        assert store.health == "ok"
