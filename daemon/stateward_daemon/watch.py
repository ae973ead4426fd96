"""The watcher: tells when a goal document was written, came or went, whoever did it and however it was saved.

An event only says where to look. Then the content is read, so that a save which leaves size and time as they were is
found. Beside the events a slow check finds what they missed: lost events, a directory that was moved away and back, or
a system without free watches cost time and never a change.
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_daemon.documents import Documents
from stateward_daemon.log import LOGGER_NAME

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping

# How often events are looked for, which is also how long a save must be quiet. Each look wakes the process: 10 ms cost
# 1.2 % of a core for as long as a document is watched, 50 ms cost 0.3 %.
STEP_MS: Final = 50
# Events are grouped for at most this long; a file that is written without pause would never be reported.
DEBOUNCE_MS: Final = 200
# How often everything is looked at without an event; what the events missed is not noticed for longer than this.
SAFETY_CHECK_MS: Final = 1_000
# File systems count time in ticks of a few milliseconds, some of two seconds. A second write in the tick of the first
# has the same stamp, so a stamp this young proves nothing.
YOUNG_STAMP_NS: Final = 2_500_000_000


class _Stamp(NamedTuple):
    """What `stat` says of a file. A program can set the time of the content back, but not that of the change."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


class _Sight(NamedTuple):
    """A document as it was last seen; both are `None` when it is not there, the digest also when it is not readable.

    Two sights differ when the content does or when it was written in between, be it with the same content: between two
    writes somebody may have read what stood there for a moment, and needs to hear that it is gone.
    """

    stamp: _Stamp | None
    digest: str | None


@dataclass(slots=True)
class _Watched:
    """A document: how many asked for it, and how it was when it was last reported or first seen."""

    holders: int
    sight: _Sight


