"""Files of another user, without being root: what the kernel says of an owner is answered for one file differently."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest


class _Facts:
    """What is known of a file, with another owner."""

    def __init__(self, found: os.stat_result) -> None:
        self._found = found
        self.st_uid = found.st_uid + 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found, name)


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file, directory or socket seem to belong to another user, for the rest of a test."""
    given = os.lstat(path).st_ino

    def disowning(call: Callable[..., os.stat_result]) -> Callable[..., Any]:
        def facts(*args: Any, **options: Any) -> Any:
            found = call(*args, **options)
            return _Facts(found) if found.st_ino == given else found

        return facts

    for name in ("fstat", "lstat"):
        monkeypatch.setattr(os, name, disowning(getattr(os, name)))
