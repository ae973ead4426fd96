"""File events: which files in some directories something happened to, as the kernel tells it.

Nobody waits for them: the kernel wakes the event loop, and a process in whose directories nothing happens sleeps.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from asyncinotify import Event, Inotify, Watch

# Device and inode.
Identity: TypeAlias = tuple[int, int]

# Events that are taken before others get their turn.
EVENTS_PER_TURN_MAX: Final = 256
# By name, because the library is loaded when the first directory is listened to.
_KINDS: Final = (
    *("CREATE", "MODIFY", "CLOSE_WRITE", "ATTRIB", "MOVED_FROM", "MOVED_TO", "DELETE"),
    *("DELETE_SELF", "MOVE_SELF", "ONLYDIR"),
)


class _Ear(NamedTuple):
    """How a directory is listened to: which one it is, when that is known, and by which watch of the kernel."""

    identity: Identity | None
    watch: Watch


class FileEvents:
    """What happens in directories. Lives on one event loop.

    A directory that is moved or removed takes its ear with it, even when another one comes in its place: `follow`
    notices.
    """

    def __init__(self, stirred: Callable[[], None]) -> None:
        """Listen to nothing yet.

        Args:
            stirred: Called on the loop when something has happened.
        """
        self._stirred = stirred
        self._inotify: Inotify | None = None
        self._ears: dict[Path, _Ear] = {}
        # A directory has one watch, under however many paths it is known.
        self._paths: dict[int, set[Path]] = {}
        self._touched: set[Path] = set()
        self._is_lost = False

    def listen(self, directory: Path, identity: Identity | None = None) -> None:
        """Listen to a directory, if that is not done yet.

        Args:
            directory: Where.
            identity: Which one it is, when that was looked up already.

        Raises:
            OSError: There is no such directory, or the system has no ear left.
        """
        if directory in self._ears:
            return
        # Not at the top: most daemons never watch a document, and all of them have to start fast.
        from asyncinotify import Inotify, Mask  # noqa: PLC0415

        if self._inotify is None:
            self._inotify = Inotify(cache_size=64)
            # The library means to ask for that and does not: its constant is that of another flag.
            os.set_blocking(self._inotify.fd, False)
            asyncio.get_running_loop().add_reader(self._inotify.fd, self._hear)
        kinds = Mask(0)
        for kind in _KINDS:
            kinds |= Mask[kind]
        watch = self._inotify.add_watch(directory, kinds)
        self._ears[directory] = _Ear(identity, watch)
        self._paths.setdefault(watch.wd, set()).add(directory)

    def follow(self, directories: Mapping[Path, Identity]) -> tuple[set[Path], OSError | None]:
        """Listen to these directories and to no others.

        Returns:
            Those that were not listened to until now, and the error of those that cannot be.
        """
        anew, failure = set(), None
        for directory in [*self._ears]:
            ear = self._ears[directory]
            if directory in directories and ear.identity in (None, directories[directory]):
                self._ears[directory] = ear._replace(identity=directories[directory])
            else:
                self._leave(directory)
        for directory, identity in directories.items():
            if directory not in self._ears:
                try:
                    self.listen(directory, identity)
                    anew.add(directory)
                except (FileNotFoundError, NotADirectoryError, PermissionError):
                    # It went away meanwhile, or nobody may look into it.
                    continue
                except OSError as error:
                    failure = error
        return anew, failure

    def take(self) -> set[Path] | None:
        """Return the paths that something happened to since the last time; `None` when it may have been any."""
        touched, is_lost = self._touched, self._is_lost
        self._touched, self._is_lost = set(), False
        return None if is_lost else touched

    def close(self) -> None:
        """Listen to nothing any more."""
        if self._inotify is not None:
            asyncio.get_running_loop().remove_reader(self._inotify.fd)
            self._inotify.close()
            self._inotify = None
        self._ears.clear()
        self._paths.clear()

    def _hear(self) -> None:
        """Take what the kernel has, some of it in each turn of the loop."""
        if self._inotify is None:
            return
        try:
            for _ in range(EVENTS_PER_TURN_MAX):
                if (event := self._inotify.sync_get()) is not None:
                    self._note(event)
        except BlockingIOError:
            # Nothing is left.
            pass
        else:
            # Not left to the kernel: the library may have taken more than it has given.
            asyncio.get_running_loop().call_soon(self._hear)
        self._stirred()

    def _note(self, event: Event) -> None:
        from asyncinotify import Mask  # noqa: PLC0415 - as above

        watch = event.watch
        if event.mask & Mask.Q_OVERFLOW or watch is None:
            self._is_lost = self._is_lost or bool(event.mask & Mask.Q_OVERFLOW)
            return
        directories = {*self._paths.get(watch.wd, ())}
        if event.name is None:
            self._touched.update(directories)
        else:
            self._touched.update(directory / event.name for directory in directories)
        if event.mask & (Mask.IGNORED | Mask.MOVE_SELF):
            for directory in directories:
                self._leave(directory)

    def _leave(self, directory: Path) -> None:
        watch = self._ears.pop(directory).watch
        self._paths[watch.wd].discard(directory)
        if not self._paths[watch.wd]:
            del self._paths[watch.wd]
            # It may be gone already, and its watch with it.
            with suppress(OSError):
                assert self._inotify is not None  # noqa: S101 - there are no ears without it
                self._inotify.rm_watch(watch)
