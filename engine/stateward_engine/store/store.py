"""The store as everyone above sees it: open it, read its view, submit commands, close it."""

from __future__ import annotations

import contextlib
import queue
from pathlib import Path
from typing import TYPE_CHECKING

from stateward_engine.errors import StoreUnavailable
from stateward_engine.state.view import View
from stateward_engine.store.clock import utc_now
from stateward_engine.store.directory import Directory
from stateward_engine.store.embedded import EmbeddedLedger, open_embedded
from stateward_engine.store.group import Rejected
from stateward_engine.store.ledger import SharedLedger
from stateward_engine.store.lock import Lock
from stateward_engine.store.recover import is_unused, read_view
from stateward_engine.store.writer import QUEUE_LENGTH_MAX, Writer, WriterCore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike
    from types import TracebackType
    from typing import Self

    from stateward_engine.state.transition import Repeat
    from stateward_engine.store.decide import Command
    from stateward_engine.store.group import Committed, Compacted, Followed, Outcome
    from stateward_engine.store.ledger import Ledger, Outage
    from stateward_engine.store.postgresql_target import Target
    from stateward_engine.store.writer import Deliver, Ticket, Upkeep


class Store:
    """An open store; a context manager that closes it.

    Attributes:
        view: The captured view: everything that is durable and published. Readers take it and no lock.
        writer: The one writer, or `None` when the store was opened to read.
        followed: Told, where views are published, the view before and after what others have committed; after an
            outage the one before is empty.
        closing: What `close` gives back once the writer has ended.
        provider: What `status` calls the engine of its ledger.
    """

    def __init__(self, view: View, *, provider: str, lock: Lock | None = None) -> None:
        self.view = view
        self.provider = provider
        self.writer: Writer | None = None
        self.followed: Callable[[View, View], None] = _nobody
        self.closing = contextlib.ExitStack()
        self._lock = lock

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def health(self) -> str:
        """`"ok"`, or why every mutation is refused."""
        return self.writer.health if self.writer else _READ_ONLY

    @property
    def outage(self) -> Outage | None:
        """Why and since when `view` may be behind its ledger, or `None`; it ends by itself."""
        return self.writer.outage if self.writer else None

    @property
    def is_in_place(self) -> bool:
        """Whether this process still holds the store by its name; of no meaning for one that was opened to read."""
        return self._lock is not None and self._lock.is_in_place()

    @property
    def queue_length(self) -> int:
        """How many commands wait for the disk."""
        return self.writer.queue_length if self.writer else 0

    @property
    def length(self) -> int:
        """Size of what a start would have to replay, in bytes; 0 for a store that was opened to read."""
        return self.writer.length if self.writer else 0

    def submit(self, command: Command | Upkeep, done: Callable[[Outcome], None]) -> Ticket:
        """Queue a command; see `Writer.submit`.

        Raises:
            Busy: Too many commands are waiting.
            StoreUnavailable: The store is closed or was opened to read.
        """
        if self.writer is None:
            raise StoreUnavailable(_READ_ONLY)
        return self.writer.submit(command, done)

    def commit_now(self, command: Command | Upkeep) -> Committed | Repeat | Compacted | Followed:
        """Commit one command and return its outcome, with `view` already past it.

        Waits for the writer, so it must not be called where `deliver` runs what it is given.

        Raises:
            RequestError: The state does not take the command.
            StoreError: The store could not commit it; `outcome` says what became of it.
        """
        answer: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self.submit(command, answer.put)
        outcome = answer.get()
        if isinstance(outcome, Rejected):
            raise outcome.error
        return outcome

    def announce(self, *, pid: int, socket: str, version: str) -> None:
        """Tell other processes who serves this store and where; see `Lock.announce`."""
        if self._lock is None:
            raise StoreUnavailable(_READ_ONLY)
        self._lock.announce(pid=pid, socket=socket, version=version)

    def drain(self) -> None:
        """Commit and answer what is queued, and refuse what comes after; the store stays locked. See `Writer.close`."""
        if self.writer:
            self.writer.close()

    def close(self) -> None:
        """Drain, end the ledger in good order, release the lock. A second call does nothing."""
        self.drain()
        self.closing.close()

    def publish(self, view: View) -> None:
        """Let readers see a view; the writer calls it once the view is durable, and nobody else does."""
        self.view = view


