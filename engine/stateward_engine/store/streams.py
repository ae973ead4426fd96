"""The checkpoints of a store: one file for each stream, loaded at the start and written by compaction."""

from __future__ import annotations

import contextlib
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec

from stateward_engine.errors import StoreUnavailable
from stateward_engine.state.draft import RECEIPTS_KEPT_MAX
from stateward_engine.state.view import KINDS, Damage, Identity, KeptReceipt, ReceiptKey, View
from stateward_engine.store.catalogue import Catalogue, Row
from stateward_engine.store.checkpoint import CHECKPOINT_SUFFIX, DamagedStream, Stream, decode, encode, file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from stateward_engine.state.view import Scope, StreamKind
    from stateward_engine.store.directory import Directory

STREAMS_DIRECTORY: Final = "streams"
# The checkpoint before, kept for people; nothing reads it.
_PREVIOUS_SUFFIX: Final = ".previous"


def load_view(directory: Directory, catalogue: Catalogue, *, first_sequence: int) -> View:
    """Return the view that a journal goes on from; see `assembled`.

    Args:
        directory: The store.
        catalogue: What the journal says of its streams.
        first_sequence: The ledger sequence of the journal's first entry.

    Raises:
        OSError: A file is there and cannot be read.

    Source: store.md section 4.
    """
    with contextlib.ExitStack() as opened:
        kinds = _kinds(directory, opened, create=False) if catalogue.streams else {}
        streams = proven_streams(catalogue, lambda row: _content(kinds, row.identity))
        return assembled(streams, catalogue, first_sequence=first_sequence)


def assembled(streams: Iterable[tuple[Row, Stream | Damage]], catalogue: Catalogue, *, first_sequence: int) -> View:
    """Return the view that streams make together, before the entry `first_sequence`.

    A stream that cannot be trusted is in `damaged` and nowhere else. One that a compaction wrote before it was cut
    short covers more than the catalogue says: it is newer, and the ledger still has all that it includes.
    """
    scopes: dict[Identity, Scope] = {}
    sessions: dict[str, dict[str, str]] = {}
    receipts: dict[ReceiptKey, KeptReceipt] = {}
    damaged: dict[Identity, Damage] = {}
    for row, found in streams:
        if isinstance(found, Damage):
            damaged[row.identity] = found
            continue
        scopes[row.identity] = found.scope
        if row.cwd is not None and row.session is not None and found.changed_at is not None:
            sessions.setdefault(row.cwd, {})[row.session] = found.changed_at
        receipts.update(found.receipts)
    return View(
        sequence=first_sequence - 1,
        scopes=scopes,
        sessions=sessions,
        receipts=_newest(receipts, before=first_sequence),
        history_limit=catalogue.history_limit,
        damaged=damaged,
    )


def proven_streams(
    catalogue: Catalogue, content: Callable[[Row], bytes | None]
) -> Iterator[tuple[Row, Stream | Damage]]:
    """Yield every row of a catalogue with the stream that its checkpoint proves, or with what is wrong with it."""
    for row in catalogue.streams:
        try:
            yield row, _proven(row, content(row))
        except DamagedStream as error:
            yield row, Damage(row.file, str(error))
        except StoreUnavailable:
            # A symlink, a FIFO, another owner: nothing that we would open, so nothing that we wrote.
            yield row, Damage(row.file, "it is no file of this store")


def checkpoint_names(directory: Directory) -> Iterator[tuple[StreamKind, str]]:
    """Yield the kind and the name of every file that looks like a checkpoint."""
    with contextlib.ExitStack() as opened:
        for kind, folder in _kinds(directory, opened, create=False).items():
            yield from ((kind, name) for name in folder.names() if name.endswith(CHECKPOINT_SUFFIX))


def _content(kinds: Mapping[StreamKind, Directory], identity: Identity) -> bytes | None:
    kind = kinds.get(identity.kind)
    return kind.read(file_name(identity)) if kind else None


def _proven(row: Row, data: bytes | None) -> Stream:
    if data is None:
        raise DamagedStream("the file is missing though the ledger knows it")
    stream, digest = decode(data, row.identity)
    covered = stream.scope.touched
    if covered < row.sequence:
        raise DamagedStream(f"it covers entry {covered} where the ledger knows of {row.sequence}: an older copy")
    if covered == row.sequence and digest != row.digest:
        raise DamagedStream("it is another file than the ledger knows")
    return stream


def _newest(receipts: Mapping[ReceiptKey, KeptReceipt], *, before: int) -> dict[ReceiptKey, KeptReceipt]:
    """Return the receipts that the store kept when the journal began, oldest first.

    A checkpoint keeps those that were evicted after it was written, and one that is newer than the catalogue has some
    that the journal brings again, in their place.
    """
    kept = sorted((item for item in receipts.items() if item[1].sequence < before), key=lambda item: item[1].sequence)
    return dict(islice(kept, max(0, len(kept) - RECEIPTS_KEPT_MAX), None))


def write_changed(directory: Directory, view: View, catalogue: Catalogue) -> Catalogue:
    """Write the checkpoint of every stream that changed, durably, and return the catalogue of all.

    Damaged streams keep their rows and their bytes.

    Raises:
        OSError, StoreUnavailable: The first failing call. What `catalogue` says still holds.

    Source: store.md section 4.
    """
    with contextlib.ExitStack() as opened:
        kinds = _kinds(directory, opened, create=True)

        def place(row: Row, data: bytes) -> None:
            # Its name is durable once its directory is synced.
            name = file_name(row.identity)
            kinds[row.kind].place_file(name, data, previous=name.removesuffix(CHECKPOINT_SUFFIX) + _PREVIOUS_SUFFIX)

        after = place_changed(view, catalogue, place)
        for kind in kinds.values():
            kind.sync()
    return after


def place_changed(view: View, catalogue: Catalogue, place: Callable[[Row, bytes], object]) -> Catalogue:
    """Have the checkpoint of every stream placed that changed since a catalogue, and return the catalogue of all.

    Damaged streams keep their rows.
    """
    rows = {row.identity: row for row in catalogue.streams}
    receipts: dict[Identity, dict[ReceiptKey, KeptReceipt]] = {}
    for key, kept in view.receipts.items():
        receipts.setdefault(kept.home, {})[key] = kept
    for identity, scope in view.scopes.items():
        if identity not in rows or rows[identity].sequence < scope.touched:
            at = view.sessions.get(identity.cwd or "", {}).get(identity.session or "")
            data, digest = encode(Stream(identity, scope, at, receipts.get(identity, {})))
            row = rows[identity] = Row(
                kind=identity.kind,
                cwd=identity.cwd,
                session=identity.session,
                file=f"{STREAMS_DIRECTORY}/{identity.kind}/{file_name(identity)}",
                sequence=scope.touched,
                bytes=len(data),
                digest=digest,
                goal=identity.goal,
            )
            place(row, data)
    return msgspec.structs.replace(catalogue, history_limit=view.history_limit, streams=tuple(rows.values()))


def _kinds(directory: Directory, opened: contextlib.ExitStack, *, create: bool) -> dict[StreamKind, Directory]:
    """Return the open directory of each kind; those that are not there are left out unless `create` makes them."""
    kinds: dict[StreamKind, Directory] = {}
    with contextlib.suppress(FileNotFoundError):
        streams = opened.enter_context(directory.subdirectory(STREAMS_DIRECTORY, create=create))
        for kind in KINDS:
            with contextlib.suppress(FileNotFoundError):
                kinds[kind] = opened.enter_context(streams.subdirectory(kind, create=create))
    return kinds
