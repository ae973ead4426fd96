"""Unsaved changes: which documents editors hold with text that no file has, and which deliveries wait for that to end.

Sessions fill it on the event loop, and deliveries ask in their threads.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# Start and end in code points of the editor's text, and what is to stand there.
SectionEdit: TypeAlias = "tuple[tuple[int, int], str]"


class Held(Protocol):
    """A document that an editor has open."""

    @property
    def version(self) -> int:
        """The editor's number for its text."""

    @property
    def text(self) -> str:
        """Its text. One that is read after the version is that version's or newer."""

    @property
    def is_unsaved(self) -> bool:
        """Whether the text has changes that are in no file."""

    def offer(self, version: int, text: str, edits: Sequence[SectionEdit]) -> None:
        """Ask the editor to make these edits, if it can and its text is still of that version. From any thread."""


class Unsaved:
    """What the editors of a process hold; safe to use from several threads."""

    def __init__(self) -> None:
        self._held: dict[Path, list[Held]] = {}
        # By document, the goal whose display is to be delivered once nobody has unsaved changes in it.
        self._waiting: dict[Path, str] = {}
        self._lock = threading.Lock()

    def open(self, path: Path, held: Held) -> None:
        """Take note that an editor opened the document at `path`."""
        with self._lock:
            self._held.setdefault(path, []).append(held)

    def close(self, path: Path, held: Held) -> None:
        """Take note that an editor closed it."""
        with self._lock:
            left = [other for other in self._held.pop(path, []) if other is not held]
            if left:
                self._held[path] = left

    def holders(self, path: Path) -> list[Held]:
        """Return who has unsaved changes in the document at `path`."""
        with self._lock:
            return self._holders(path)

    def wait(self, path: Path, goal_id: str) -> list[Held]:
        """Return who has unsaved changes in a document; if anybody has, the delivery of its goal waits for their end.

        Both in one moment, so that a save is either seen here or finds the delivery waiting.
        """
        with self._lock:
            holders = self._holders(path)
            if holders:
                self._waiting[path] = goal_id
            else:
                self._waiting.pop(path, None)
            return holders

    def ended(self, path: Path) -> str | None:
        """Return the goal whose delivery waits for unsaved changes to end, now that some may have; it waits no more."""
        with self._lock:
            return self._waiting.pop(path, None)

    def _holders(self, path: Path) -> list[Held]:
        return [held for held in self._held.get(path, ()) if held.is_unsaved]
