"""What is done to a store while the disk fails: each workload is a row of `WORKLOADS`, and every sweep runs them all.

A workload tells each state that it could have shown to somebody, and each refusal. What it told must hold whatever
happens to the disk.
"""

from __future__ import annotations

import contextlib
import errno
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, TypeAlias

from stateward_engine.authority.commands import ConfigureGoal, NoteDelivery, RegisterGoal
from stateward_engine.errors import EngineError
from stateward_engine.state.commands import Configure, ForkSession, ImportState, PatchState, Respond
from stateward_engine.state.patch import parse_patch
from stateward_engine.store.publish_file import create_file, publish_file
from stateward_engine.store.writer import Compact
from store.faults import disk as faulty
from store.faults.life import Life, kill, named
from store.faults.subjects import DOCUMENT, NO_DOCUMENT, STORE, text_told
from store.planted import CLIENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_engine.json_value import Json
    from store.faults.subjects import Subject

# Longer than a sector, so that it can be torn inside.
LONG: Final = "long " * 300


Run: TypeAlias = "Callable[[Life], None]"


@dataclass(frozen=True, slots=True)
class Workload:
    """One row of the table.

    Attributes:
        name: What it is about.
        run: What is recorded and swept.
        prepare: What happens before, on a disk that works.
        breaks: Whether it breaks the disk itself, so that only a sweep in one process can run it.
        subject: What it is about.
    """

    name: str
    run: Run
    prepare: Run | None = None
    breaks: bool = False
    subject: Subject = STORE


def first_start(life: Life) -> None:
    with life.open():
        pass


def single_patches(life: Life) -> None:
    with life.open() as store:
        for number in range(4):
            life.commit(store, named(f"k{number}", number))


def groups(life: Life) -> None:
    with life.open() as store:
        life.commit(store, *(named(f"a{number}", "x" * 200) for number in range(5)))
        life.commit(store, *(named(f"b{number}", LONG) for number in range(4)))


def long_entries(life: Life) -> None:
    with life.open() as store:
        for number in range(3):
            life.commit(store, named(f"k{number}", LONG * (number + 1)))


def cohorts(life: Life) -> None:
    with life.open() as store:
        for number in range(4):
            value: Json = {scope: {"tactics": {f"t{number}": LONG[:400]}} for scope in CLIENT.wanted}
            life.commit(store, PatchState(CLIENT, parse_patch(value, CLIENT.wanted), f"t{number}"))


def imports(life: Life) -> None:
    with life.open() as store:
        life.commit(store, ImportState(CLIENT, {"cwd": {"tactics": {"a": LONG}}, "session": {"lazy": {"b": [1]}}}))
        life.commit(store, named("after"))


def forks(life: Life) -> None:
    assert CLIENT.cwd
    with life.open() as store:
        life.commit(store, named("before"))
        life.commit(store, ForkSession(CLIENT.cwd, "s1", "s2"), Respond(CLIENT, "an answer"))


def folded_history(life: Life) -> None:
    with life.open() as store:
        life.commit(store, Configure(2))
        life.commit(store, *(named(f"k{number}", number) for number in range(4)))
        life.commit(store, Configure(0))
        life.commit(store, named("last"))


def clean_restarts(life: Life) -> None:
    for number in range(3):
        with life.open() as store:
            life.commit(store, named(f"k{number}", LONG[: 300 * number]))


def compactions(life: Life) -> None:
    """Checkpoints of new and of changed streams, and two changes of the journal."""
    with life.open() as store:
        life.commit(store, named("a", LONG))
        life.commit(store, Compact())
        life.commit(store, named("b"), named("c"))
        life.commit(store, Compact())
        life.commit(store, named("d"))


def compaction_of_many(life: Life) -> None:
    """Folded histories, several sessions, and one stream that nothing changed between two compactions."""
    assert CLIENT.cwd
    with life.open() as store:
        life.commit(store, Configure(2))
        life.commit(store, *(named(f"k{number}", number) for number in range(5)))
        life.commit(store, ForkSession(CLIENT.cwd, "s1", "s2"))
        life.commit(store, Compact())
    with life.open() as store:
        life.commit(store, named("after"))
        life.commit(store, Compact())


