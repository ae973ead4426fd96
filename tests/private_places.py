"""Places of a user of our own: no test sees the daemon, store or log of whoever runs it.

A folder of tests imports these fixtures into its `conftest.py`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def folder() -> Iterator[Path]:
    """A private directory with a path short enough for sockets, which pytest's own is not."""
    with tempfile.TemporaryDirectory(prefix="sw") as name:
        yield Path(name).resolve()


@pytest.fixture
def user(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Home and runtime directories below `folder`, and no settings in the environment."""
    named = [f"STATEWARD_{name}" for name in ("STORE", "SOCKET", "SESSION", "GOAL")]
    for name in (*named, "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("home", "run"):
        (folder / name).mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder / "run"))
