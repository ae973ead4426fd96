"""What the tests of the store plant: commands of known effect, clocks, and files that fail."""

from __future__ import annotations

import errno
import os
import threading
from typing import TYPE_CHECKING, Any

from stateward_engine.state.commands import PatchState
from stateward_engine.state.patch import parse_patch
from stateward_engine.state.view import Selection
from stateward_engine.store.embedded import EmbeddedLedger
from stateward_engine.store.scan import scan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stateward_engine.json_value import Json
    from stateward_engine.state.view import View
    from stateward_engine.store.disk_file import File
    from stateward_engine.store.group import Outcome
    from stateward_engine.store.journal import Journal
    from stateward_engine.store.store import Store
    from stateward_engine.store.writer import WriterCore

CLIENT = Selection("/home/ada/project", "s1", ("global", "cwd", "session"))
NOON = "2026-12-01T12:00:00.000000Z"


def noon() -> str:
    return NOON


def put(key: str, value: Json, *, idempotency_key: str | None = None, if_revision: str | None = None) -> PatchState:
    """A command that sets one key in two scopes, so that a half of it would show."""
    patch: Json = {"cwd": {"tactics": {key: value}}, "session": {"lazy": {key: value}}}
    return PatchState(CLIENT, parse_patch(patch, CLIENT.wanted), idempotency_key, if_revision)


def kept(view: View) -> dict[str, Json]:
    """The keys that `put` set, after checking that no transition is there by half."""
    planes = view.planes(CLIENT)
    hot, lazy = planes["cwd"].get("tactics", {}), planes["session"].get("lazy", {})
    assert isinstance(hot, dict)
    assert hot == lazy
    return hot


class FailingFile:
    """A file that behaves until `fault`, a name in `FAULTS`, is set."""

    def __init__(self, file: File, fault: str = "") -> None:
        self.file = file
        self.fault = fault
        self.calls: list[str] = []

    def write_at(self, data: bytes, offset: int) -> int:
        self.calls.append("write")
        match self.fault:
            case "write fails":
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            case "disk is full":
                self.file.write_at(data[: len(data) // 2], offset)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            case "write is short":
                return self.file.write_at(data[:-1], offset)
            case "write lies about its length":
                self.file.write_at(data[:-1], offset)
                return len(data)
            case "write does nothing":
                return len(data)
            case "write garbles":
                self.file.write_at(data[:-1] + b"!", offset)
                return len(data)
        return self.file.write_at(data, offset)

    def sync(self) -> None:
        self.calls.append("sync")
        if self.fault == "sync fails":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self.file.sync()

    def is_in_place(self) -> bool:
        return self.file.is_in_place()

    def forget(self, offset: int, length: int) -> None:
        self.calls.append("forget")
        if self.fault == "forget fails":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self.file.forget(offset, length)

    def read_at(self, offset: int, length: int) -> bytes:
        self.calls.append("read")
        if self.fault == "read fails":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        found = self.file.read_at(offset, length)
        return found[:-1] + b"!" if self.fault == "read differs" else found

    def close(self) -> None:
        self.file.close()


# Whether the whole record reached the file all the same, so that the next start finds it there.
FAULTS = {
    "write fails": False,
    "disk is full": False,
    "write is short": False,
    "write lies about its length": False,
    "write does nothing": False,
    "write garbles": False,
    "sync fails": True,
    "forget fails": True,
    "read fails": True,
    "read differs": True,
}


def plant(store: Store, fault: str) -> FailingFile:
    """Put a file that fails from now on in the place of the journal's."""
    assert store.writer is not None
    journal = journal_of(store.writer._core)
    journal.file = failing = FailingFile(journal.file, fault)
    return failing


def journal_of(core: WriterCore) -> Journal:
    """The open journal of an embedded store."""
    assert isinstance(core.ledger, EmbeddedLedger)
    return core.ledger.journal


def written(journal: Path) -> bytes:
    """What stands in a journal, without the zeros that are written ahead; no record ends with one."""
    return journal.read_bytes().rstrip(b"\0")


class Deliveries:
    """A `deliver` that keeps what it is given until the test runs it."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def __call__(self, call: Callable[[], None]) -> None:
        self.waiting.append(call)


class Gate:
    """A file that holds every sync until it is let through: the disk as the slowest part, without a clock."""

    def __init__(self, journal: Journal) -> None:
        self.file = journal.file
        self.entered = threading.Semaphore(0)
        self.open = threading.Semaphore(0)
        journal.file = self

    def sync(self) -> None:
        self.entered.release()
        assert self.open.acquire(timeout=30)
        self.file.sync()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


class Answers:
    """Collects outcomes by name; `wait` returns once so many are there."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.outcomes: dict[str, Outcome] = {}
        self._arrived = threading.Semaphore(0)

    def to(self, name: str) -> Callable[[Outcome], None]:
        def done(outcome: Outcome) -> None:
            self.order.append(name)
            self.outcomes[name] = outcome
            self._arrived.release()

        return done

    def wait(self, count: int) -> None:
        for _ in range(count):
            assert self._arrived.acquire(timeout=30)


def group_lengths(journal: Path) -> list[int]:
    return [group.count for group in scan(journal.read_bytes(), file="").groups]


def telling(event: threading.Event) -> Callable[[Callable[[], None]], None]:
    """Deliver as `run_here`, and tell of it."""

    def deliver(settle: Callable[[], None]) -> None:
        settle()
        event.set()

    return deliver
