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
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_daemon.documents import Documents
from stateward_daemon.file_events import FileEvents
from stateward_daemon.log import LOGGER_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from pathlib import Path

    from stateward_daemon.file_events import Identity

# How long a save must be quiet before it is looked at: many write a file in several steps.
STEP_MS: Final = 20
# Events are grouped for at most this long; a file that is written without pause would never be reported.
DEBOUNCE_MS: Final = 200
# How often everything is looked at without an event. As long as that finds nothing which the events missed, the pause
# doubles, so that a process at rest sleeps; once it does, as on a file system of another machine, it is short again.
SAFETY_CHECK_MS: Final = 1_000
SAFETY_CHECK_MAX_MS: Final = 4_000
# In a large workspace the pause is longer: the check takes at most a thousandth of a processor.
SAFETY_CHECK_SHARE: Final = 0.001
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

    def __init__(self, on_change: Callable[[Path, str | None], None], documents: Documents | None = None) -> None:
        """Make a watcher of nothing yet.

        Args:
            on_change: Called on the loop with the path of a document that was written, came or went, and the digest of
                its content; `None` where there is none to be read.
            documents: Whose `digest` tells contents apart.
        """
        self._on_change = on_change
        self._digest = (documents or Documents()).digest
        self._log = logging.getLogger(LOGGER_NAME)
        self._watched: dict[Path, _Watched] = {}
        # Set when there is something to look at: events, or another set of documents.
        self._stirred = asyncio.Event()
        self._events = FileEvents(self._stirred.set)
        # How long to sleep while nothing stirs.
        self._pause_s = 0.0
        # How long the last check took, in seconds of the processor.
        self._took_s = 0.0
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
        try:
            # Before it is looked at, so that no change falls between the two.
            self._events.listen(path.parent)
        except OSError:
            # The next check tries again, and says what is wrong.
            self._stirred.set()
        self._watched[path] = _Watched(1, _look(path, None, self._digest))
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    def discard(self, path: Path) -> None:
        """Take back one `add`. The next check notices when a directory is not needed any more."""
        watched = self._watched[path]
        watched.holders -= 1
        if not watched.holders:
            del self._watched[path]
            self._stirred.set()

    def wrote(self, path: Path, digest: str) -> None:
        """Report that this process wrote the document at `path`, of which nothing is reported again.

        Args:
            path: The document.
            digest: Of what it wrote.
        """
        watched = self._watched.get(path)
        if watched is None:
            return
        sight = _Sight(_stamp(path), digest)
        if sight != watched.sight:
            watched.sight = sight
            self._report(path, sight)
            # The stamp may be that of somebody who wrote right after. It is young, so the next check does not trust it.
            self._stirred.set()

    async def close(self) -> None:
        """Stop watching; nothing is reported after this returns."""
        self._closed = True
        self._stirred.set()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        while self._watched and not self._closed:
            stirred = await self._quiet()
            touched = self._events.take()
            directories, missed = await self._check(self._watched if touched is None else touched)
            if not stirred:
                self._pause_s = 0.0 if missed else self._pause_s * 2
            anew, failure = self._events.follow(directories)
            if anew:
                # What happened before there were events.
                await self._check({path for path in self._watched if path.parent in anew})
            if failure is not None:
                self._complain(failure)
                self._pause_s = 0.0
            longest_s = max(SAFETY_CHECK_MAX_MS / 1000, self._took_s / SAFETY_CHECK_SHARE)
            self._pause_s = max(min(self._pause_s, longest_s), SAFETY_CHECK_MS / 1000)
        self._events.close()

    async def _quiet(self) -> bool:
        """Wait until something has stirred and is quiet again, or until the safety check is due; return which."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._pause_s):
                await self._stirred.wait()
        except TimeoutError:
            return False
        latest = loop.time() + DEBOUNCE_MS / 1000
        while self._stirred.is_set() and loop.time() < latest and self._watched and not self._closed:
            self._stirred.clear()
            await asyncio.sleep(STEP_MS / 1000)
        return True

    def _complain(self, error: Exception) -> None:
        if not self._has_complained:
            self._has_complained = True
            # Most often the system has no watch left (`fs.inotify.max_user_watches`).
            self._log.warning(
                "no file events (%s); goal documents are looked at every %d ms instead", error, SAFETY_CHECK_MS
            )

    async def _check(self, touched: Collection[Path]) -> tuple[dict[Path, Identity], bool]:
        """Report the documents that are not as they were last seen.

        Args:
            touched: Paths that are read whatever their stamp says.

        Returns:
            The directories of the documents that are there now, with their identity, and whether anything was reported.
        """
        async with self._checking:
            known = {path: watched.sight for path, watched in self._watched.items()}
            found, directories, self._took_s = await asyncio.to_thread(_survey, known, touched, self._digest)
            reported = False
            for path, sight in found.items():
                watched = self._watched.get(path)
                # Whoever took the document out and in again meanwhile has seen something newer.
                if watched is not None and watched.sight is known[path] and sight != watched.sight:
                    watched.sight, reported = sight, True
                    self._report(path, sight)
            return directories, reported

    def _report(self, path: Path, sight: _Sight) -> None:
        if self._closed:
            return
        try:
            self._on_change(path, sight.digest)
        except Exception:  # noqa: BLE001 - one connection's mistake must not end the watch for all others
            self._log.exception("a change of a goal document was not handled")


def _survey(
    known: Mapping[Path, _Sight], touched: Collection[Path], digest: Callable[[Path], str | None]
) -> tuple[dict[Path, _Sight], dict[Path, Identity], float]:
    """Return how documents and their directories are now, and how long it took to look, in seconds of the processor."""
    began = time.thread_time()
    found = {path: _look(path, None if path in touched else sight, digest) for path, sight in known.items()}
    return found, _identities({path.parent for path in known}), time.thread_time() - began


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


def _identities(directories: Iterable[Path]) -> dict[Path, Identity]:
    """Return device and inode of those that are directories now."""
    found = {}
    for directory in directories:
        with suppress(OSError):
            facts = directory.stat()
            if stat.S_ISDIR(facts.st_mode):
                found[directory] = (facts.st_dev, facts.st_ino)
    return found