def _nobody(_before: View, _after: View) -> None:
    """Be told of what others have committed where nobody wants to know."""


_READ_ONLY = "the store was opened to read; open it for writing"


def run_here(call: Callable[[], None]) -> None:
    """Deliver on the writer's own thread: right for a program without an event loop."""
    call()


def open_store(
    path: str | PathLike[str],
    *,
    read_only: bool = False,
    now: Callable[[], str] = utc_now,
    deliver: Deliver = run_here,
    queue_length_max: int = QUEUE_LENGTH_MAX,
    any_file_system: bool = False,
    database: Target | None = None,
) -> Store:
    """Open the store at `path`; one that is not there yet is made, unless it is in a database.

    Args:
        path: The store's directory, absolute or relative to the working directory. For a store in a database, the
            directory that has the lock of this machine's daemon.
        read_only: Write nothing and take the lock only to read: the view stays as it was then.
            Where there is no store, the view is empty.
        now: The clock; RFC 3339 text in UTC.
        deliver: Where views are published and outcomes answered; see `Writer`.
        queue_length_max: How many commands may wait for the disk.
        any_file_system: Write also to a file system that other machines may share.
        database: The database that keeps the store, if it is not in `path`.

    Raises:
        CorruptStore: Stored evidence contradicts itself; no byte was changed.
        StoreUnavailable: Another process has the store, or its directory or disk cannot be used. Nothing stays open.

    Source: store.md section 4.
    """
    where = Path(path).absolute()
    with _naming_the_store(where):
        if read_only:
            return _read(where, database)
        with contextlib.ExitStack() as closing:
            directory = closing.enter_context(Directory.open(where, create=True))
            if not any_file_system:
                directory.demand_local()
            if database is None:
                # Refuses somebody else's directory, before the lock becomes the first foreign file in it.
                is_unused(directory)
            lock = Lock.acquire(directory)
            closing.callback(lock.release)
            ledger, view = _opened(directory, lock, database)
            closing.callback(ledger.close)
            core = WriterCore(view, ledger, now=now)
            store = Store(view, provider=ledger.provider, lock=lock)
            store.writer = Writer(
                core,
                publish=store.publish,
                # By name, for whoever wants to be told comes later.
                followed=lambda before, after: store.followed(before, after),  # noqa: PLW0108
                deliver=deliver,
                queue_length_max=queue_length_max,
            )
            if isinstance(ledger, SharedLedger):
                closing.callback(ledger.heed(store.writer.follow))
            store.closing = closing.pop_all()
            return store


def _read(where: Path, database: Target | None) -> Store:
    if database is None:
        return Store(_view_at(where), provider=EmbeddedLedger.provider)
    # Not at the top: few stores are in a database, and no other should wait for its library, or need it.
    from stateward_engine.store.postgresql import PostgresqlLedger, read_postgresql  # noqa: PLC0415

    return Store(read_postgresql(database), provider=PostgresqlLedger.provider)


def _opened(directory: Directory, lock: Lock, database: Target | None) -> tuple[Ledger, View]:
    if database is None:
        return open_embedded(directory, lock)
    from stateward_engine.store.postgresql import open_postgresql  # noqa: PLC0415 - as in `_read`

    return open_postgresql(database)


def _view_at(path: Path) -> View:
    try:
        directory = Directory.open(path, create=False)
    except FileNotFoundError:
        return View()
    with directory, Lock.shared(directory):
        return read_view(directory)


@contextlib.contextmanager
def _naming_the_store(path: Path) -> Iterator[None]:
    """Turn a failed call into the refusal to open."""
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"the store {path} cannot be opened ({error.strerror or error}); free or repair the disk, or choose "
            "another store",
            file=str(path),
        ) from error
