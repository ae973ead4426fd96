"""The lookout: a document is watched together with the files that say what its project wants to see of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from stateward_daemon.watch import Watcher


class Lookout:
    """What one connection, or whoever else looks at documents, has watched."""

    def __init__(self, watcher: Watcher, roots: Callable[[], Collection[Path]] = tuple) -> None:
        """Watch nothing yet.

        Args:
            watcher: Watches for all connections.
            roots: Gives the directories that a client has open.
        """
        self._watcher = watcher
        self._roots = roots
        # Of each `add` what it watches: other directories may be open when it is taken back.
        self._watched: dict[Path, list[tuple[Path, ...]]] = {}

    def add(self, path: Path) -> None:
        """Watch the document at `path` and what decides about it. Each `add` needs its own `discard`."""
        # Here, because no start should wait for what reads a document.
        from stateward_daemon.configuration import places_of_files  # noqa: PLC0415

        together = (path, *places_of_files(path, self._roots()))
        self._watched.setdefault(path, []).append(together)
        for each in together:
            self._watcher.add(each)

    def discard(self, path: Path) -> None:
        """Take back one `add`."""
        added = self._watched[path]
        for each in added.pop():
            self._watcher.discard(each)
        if not added:
            del self._watched[path]