class Watcher:
    """Watches goal documents for all connections of a process. Lives on one event loop; files are read in a thread.

    Directories are watched rather than files: a rename-save puts another file in the place of the watched one, and from
    then on a watch of the file itself hears nothing.
    """

    def __init__(self, on_change: Callable[[Path], None], documents: Documents | None = None) -> None:
        """Make a watcher of nothing yet.

        Args:
            on_change: Called on the loop with the path of a document that was written, came or went.
            documents: Whose `digest` tells contents apart.
        """
        self._on_change = on_change
        self._digest = (documents or Documents()).digest
        self._log = logging.getLogger(LOGGER_NAME)
        self._watched: dict[Path, _Watched] = {}
        self._directories: dict[Path, tuple[int, int]] = {}
        # One per watch: set, it ends the watch, and the next one starts with the directories of that time.
        self._restart = asyncio.Event()
        self._checking = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._has_complained = False

    def add(self, path: Path) -> None:
        """Watch the document at `path`, which need not exist yet; whatever happens to it from now on is reported.

        Each `add` needs its own `discard`.
        """
        watched = self._watched.get(path)
        if watched is not None:
            watched.holders += 1
            return
        self._watched[path] = _Watched(1, _look(path, None, self._digest))
        if path.parent not in self._directories:
            self._restart.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    def discard(self, path: Path) -> None:
        """Take back one `add`. The next check notices when a directory is not needed any more."""
        watched = self._watched[path]
        watched.holders -= 1
        if not watched.holders:
            del self._watched[path]

    async def close(self) -> None:
        """Stop watching; nothing is reported after this returns."""
        self._closed = True
        self._restart.set()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        while self._watched and not self._closed:
            self._restart = asyncio.Event()
            self._directories = await asyncio.to_thread(_identities, {path.parent for path in self._watched})
            # This task starts when we first wait, and by then the new watch stands. So it finds what changed while
            # there was no watch, and events tell what changes after it looked.
            recheck = asyncio.create_task(self._check(touched=set(self._watched)))
            async for touched in self._events():
                standing = await self._check(touched)
                # A directory that was deleted took its watch with it, even when its successor has the same inode.
                if standing != self._directories or not touched.isdisjoint(self._directories):
                    self._restart.set()
            await recheck

    async def _events(self) -> AsyncIterator[set[Path]]:
        """Yield the paths that events name, or none when the safety check is due, until `_restart` is set."""
        # Not at the top: most daemons never watch a document, and all of them have to start fast.
        from watchfiles import awatch  # noqa: PLC0415

        restart = self._restart
        try:
            async for changes in awatch(
                *self._directories,
                watch_filter=None,
                recursive=False,
                step=STEP_MS,
                debounce=DEBOUNCE_MS,
                rust_timeout=SAFETY_CHECK_MS,
                yield_on_timeout=True,
                stop_event=restart,
                ignore_permission_denied=True,
            ):
                yield {Path(path) for _, path in changes}
        except FileNotFoundError:
            # A directory went away before its watch stood; the check below notices, and the next watch is without it.
            pass
        except (OSError, RuntimeError) as error:
            self._complain(error)
        while not restart.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(restart.wait(), SAFETY_CHECK_MS / 1000)
            yield set()

    def _complain(self, error: Exception) -> None:
        if not self._has_complained:
            self._has_complained = True
            # Most often the system has no watch left (`fs.inotify.max_user_watches`).
            self._log.warning(
                "no file events (%s); goal documents are looked at every %d ms instead", error, SAFETY_CHECK_MS
            )

    async def _check(self, touched: Collection[Path]) -> dict[Path, tuple[int, int]]:
        """Report the documents that are not as they were last seen.

        Args:
            touched: Paths that are read whatever their stamp says.

        Returns:
            The directories of the documents that are there now, with their identity.
        """
        async with self._checking:
            known = {path: watched.sight for path, watched in self._watched.items()}
            found, directories = await asyncio.to_thread(_survey, known, touched, self._digest)
            for path, sight in found.items():
                watched = self._watched.get(path)
                # Whoever took the document out and in again meanwhile has seen something newer.
                if watched is not None and watched.sight is known[path] and sight != watched.sight:
                    watched.sight = sight
                    self._report(path)
            return directories

    def _report(self, path: Path) -> None:
        if self._closed:
            return
        try:
            self._on_change(path)
        except Exception:  # noqa: BLE001 - one connection's mistake must not end the watch for all others
            self._log.exception("a change of a goal document was not handled")


def _survey(
    known: Mapping[Path, _Sight], touched: Collection[Path], digest: Callable[[Path], str | None]
) -> tuple[dict[Path, _Sight], dict[Path, tuple[int, int]]]:
    found = {path: _look(path, None if path in touched else sight, digest) for path, sight in known.items()}
    return found, _identities({path.parent for path in known})


def _look(path: Path, before: _Sight | None, digest: Callable[[Path], str | None]) -> _Sight:
    """Return how a document is now; its content is read only if its stamp gives reason to.

    Args:
        path: The document.
        before: How it was when last seen, or `None` to read it in any case.
        digest: Tells contents apart.
    """
    # Before the content, so that a write in between shows as another stamp the next time.
    stamp = _stamp(path)
    if before is not None and stamp == before.stamp and (stamp is None or _is_old(stamp)):
        return before
    try:
        return _Sight(stamp, None if stamp is None else digest(path))
    except OSError:
        # A disk that fails while it is read; the next check tries again.
        return _Sight(None, None)


def _stamp(path: Path) -> _Stamp | None:
    try:
        facts = os.stat(path)  # noqa: PTH116 - `Path.stat` costs twice as much, once per document and second
    except OSError:
        return None
    return _Stamp(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


def _is_old(stamp: _Stamp) -> bool:
    return time.time_ns() - max(stamp.modified_ns, stamp.changed_ns) > YOUNG_STAMP_NS


def _identities(directories: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    """Return device and inode of those that are directories now."""
    found = {}
    for directory in directories:
        with suppress(OSError):
            facts = directory.stat()
            if stat.S_ISDIR(facts.st_mode):
                found[directory] = (facts.st_dev, facts.st_ino)
    return found
