"""The one writer on its thread: what becomes a group, order of publishing and answering, cancelling, closing."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from stateward_engine.errors import Busy, StoreUnavailable
from stateward_engine.store import writer as writer_module
from stateward_engine.store.group import Committed
from stateward_engine.store.store import open_store
from stateward_engine.store.writer import Writer
from store.planted import Answers, Deliveries, Gate, group_lengths, journal_of, kept, put, written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from stateward_engine.state.view import View
    from stateward_engine.store.group import Outcome
    from stateward_engine.store.store import Store
    from stateward_engine.store.writer import WriterCore


@pytest.fixture
def gate(store: Store, core: WriterCore) -> Iterator[Gate]:
    made = Gate(journal_of(core))
    yield made
    made.open.release(10_000)
    store.close()


class TestBounds:
    """The queue is bounded, and so is what one sync makes durable (store.md section 3)."""

    def test_no_more_than_the_group_bound_is_taken_at_once(
        self, store: Store, gate: Gate, journal: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(writer_module, "GROUP_LENGTH_MAX", 4)
        answers = Answers()
        store.submit(put("first", 1), answers.to("first"))
        assert gate.entered.acquire(timeout=30)
        for number in range(10):
            store.submit(put(f"k{number}", 1), answers.to(f"k{number}"))
        gate.open.release(10)
        answers.wait(11)

        assert group_lengths(journal) == [1, 4, 4, 2]

    def test_a_full_queue_is_busy_and_what_waits_is_kept(self, place: Path) -> None:
        with open_store(place, queue_length_max=3) as store:
            assert store.writer is not None
            gate = Gate(journal_of(store.writer._core))
            answers = Answers()
            store.submit(put("taken", 1), answers.to("taken"))
            assert gate.entered.acquire(timeout=30)
            for number in range(3):
                store.submit(put(f"k{number}", 1), answers.to(f"k{number}"))

            with pytest.raises(Busy) as refusal:
                store.submit(put("refused", 1), answers.to("refused"))

            assert refusal.value.facts == {"limit": "queue_length_max"}
            assert refusal.value.retryable
            gate.open.release(10)
            answers.wait(4)
            assert kept(store.view) == {"taken": 1, "k0": 1, "k1": 1, "k2": 1}

    def test_the_store_tells_how_much_waits_and_how_much_is_durable(
        self, store: Store, gate: Gate, journal: Path
    ) -> None:
        answers = Answers()
        assert (store.queue_length, store.length) == (0, journal.stat().st_size)
        store.submit(put("taken", 1), answers.to("taken"))
        assert gate.entered.acquire(timeout=30)
        durable = store.length
        store.submit(put("waiting", 1), answers.to("waiting"))

        assert (store.queue_length, store.length) == (1, durable)
        assert len(written(journal)) > durable
        gate.open.release(10)
        answers.wait(2)
        assert (store.queue_length, store.length) == (0, len(written(journal)))

    def test_a_failing_receiver_costs_nobody_else_an_answer(
        self, store: Store, gate: Gate, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fail(_: Outcome) -> None:
            raise ZeroDivisionError("a secret")

        answers = Answers()
        store.submit(put("a", 1), fail)
        store.submit(put("b", 2), answers.to("b"))
        gate.open.release(10)
        answers.wait(1)

        assert "ZeroDivisionError" in caplog.text
        assert "secret" not in caplog.text
        assert kept(store.view) == {"a": 1, "b": 2}


class TestOrder:
    """Swap the captured view, then answer all callers (store.md section 3)."""

    def test_a_group_is_what_queued_during_the_sync_before(self, store: Store, gate: Gate, journal: Path) -> None:
        """No timer: the first command is not kept waiting for company."""
        answers = Answers()
        store.submit(put("first", 1), answers.to("first"))
        assert gate.entered.acquire(timeout=30)
        for name in "abc":
            store.submit(put(name, 1), answers.to(name))
        gate.open.release(10)
        answers.wait(4)

        assert group_lengths(journal) == [1, 3]
        assert answers.order == ["first", "a", "b", "c"]

    def test_the_view_is_never_ahead_of_the_journal_and_reads_go_on_during_a_sync(
        self, store: Store, gate: Gate
    ) -> None:
        """DM-004: captured views; a read takes no lock that a writer holds during a sync."""
        answers = Answers()
        before = store.view
        store.submit(put("a", 1), answers.to("a"))
        assert gate.entered.acquire(timeout=30)

        assert store.view is before
        assert not answers.order

        gate.open.release(10)
        answers.wait(1)
        assert kept(store.view) == {"a": 1}

    def test_a_group_is_delivered_by_one_call_that_publishes_and_then_answers_in_order(self, core: WriterCore) -> None:
        deliveries, happened = Deliveries(), []

        def publish(view: View) -> None:
            happened.append(f"view {view.sequence}")

        writer = Writer(core, publish=publish, deliver=deliveries)
        gate = Gate(journal_of(core))
        writer.submit(put("a", 1), lambda _: happened.append("a"))
        assert gate.entered.acquire(timeout=30)
        writer.submit(put("b", 2), lambda _: happened.append("b"))
        writer.submit(put("c", 3), lambda _: happened.append("c"))
        gate.open.release(10)
        writer.close()

        assert happened == []
        assert len(deliveries.waiting) == 2
        for call in deliveries.waiting:
            call()
        assert happened == ["view 1", "a", "view 3", "b", "c"]

    def test_every_commit_is_answered_after_it_can_be_read(self, store: Store) -> None:
        for number in range(20):
            store.commit_now(put("n", number))
            assert kept(store.view) == {"n": number}

    def test_many_threads_lose_nothing_and_see_one_order(self, store: Store, journal: Path) -> None:
        """DM-005: every mutation passes through one serialized writer."""

        def work(thread: int) -> None:
            for number in range(25):
                store.commit_now(put(f"t{thread}-{number}", number))

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(kept(store.view)) == 200
        assert sum(group_lengths(journal)) == store.view.sequence == 200


class TestCancel:
    """`$/cancelRequest` cancels what has not been committed (protocol.md section 1)."""

    def test_a_waiting_command_is_taken_back_and_never_answered(self, store: Store, gate: Gate) -> None:
        answers = Answers()
        store.submit(put("first", 1), answers.to("first"))
        assert gate.entered.acquire(timeout=30)
        waiting = store.submit(put("waiting", 1), answers.to("waiting"))
        store.submit(put("last", 1), answers.to("last"))

        assert waiting.cancel()
        assert not waiting.cancel()
        gate.open.release(10)
        answers.wait(2)

        assert answers.order == ["first", "last"]
        assert kept(store.view) == {"first": 1, "last": 1}

    def test_a_taken_command_is_not_taken_back(self, store: Store, gate: Gate) -> None:
        answers = Answers()
        ticket = store.submit(put("first", 1), answers.to("first"))
        assert gate.entered.acquire(timeout=30)

        assert not ticket.cancel()

        gate.open.release(10)
        answers.wait(1)
        assert not ticket.cancel()
        assert kept(store.view) == {"first": 1}

    def test_a_queue_of_cancelled_commands_writes_nothing(self, store: Store, gate: Gate, journal: Path) -> None:
        answers = Answers()
        store.submit(put("first", 1), answers.to("first"))
        assert gate.entered.acquire(timeout=30)
        assert all(store.submit(put(name, 1), answers.to(name)).cancel() for name in "abc")
        gate.open.release(10)
        store.submit(put("last", 1), answers.to("last"))
        answers.wait(2)

        assert sum(group_lengths(journal)) == 2


class TestClose:
    """DM-010: clean shutdown drains what is in flight; no acknowledgement is lost."""

    @pytest.fixture
    def queued(self, store: Store, gate: Gate) -> Answers:
        """One command in its sync, two that wait."""
        answers = Answers()
        store.submit(put("syncing", 1), answers.to("syncing"))
        assert gate.entered.acquire(timeout=30)
        store.submit(put("a", 1), answers.to("a"))
        store.submit(put("b", 1), answers.to("b"))
        return answers

    def test_draining_commits_what_is_queued(self, store: Store, place: Path, gate: Gate, queued: Answers) -> None:
        gate.open.release(10)
        store.close()

        assert queued.order == ["syncing", "a", "b"]
        assert all(isinstance(outcome, Committed) for outcome in queued.outcomes.values())
        assert kept(open_store(place, read_only=True).view) == {"syncing": 1, "a": 1, "b": 1}

    def test_a_drained_store_refuses_and_stays_locked(self, store: Store, place: Path) -> None:
        """Whoever comes next must not start while answers are still leaving."""
        store.drain()

        with pytest.raises(StoreUnavailable, match="closed"):
            store.commit_now(put("a", 1))
        with pytest.raises(StoreUnavailable, match="in use"):
            open_store(place)

    def test_a_closed_store_refuses_and_closes_again_without_effect(self, store: Store) -> None:
        store.commit_now(put("a", 1))
        store.close()
        store.close()

        assert store.health == "closed"
        with pytest.raises(StoreUnavailable, match="closed"):
            store.commit_now(put("b", 1))
        assert kept(store.view) == {"a": 1}