def goals(life: Life) -> None:
    """The streams of goals beside those of scopes, before and after they have checkpoints."""
    with life.open() as store:
        life.commit(store, RegisterGoal("looms", "/home/ada/looms.md", {"objective": LONG[:600]}, None, "5704e1d5"))
        life.commit(
            store, named("a"), ConfigureGoal("looms", ("bo", "cy")), NoteDelivery("looms", "r1", {"user": "ab"})
        )
        life.commit(store, Compact())
        life.commit(store, ConfigureGoal("looms", handoff_mode="hard_lease"))


def killed_after_compaction(life: Life) -> None:
    with life.open() as store:
        life.commit(store, named("a", LONG))
        life.commit(store, Compact())
        life.commit(store, named("b"))
        kill(life, store)
    with life.open() as store:
        life.commit(store, Compact())


def killed_twice(life: Life) -> None:
    for number in range(3):
        with life.open() as store:
            life.commit(store, named(f"k{number}", LONG[: 300 * number]))
            kill(life, store)


def _fail(life: Life, call: str, effect: faulty.Effect) -> None:
    """Fail a group, end badly, and go on in another process."""
    with life.open() as store:
        life.commit(store, named("before"))
        life.disk.plan(call, effect)
        with contextlib.suppress(EngineError):
            life.commit(store, named("failed", LONG))
        with contextlib.suppress(EngineError):
            life.commit(store, named("poisoned"))
        kill(life, store)
    for number in range(2):
        with life.open() as store:
            life.commit(store, named(f"after{number}"))


def failed_sync(life: Life) -> None:
    _fail(life, "fdatasync", faulty.fails(errno.EIO))


def full_disk(life: Life) -> None:
    _fail(life, "pwrite", faulty.fills_the_disk)


def failed_sync_of_the_end(life: Life) -> None:
    with life.open() as store:
        life.commit(store, named("before"))
        life.disk.plan("fdatasync", faulty.fails(errno.EIO))
    single_patches(life)


def torn_tail(life: Life) -> None:
    """A store whose last group was cut short in the middle."""
    with life.open() as store:
        life.commit(store, named("before"))
        life.disk.plan("pwrite", faulty.fills_the_disk)
        with contextlib.suppress(EngineError):
            life.commit(store, named("torn", LONG))
        kill(life, store)


def _published(life: Life, text: bytes) -> None:
    life.tell(text_told(publish_file(life.document, lambda _: text).sha256))


def publications(life: Life) -> None:
    """Other text, longer text, the same text."""
    life.tell(text_told(sha256(life.document.read_bytes()).hexdigest()))
    _published(life, LONG.encode())
    _published(life, b"short\n")
    _published(life, b"short\n")


def create_only(life: Life) -> None:
    life.tell(NO_DOCUMENT)
    life.tell(text_told(create_file(life.document, LONG.encode()).sha256))


def a_document(life: Life) -> None:
    life.document.write_bytes(b"as it was\n")


WORKLOADS: Final = (
    Workload("first start", first_start),
    Workload("single patches", single_patches),
    Workload("groups", groups),
    Workload("long entries", long_entries),
    Workload("cohorts", cohorts),
    Workload("imports", imports),
    Workload("forks and answers", forks),
    Workload("folded history", folded_history),
    Workload("clean restarts", clean_restarts),
    Workload("recovery after a kill", clean_restarts, prepare=killed_twice),
    Workload("recovery of a torn tail", single_patches, prepare=torn_tail),
    Workload("compactions", compactions),
    Workload("compaction of many streams", compaction_of_many),
    Workload("recovery of checkpoints", single_patches, prepare=killed_after_compaction),
    Workload("goals", goals),
    Workload("publications", publications, prepare=a_document, subject=DOCUMENT),
    Workload("create-only publication", create_only, subject=DOCUMENT),
    Workload("killed after a compaction", killed_after_compaction, breaks=True),
    Workload("killed twice", killed_twice, breaks=True),
    Workload("failed sync", failed_sync, breaks=True),
    Workload("full disk", full_disk, breaks=True),
    Workload("failed sync of the closing record", failed_sync_of_the_end, breaks=True),
)
BY_NAME: Final = {workload.name: workload for workload in WORKLOADS}
