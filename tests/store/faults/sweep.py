"""The sweeps: every workload, every place where the disk can let it down, and what must be true afterwards."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import shutil
import tempfile
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from stateward_engine.errors import EngineError
from stateward_engine.store import embedded, journal
from store.faults.disk import CHANGE, Disk, Fault, vanishes
from store.faults.life import REFUSED, Life, nobody
from store.faults.model import Told, crash_states
from store.faults.subjects import Promise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from store.faults.failures import Failure
    from store.faults.model import CrashState, Operation, Tree
    from store.faults.subjects import Subject
    from store.faults.workloads import Workload


@dataclass(frozen=True, slots=True)
class Recording:
    """What one run did.

    Attributes:
        name: Which run.
        subject: What it was about.
        start: What was on disk before, all of it durable.
        operations: What was done, and what was told.
    """

    name: str
    subject: Subject
    start: Tree
    operations: Sequence[Operation]

    def told(self) -> list[str]:
        """Return the states that were told, in order, without repetitions."""
        facts = [operation.fact for operation in self.operations if isinstance(operation, Told)]
        return list(dict.fromkeys(fact for fact in facts if not fact.startswith(REFUSED)))


@dataclass
class Findings:
    """What a sweep looked at and what was wrong.

    Attributes:
        states: Distinct situations.
        violations: What was promised and did not hold, with the situation.
    """

    states: int = 0
    violations: list[str] = field(default_factory=list)


@contextlib.contextmanager
def small_disks() -> Iterator[Path]:
    """A directory where disks are made up, none of which has to last: in memory where that is possible.

    What the store writes ahead of time is little while it is open: zeros teach nothing, and cost a sweep most of its
    time.
    """
    memory = Path("/dev/shm")  # noqa: S108 - the directory made in it is private
    less = mock.patch.multiple(journal, AHEAD_BYTES=1024), mock.patch.multiple(embedded, RESERVE_BYTES=512)
    with (
        less[0],
        less[1],
        tempfile.TemporaryDirectory(prefix="stateward", dir=memory if os.access(memory, os.W_OK) else None) as name,
    ):
        yield Path(name)


@contextlib.contextmanager
def emptied(folder: Path) -> Iterator[Path]:
    """A directory for one run or one crash state; nothing of it stays."""
    folder.mkdir(0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def prepared(workload: Workload, folder: Path) -> Iterator[Disk]:
    """The disk that a workload starts on."""
    with emptied(folder) as root:
        if workload.prepare:
            with Disk(root) as disk:
                workload.prepare(Life(root, nobody, disk))
        with Disk(root) as disk:
            yield disk


def record(workload: Workload, folder: Path) -> Recording:
    """Run a workload to its end on a disk that works, but for what it breaks itself."""
    with prepared(workload, folder / "run") as disk:
        workload.run(Life(disk.root, disk.told, disk))
        return Recording(workload.name, workload.subject, disk.start, disk.recorded())


def record_failed(workload: Workload, folder: Path, fault: Fault) -> Recording | None:
    """Run a workload until something fails, end badly, and go on in the next process; `None` if nothing failed."""
    with prepared(workload, folder / "run") as disk:
        disk.faults = [fault]
        # What a program says that is gone is heard by nobody.
        with contextlib.suppress(EngineError, OSError):
            workload.run(Life(disk.root, disk.told, disk))
        if not disk.met:
            return None
        with disk.killed():
            pass
        workload.subject.go_on(Life(disk.root, disk.told, disk))
        return Recording(f"{workload.name}, {fault}", workload.subject, disk.start, disk.recorded())


def record_killed(workload: Workload, folder: Path, at: int) -> Recording | None:
    """Run a workload until its change number `at`, which a kill prevents, and go on in the next process."""
    return record_failed(workload, folder, Fault(CHANGE, at, vanishes))


def record_killed_everywhere(workload: Workload, folder: Path) -> Iterator[Recording]:
    """Yield a run for each change of a workload, killed before it."""
    for at in itertools.count(1):
        recording = record_killed(workload, folder, at)
        if recording is None:
            return
        yield recording


def record_recoveries(recording: Recording, folder: Path, *, seed: int, count: int) -> Iterator[Recording]:
    """Draw crash states of a recording, and record what the next start does with each."""
    for state, _ in islice(_distinct(recording, random.Random(seed)), count):
        with emptied(folder / "run") as root:
            state.tree().write_to(root)
            with Disk(root) as disk:
                recording.subject.begin(Life(root, disk.told, disk))
                name = f"{recording.name}, cut after {state.point}, {state.how}, started"
                yield Recording(name, recording.subject, disk.start, disk.recorded())


def sweep_crashes(
    recordings: Iterable[Recording], folder: Path, *, seed: int, limit: int | None = None, until_wrong: bool = False
) -> Findings:
    """Cut the power at every point of each recording, and look at what the next start makes of each legal disk.

    Args:
        recordings: The runs.
        folder: Where disks can be made.
        seed: Decides what is drawn.
        limit: How many states of one recording to look at, drawn among all; `None` is all of them.
        until_wrong: Whether to stop at the first violation.
    """
    findings = Findings()
    for recording in recordings:
        for state, promised in islice(_distinct(recording, random.Random(seed)), limit):
            findings.states += 1
            for wrong in _broken(recording.subject, state.tree(), promised, folder):
                findings.violations.append(f"{recording.name}, cut after {state.point}, {state.how}: {wrong}")
            if until_wrong and findings.violations:
                return findings
    return findings
    return findings


def _distinct(recording: Recording, chance: random.Random) -> Iterator[tuple[CrashState, Promise]]:
    """Yield the crash states of a recording in a drawn order, none of them twice."""
    promises = _promises(recording.operations)
    states = list(crash_states(recording.start, recording.operations, chance))
    chance.shuffle(states)
    seen = set()
    for state in states:
        known = state.tree().digest(), promises[state.point]
        if known not in seen:
            seen.add(known)
            yield state, promises[state.point]


def _promises(operations: Sequence[Operation]) -> list[Promise]:
    """Return what holds before the first operation and after each."""
    facts = [(place, operation.fact) for place, operation in enumerate(operations) if isinstance(operation, Told)]
    promises = []
    for point in range(len(operations) + 1):
        refused = frozenset(fact for place, fact in facts if place < point and fact.startswith(REFUSED))
        told = [fact for place, fact in facts if place < point and not fact.startswith(REFUSED)][-1:]
        told += [fact for place, fact in facts if place >= point and not fact.startswith(REFUSED)]
        # The next one is the first that differs: the same state is told again by every start.
        promises.append(Promise(tuple(dict.fromkeys(told))[:2], refused))
    return promises


def _broken(subject: Subject, tree: Tree, promised: Promise, folder: Path) -> Iterator[str]:
    with emptied(folder / "crashed") as root:
        tree.write_to(root)
        with Disk(root) as disk:
            yield from subject.broken(Life(root, nobody, disk), promised)


def sweep_failures(
    workloads: Iterable[Workload], failures: Iterable[Failure], folder: Path, *, until_wrong: bool = False
) -> Findings:
    """Let each call of each workload fail in each way, one per run, and look at what the next start makes of it."""
    findings = Findings()
    ways = list(failures)
    for workload in workloads:
        clean = record(workload, folder).told()
        for failure in ways:
            for at in itertools.count(1):
                wrong = _failed(workload, failure, at, clean, folder)
                if wrong is None:
                    break
                findings.states += 1
                findings.violations += [f"{workload.name}, {failure} at {at}: {problem}" for problem in wrong]
                if until_wrong and findings.violations:
                    return findings
    return findings


def _failed(workload: Workload, failure: Failure, at: int, clean: Sequence[str], folder: Path) -> list[str] | None:
    """Return what was wrong with a run in which one call failed; `None` when there is no such call."""
    with prepared(workload, folder / "run") as disk:
        disk.faults = [Fault(failure.call, at, failure.effect)]
        wrong = []
        try:
            workload.run(Life(disk.root, disk.told, disk))
        except EngineError:
            pass
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            wrong.append(f"no refusal but {error!r}")
        if not disk.met:
            return None
        disk.faults = []
        promised = _due(disk.operations, clean)
        return [*wrong, *workload.subject.broken(Life(disk.root, nobody, disk), promised)]


def _due(operations: Sequence[Operation], clean: Sequence[str]) -> Promise:
    """Return what holds after a run that stopped early: what it told last, or what the clean run told next."""
    promised = _promises(operations)[-1]
    place = clean.index(promised.states[0]) if promised.states else 0
    return Promise(tuple(clean[place : place + 2]), promised.refused)
