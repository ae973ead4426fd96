"""Finds the goal documents of a workspace folder. It looks at the disk, so it runs in a thread."""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING, Final

from stateward_daemon.documents import GOAL_FILE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# A folder can be a home directory, or the root of a disk. What lies nearest to it is found first, and the search ends
# here: about half a second of work on a warm disk.
DIRECTORIES_MAX: Final = 20_000
# Goals that one folder contributes; each is watched, read and shown.
DOCUMENTS_MAX: Final = 500
# Full of other people's files. Hidden directories, `.git` and `.venv` among them, are skipped anyway.
SKIPPED: Final = frozenset({"node_modules", "venv", "__pycache__"})


def find_goal_documents(folder: Path) -> list[Path]:
    """Return the relative paths of the goal documents below `folder`, nearest first, at most `DOCUMENTS_MAX`.

    Links to directories are not followed, so no directory is visited twice. Directories that cannot be read hold none.
    """
    found: list[Path] = []
    for directory, names in _walk(folder):
        if GOAL_FILE_NAME in names:
            found.append((directory / GOAL_FILE_NAME).relative_to(folder))
        if len(found) == DOCUMENTS_MAX:
            break
    return found


def _walk(folder: Path) -> Iterator[tuple[Path, set[str]]]:
    """Yield directories with the names of their files, breadth first, names in order."""
    due = deque([folder])
    for _ in range(DIRECTORIES_MAX):
        if not due:
            return
        directory = due.popleft()
        subdirectories, files = _entries(directory)
        due += (directory / name for name in sorted(subdirectories))
        yield directory, files


def _entries(directory: Path) -> tuple[set[str], set[str]]:
    subdirectories, files = set(), set()
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    files.add(entry.name)
                elif not entry.name.startswith(".") and entry.name not in SKIPPED:
                    subdirectories.add(entry.name)
    except OSError:
        return set(), set()
    return subdirectories, files
