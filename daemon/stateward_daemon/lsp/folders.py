"""Folders: the workspace folders of one connection and the goal documents in them, open in the editor or not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from stateward_daemon.documents import GOAL_FILE_NAME, resolved
from stateward_daemon.lsp.scan import DOCUMENTS_MAX, find_goal_documents
from stateward_daemon.lsp.uris import directory_of, uri_below

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from stateward_daemon.lookout import Lookout


class Folders:
    """Which goal documents the client's workspace holds, each watched for as long as its folder is open.

    A goal document is known by its name, or because a goal has it: then it may be called anything, and be hidden.

    Attributes:
        goals: The URI of each document by its path, in the spelling of the client. A document need not exist: that of
            the folder itself is waited for.
    """

    def __init__(self, watcher: Lookout, show: Callable[[str], None]) -> None:
        """Begin without folders.

        Args:
            watcher: Told which documents to watch.
            show: Called with the URI of a document that has been found or is not looked after any more.
        """
        self.goals: dict[Path, str] = {}
        self._paths: dict[str, Path] = {}
        self._registered: Collection[str] = ()
        self._watcher = watcher
        self._show = show
        self._open: dict[str, set[Path]] = {}
        # What is being looked through, and which folder that is.
        self._scans: dict[asyncio.Task[None], str] = {}

    def change(self, *, added: Iterable[str], removed: Iterable[str] = ()) -> None:
        """Take and drop folders by URI, then look for goal documents in the background.

        All folders are looked through again, because a dropped one may lie around one that stays.
        """
        for folder in removed:
            for path in self._open.pop(folder, ()):
                self._forget(path)
        for folder in added:
            self._open.setdefault(folder, set())
        for folder in self._open:
            scan = asyncio.get_running_loop().create_task(self._scan(folder))
            self._scans[scan] = folder
            scan.add_done_callback(self._scans.pop)

    def adopt(self, folder: str, path: Path, uri: str) -> None:
        """Look after one document of a folder from now on."""
        owned = self._open.get(folder)
        if owned is not None and path not in self.goals and len(self.goals) < DOCUMENTS_MAX:
            self.goals[path], self._paths[uri] = uri, path
            owned.add(path)
            # Watched before it is shown, so that no change falls between the two.
            self._watcher.add(path)
            self._show(uri)

    def respell(self, path: Path, uri: str) -> None:
        """Take over the spelling that the client uses for a document of a folder, so that it has one URI."""
        former = self.goals.get(path, uri)
        if former != uri:
            self.goals[path], self._paths[uri] = uri, path
            del self._paths[former]
            self._show(former)

    @property
    def open(self) -> list[str]:
        """The folders, by URI."""
        return list(self._open)

    def all_goals(self) -> dict[Path, str]:
        """Return `goals` and what they will have when all folders were looked through. It looks: from a thread."""
        found = dict(self.goals)
        for folder in set(self._scans.copy().values()):
            if (root := directory_of(folder)) is not None:
                for relative in find_goal_documents(root):
                    found.setdefault(resolved(root / relative), uri_below(folder, relative))
        return found

    @property
    def roots(self) -> set[Path]:
        """The directories that they are."""
        return {root for folder in self._open if (root := directory_of(folder)) is not None}

    def path(self, uri: str) -> Path | None:
        """Return the path of a document that is looked after, `None` for every other one."""
        return self._paths.get(uri)

    def look(self, registered: Collection[str]) -> None:
        """Look after the documents that goals have now, and let go of those that none has any more.

        Args:
            registered: Their real paths.
        """
        self._registered = registered
        for owned in self._open.values():
            for path in [path for path in owned if not self._is_goal(path)]:
                owned.discard(path)
                self._forget(path)
        for folder in self._open:
            self._adopt_registered(folder)

    def folder_of(self, uri: str) -> str | None:
        """Return the folder that a URI lies in, or `None`."""
        return next((folder for folder in self._open if uri.startswith(f"{folder.rstrip('/')}/")), None)

    def close(self) -> None:
        """Let go of everything; nothing is shown any more."""
        for scan in self._scans:
            scan.cancel()
        for path in self.goals:
            self._watcher.discard(path)
        self.goals.clear()
        self._paths.clear()
        self._open.clear()

    def _is_goal(self, path: Path) -> bool:
        return path.name == GOAL_FILE_NAME or str(path) in self._registered

    def _forget(self, path: Path) -> None:
        self._watcher.discard(path)
        uri = self.goals.pop(path)
        del self._paths[uri]
        self._show(uri)

    def _adopt_registered(self, folder: str) -> None:
        root = directory_of(folder)
        if root is None:
            return
        for path in map(Path, self._registered):
            if path.is_relative_to(root):
                self.adopt(folder, path, uri_below(folder, path.relative_to(root)))

    async def _scan(self, folder: str) -> None:
        root = directory_of(folder)
        if root is None:
            return
        self._adopt_registered(folder)
        self.adopt(folder, resolved(root / GOAL_FILE_NAME), uri_below(folder, Path(GOAL_FILE_NAME)))
        for relative in await asyncio.to_thread(find_goal_documents, root):
            self.adopt(folder, resolved(root / relative), uri_below(folder, relative))
            # Each one is read when it is first watched; others are served in between.
            await asyncio.sleep(0)
