"""Making a group durable, and every way in which that fails."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
from typing import TYPE_CHECKING

import pytest

from stateward_engine.errors import StaleBasis, StoreUnavailable
from stateward_engine.store.catalogue import FRESH_JOURNAL
from stateward_engine.store.disk_file import DiskFile
from stateward_engine.store.group import Rejected
from stateward_engine.store.journal import AHEAD_BYTES, Journal
from stateward_engine.store.scan import entries, scan
from stateward_engine.store.store import open_store
from stateward_engine.store.writer import WriterCore
from store.planted import FAULTS, FailingFile, kept, noon, plant, put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from stateward_engine.store.store import Store


@pytest.fixture
def file(tmp_path: Path) -> Iterator[FailingFile]:
    path = tmp_path / "j"
    path.write_bytes(FRESH_JOURNAL)
    with path.open("r+b", buffering=0) as opened:
        yield FailingFile(DiskFile(opened.fileno()))


@pytest.fixture
def fresh(file: FailingFile) -> Journal:
    return Journal(file, scan(FRESH_JOURNAL, file="j"))


def content(file: FailingFile) -> bytes:
    return file.file.read_at(0, 10_000)


def test_a_group_is_one_write_one_sync_and_one_read_back_in_that_order(fresh: Journal, file: FailingFile) -> None:
    """DM-005; store.md section 3. Pages are dropped in between, so that the bytes can come from the device."""
    fresh.append([b'{"n":1}', b'{"n":2}'])

    assert file.calls == ["write", "sync", "forget", "read"]
    (group,) = scan(content(file), file="j").groups
    assert entries(group, file="j") == [{"n": 1}, {"n": 2}]
    assert fresh.next_sequence == 3


def test_groups_stand_one_behind_the_other(fresh: Journal, file: FailingFile) -> None:
    for number in range(50):
        fresh.append([b"{}"] * (number % 3 + 1))

    found = scan(content(file), file="j")
    assert (len(found.groups), found.end, found.next_sequence) == (50, fresh.end, fresh.next_sequence)


@pytest.mark.parametrize("fault", list(FAULTS))
def test_the_first_failing_call_poisons_for_good(fresh: Journal, file: FailingFile, fault: str) -> None:
    fresh.append([b'{"n":1}'])
    file.fault = fault

    with pytest.raises(StoreUnavailable, match="same idempotency key") as first:
        fresh.append([b'{"n":2}'])
    file.fault = ""
    calls = list(file.calls)
    with pytest.raises(StoreUnavailable, match="stopped writing") as later:
        fresh.append([b'{"n":3}'])
    with pytest.raises(StoreUnavailable):
        fresh.seal()

    assert first.value.facts == {"outcome": "unknown", "reason": fresh.poison}
    assert later.value.facts == {"outcome": "refused", "reason": fresh.poison}
    assert file.calls == calls
    assert fresh.next_sequence == 2


def test_a_failed_sync_is_never_repeated(fresh: Journal, file: FailingFile) -> None:
    """Its pages are marked clean, so a second sync would succeed without having written them."""
    file.fault = "sync fails"
    for _ in range(3):
        with contextlib.suppress(StoreUnavailable):
            fresh.append([b"{}"])

    assert file.calls == ["write", "sync"]
    assert fresh.poison == "EIO: Input/output error"


def test_a_short_write_ends_the_attempt_before_its_sync(fresh: Journal, file: FailingFile) -> None:
    file.fault = "write is short"
    with pytest.raises(StoreUnavailable):
        fresh.append([b"{}"])

    assert file.calls == ["write"]
    assert fresh.poison == f"wrote {27 + AHEAD_BYTES} of {28 + AHEAD_BYTES} bytes"


def test_an_interrupt_in_the_middle_of_an_append_poisons_too(
    fresh: Journal, file: FailingFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(file, "sync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fresh.append([b"{}"])

    assert fresh.poison == "KeyboardInterrupt"
    with pytest.raises(StoreUnavailable):
        fresh.append([b"{}"])


def test_a_lock_that_cannot_be_looked_at_is_a_refusal_before_anything_is_written(
    fresh: Journal, file: FailingFile
) -> None:
    def look() -> bool:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    fresh.is_ours = look

    with pytest.raises(StoreUnavailable) as refusal:
        fresh.append([b"{}"])

    assert (refusal.value.facts["outcome"], fresh.poison, file.calls) == (
        "refused",
        "EIO: Input/output error",
        [],
    )


def test_a_close_that_complains_is_no_failure_of_the_store(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel gives the descriptor back all the same, so the next start finds the store unlocked."""
    close = os.close

    def complain(descriptor: int) -> None:
        close(descriptor)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    store = open_store(place)
    store.commit_now(put("kept", 1))
    with monkeypatch.context() as patched:
        patched.setattr(os, "close", complain)
        store.close()

    with open_store(place) as again:
        assert kept(again.view) == {"kept": 1}


