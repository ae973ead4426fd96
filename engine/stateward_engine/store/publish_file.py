"""The one way to write a document that people and editors write to as well.

A document is replaced by a finished copy in one moment, so nobody ever reads a half of it; and only if it still is what
the copy was made from, so nobody's text is lost. Editors take no lock, so the second cannot be had by looking first:
the copy and the document *trade places*, and what came out is looked at. If it is not what it should be, the two trade
back, and the caller merges again. That holds for editors that replace the file and for those that write into it: what
comes out counts only while nobody has it open for writing.

Source: store.md section 5, security.md rows 7 to 11 and 32.
"""

from __future__ import annotations

import contextlib
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from stateward_engine.errors import NotPublished, Overtaken
from stateward_engine.store import linux_calls
from stateward_engine.store.document_place import Place, missing
from stateward_engine.store.snapshot import demand_size, refusing_failures

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stateward_engine.store.snapshot import Snapshot

# Before each attempt. An editor that writes into the file is done in a few milliseconds; one that is not after all of
# these would keep us for as long as it likes.
PAUSES_S: Final = (0.0, 0.005, 0.02, 0.1, 0.3)
# One trade puts the copy in, the next takes it out again; more happen only when others write between the two.
TRADES_MAX: Final = 16

Status = Literal["published", "current", "created"]


class Publication(NamedTuple):
    """What a publication did. The document held these bytes, durably, at one moment; others may have written since.

    Attributes:
        status: `published` (replaced), `current` (it held these bytes already) or `created`.
        path: The document without links.
        sha256: Of all its bytes, in hex.
        size_bytes: How many these are.
        device: With `inode` the identity of the file.
        inode: See `device`.
        attempts: How often the document was merged, 1 or more.
        guarded: False where the file system cannot let two names trade places: there, what somebody wrote between the
            last look and the replacement, a matter of microseconds, is lost.
        kept: Names beside the document of what others wrote and a killed publication took out; for a person to look at.
    """

    status: Status
    path: Path
    sha256: str
    size_bytes: int
    device: int
    inode: int
    attempts: int
    guarded: bool
    kept: tuple[str, ...]


def publish_file(path: Path, merge: Callable[[bytes], bytes], *, follow_within: Path | None = None) -> Publication:
    """Replace the document at `path` by what `merge` makes of it.

    Mode, owner and extended attributes stay. Equal bytes are not written, but made durable all the same.

    Args:
        path: Absolute. Nothing on it may be a link, unless links are followed.
        merge: From the bytes of the document to those it shall have. It is called again with newer bytes when somebody
            writes meanwhile, at most once for each of `PAUSES_S`. What it raises passes through; nothing is written.
        follow_within: A workspace. Links are followed when all they lead to lies in it.

    Raises:
        NotPublished: The document is missing or no plain file, or a call failed.
        Overtaken: Others did not stop writing.
        InvalidRequest: The path is not absolute.

    Source: store.md section 5.
    """
    with Place.opened(path, follow_within) as place:
        attempts = 0
        for pause in PAUSES_S:
            time.sleep(pause)
            base = place.look()
            if base is None:
                raise missing(place.path)
            if not base.quiet:
                continue
            attempts += 1
            data = merge(base.data)
            demand_size(len(data), place.path)
            with refusing_failures(place.path):
                done = _confirm(place, base) if data == base.data else _replace(place, base, data)
            if done is not None:
                return _publication(place, done, attempts=attempts)
        raise _changing(place)


def create_file(path: Path, data: bytes, *, follow_within: Path | None = None) -> Publication:
    """Make a document that is not there yet, with mode 0600.

    Raises:
        NotPublished: Something stands at `path`; it stays untouched, also when it came there at the last moment. Else
            as for `publish_file`.
        Overtaken, InvalidRequest: As for `publish_file`.

    Source: store.md section 5, security.md row 11.
    """
    with Place.opened(path, follow_within) as place:
        demand_size(len(data), place.path)
        with refusing_failures(place.path):
            staged, ours = place.stage(data, None)
            try:
                place.demand_in_place()
                created = place.put_in(staged)
            finally:
                place.discard(staged, ours)
        if not created:
            raise NotPublished(
                f"{place.path} is there already, and stays as it is",
                reason_code="document_exists",
                path=str(place.path),
            )
        with refusing_failures(place.path, outcome="unknown"):
            place.sync()
        return _publication(place, ("created", ours, True), attempts=1)


