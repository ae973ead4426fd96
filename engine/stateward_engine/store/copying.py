"""Copying a store from one engine to another, verified stream by stream."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from stateward_engine.errors import CorruptStore, StoreUnavailable
from stateward_engine.state.view import KINDS
from stateward_engine.store.catalogue import Catalogue, encode_catalogue
from stateward_engine.store.directory import Directory
from stateward_engine.store.disk_file import describe
from stateward_engine.store.lock import Lock
from stateward_engine.store.recover import create, is_unused, read_view
from stateward_engine.store.streams import write_changed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from stateward_engine.state.view import Identity, StreamKind, View
    from stateward_engine.store.postgresql_target import Target


class Site(NamedTuple):
    """Where a store is.

    Attributes:
        directory: The store, or what holds the lock of this machine's daemon on a database.
        database: The database that keeps it, if not the directory.
    """

    directory: Path
    database: Target | None = None

    def __str__(self) -> str:
        """Return what names it, without secrets."""
        return str(self.directory) if self.database is None else self.database.shown


class Copied(NamedTuple):
    """What a copy holds, proven after it was written.

    Attributes:
        sequence: The ledger sequence that it includes.
        streams: How many streams of each kind, those without any left out.
        receipts: How many kept answers of keyed mutations.
    """

    sequence: int
    streams: Mapping[StreamKind, int]
    receipts: int


def copy_store(source: Site, target: Site, *, moved: Callable[[View], View] = lambda view: view) -> Copied:
    """Copy the store at `source` to `target`, which is empty, while nobody uses either.

    Args:
        source: Read, and left as it is.
        target: Written; a directory is made where there is none, a database has its tables already.
        moved: Gives what the copy is to hold of a view, for names that say another thing there.

    Raises:
        StoreUnavailable: Somebody uses one of them, the target is not empty, or one cannot be used.
        CorruptStore: A stream of the source cannot be trusted, or the copy is not what was written.
    """
    with _failing_for(source), _reading(source) as found:
        for identity, damage in found.damaged.items():
            raise damage.refusal(identity)
        view = moved(found)
    with _failing_for(target):
        copy = (
            _written_files(target.directory, view) if target.database is None else _written_rows(target.database, view)
        )
    _demand_equal(view, copy, target)
    counts = Counter(identity.kind for identity in copy.scopes)
    streams = {kind: counts[kind] for kind in KINDS if counts[kind]}
    return Copied(copy.sequence, streams, len(copy.receipts))


@contextlib.contextmanager
def _reading(site: Site) -> Iterator[View]:
    """Keep everybody out who would write, and give the view."""
    if site.database is None:
        with Directory.open(site.directory, create=False) as directory, Lock.shared(directory):
            yield read_view(directory)
        return
    # Not at the top: it needs a library that stores in files do without.
    from stateward_engine.store.postgresql_copy import reading  # noqa: PLC0415

    with reading(site.database) as view:
        yield view


def _written_files(path: Path, view: View) -> View:
    """Write a view as a store in files, and return what is there then."""
    with Directory.open(path, create=True) as directory:
        directory.demand_local()
        if not is_unused(directory):
            raise not_empty(str(path))
        lock = Lock.acquire(directory)
        try:
            catalogue = write_changed(directory, view, Catalogue())
            create(directory, encode_catalogue(catalogue, view.sequence + 1))
            return read_view(directory)
        finally:
            lock.release()


def _written_rows(database: Target, view: View) -> View:
    from stateward_engine.store.postgresql_copy import write  # noqa: PLC0415 - as in `_reading`

    found = write(database, view)
    if found is None:
        raise not_empty(database.shown)
    return found


def not_empty(name: str) -> StoreUnavailable:
    """Return the refusal of a target that holds something."""
    return StoreUnavailable(
        f"{name} holds a store already; a copy goes into an empty one: choose another", reason_code="store_not_empty"
    )


def _demand_equal(view: View, copy: View, target: Site) -> None:
    """Compare everything that a stream keeps, its past and its receipts included.

    Raises:
        CorruptStore: The copy is not the view.
    """
    differing = [
        *copy.damaged,
        *(name for name in {*view.scopes, *copy.scopes} if _kept(view, name) != _kept(copy, name)),
    ]
    if differing or copy != view:
        named = ", ".join(sorted({identity.kind for identity in differing})) or "receipts and settings"
        raise CorruptStore(
            f"the copy at {target} is not what was written ({named}); give it up, check the disk, and copy again",
            streams=sorted({identity.kind for identity in differing}),
        )


def _kept(view: View, identity: Identity) -> tuple[object, ...]:
    receipts = {key: kept for key, kept in view.receipts.items() if kept.home == identity}
    return view.scopes.get(identity), receipts, view.sessions.get(identity.cwd or "", {}).get(identity.session or "")


@contextlib.contextmanager
def _failing_for(site: Site) -> Iterator[None]:
    """Turn a failed call into a refusal."""
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"the store {site} cannot be used ({describe(error)}); nothing of the source was changed", file=str(site)
        ) from error