def test_a_run_without_groups_is_sealed_only_once(fresh: Journal, file: FailingFile) -> None:
    fresh.append([b"{}"])
    fresh.seal()
    calls = list(file.calls)
    fresh.seal()

    assert file.calls == calls
    assert scan(content(file), file="j").sealed


@pytest.mark.parametrize("fault", list(FAULTS))
class TestPoisonedStore:
    """Every queued and later mutation fails, reads of the last durable view go on (store.md section 4)."""

    def test_nothing_is_acknowledged_and_reads_go_on(self, place: Path, fault: str) -> None:
        with open_store(place) as store:
            store.commit_now(put("before", 1))
            view = store.view
            failing = plant(store, fault)

            with pytest.raises(StoreUnavailable) as unknown:
                store.commit_now(put("during", 1))
            failing.fault = ""
            with pytest.raises(StoreUnavailable) as refused:
                store.commit_now(put("after", 1))

            assert (unknown.value.facts["outcome"], refused.value.facts["outcome"]) == ("unknown", "refused")
            assert store.view is view
            assert store.health not in {"ok", "closed"}
            assert store.health == unknown.value.facts["reason"]

    def test_the_next_start_has_all_that_was_acknowledged_and_the_rest_whole_or_not_at_all(
        self, place: Path, fault: str
    ) -> None:
        with open_store(place) as store:
            store.commit_now(put("before", 1))
            plant(store, fault)
            with pytest.raises(StoreUnavailable):
                store.commit_now(put("during", 1, idempotency_key="once"))

        with open_store(place) as store:
            assert kept(store.view) == {"before": 1} | ({"during": 1} if FAULTS[fault] else {})
            store.commit_now(put("during", 1, idempotency_key="once"))
            assert kept(store.view) == {"before": 1, "during": 1}
            assert store.view.sequence == 2


def test_no_decision_of_a_lost_group_is_told(store: Store) -> None:
    """A refusal or a repeat may rest on a command beside it that never came to be."""
    writer = store.writer
    assert writer is not None
    core = WriterCore(store.view, writer._core.ledger, now=noon)
    plant(store, "sync fails")

    outcomes = core.commit(
        [put("a", 1, idempotency_key="k"), put("a", 1, idempotency_key="k"), put("a", 2, if_revision="G0/C0/S0")]
    )

    errors = [outcome.error for outcome in outcomes if isinstance(outcome, Rejected)]
    assert [error.facts["outcome"] for error in errors if isinstance(error, StoreUnavailable)] == [
        "unknown",
        "unknown",
        "refused",
    ]
    assert not any(isinstance(error, StaleBasis) for error in errors)
    assert core.view is store.view


def test_no_message_quotes_what_was_to_be_stored(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    plant(store, "write garbles")
    with caplog.at_level(logging.DEBUG), pytest.raises(StoreUnavailable) as refusal:
        store.commit_now(put("secret-key", "secret-value"))

    assert "secret" not in f"{refusal.value} {refusal.value.facts} {refusal.value.__cause__} {caplog.text}"