# What an attempt did: its status, the file that has the name now, and whether the last moment was guarded.
_Done: TypeAlias = "tuple[Status, Snapshot, bool]"


def _confirm(place: Place, base: Snapshot) -> _Done | None:
    """Make the document as it is durable; `None` when it is not `base` any longer."""
    place.sync_document()
    place.sync()
    return ("current", base, True) if place.look() == base else None


def _replace(place: Place, base: Snapshot, data: bytes) -> _Done | None:
    """Put `data` in the place of `base`; `None` when the document is something else by now, and stays that."""
    staged, ours = place.stage(data, base)
    try:
        place.demand_in_place()
        now = place.look()
        if now != base or not now.quiet:
            return None
        try:
            place.exchange(staged)
        except FileNotFoundError:
            return None
        except OSError as error:
            if not linux_calls.is_unsupported(error):
                raise
            place.replace_by(staged)
            with refusing_failures(place.path, outcome="unknown"):
                place.sync()
            return ("published", ours, False)
        with refusing_failures(place.path, outcome="unknown", kept=[staged]):
            return ("published", ours, True) if _settle(place, staged, ours, base) else None
    finally:
        place.discard(staged, ours)


def _settle(place: Place, staged: str, ours: Snapshot, base: Snapshot) -> bool:
    """Decide what has the name, after `ours` and what should be `base` have traded places; return whether it is `ours`.

    What comes out and is not what was believed to be in is newer than what went in: it goes back. So of all that others
    wrote, the last has the name in the end, and what is removed was `ours`, `base` or replaced by its own writers.
    """
    put_in: Snapshot | None = ours
    believed: Snapshot | None = base
    failure = None
    for _ in range(TRADES_MAX):
        out = place.seen(staged) if put_in is ours else _when_quiet(place, staged, believed)
        if out is not None and out == believed and out.quiet:
            if put_in is not ours:
                place.remove(staged)
                break
            try:
                place.sync()
            except OSError as error:
                failure = error
            else:
                place.remove(staged)
                return True
        elif out == believed and put_in is not ours:
            # Somebody may be about to write to what has no name any longer: it is kept for them.
            raise _changing(place, staged)
        put_in, believed = out, put_in
        if not _put_back(place, staged):
            break
    else:
        raise _changing(place, staged)
    if failure is not None:
        with refusing_failures(place.path):
            raise failure
    return False


def _when_quiet(place: Place, staged: str, believed: Snapshot | None) -> Snapshot | None:
    """Return what came out, waiting a moment while somebody has it open and has not written yet."""
    out = None
    for pause in PAUSES_S:
        time.sleep(pause)
        out = place.seen(staged)
        if out is None or out.quiet or out != believed:
            break
    return out


def _put_back(place: Place, staged: str) -> bool:
    """Give the name to what came out; return whether something else came out for it."""
    for _ in range(TRADES_MAX):
        with contextlib.suppress(FileNotFoundError):
            place.exchange(staged)
            return True
        if place.put_in(staged):
            return False
    raise _changing(place, staged)


def _publication(place: Place, done: _Done, *, attempts: int) -> Publication:
    place.demand_in_place(outcome="unknown")
    status, found, guarded = done
    return Publication(
        status=status,
        path=place.path,
        sha256=sha256(found.data).hexdigest(),
        size_bytes=found.size,
        device=found.device,
        inode=found.inode,
        attempts=attempts,
        guarded=guarded,
        kept=tuple(place.kept),
    )


def _changing(place: Place, *kept: str) -> Overtaken:
    return Overtaken(
        f"{place.path} is being written by somebody else; try again once that is done",
        reason_code="document_changing",
        path=str(place.path),
        kept=[*place.kept, *kept] or None,
    )
