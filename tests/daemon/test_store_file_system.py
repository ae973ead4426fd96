"""A store on a file system that machines share: the setting reaches every way to write to it."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import pytest

import stateward
from stateward.location import Place
from stateward_daemon import lifecycle
from stateward_daemon.settings import Settings
from stateward_engine.errors import StoreUnavailable
from stateward_engine.store import linux_calls
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux_calls, "file_system_of", lambda _: "nfs4")


def test_a_program_without_a_daemon_refuses_it_unless_the_environment_allows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change() -> None:
        with stateward.connect(store=tmp_path / "store", cwd=tmp_path, start="embedded") as client:
            client.patch_state({"cwd": {"tactics": {"kept": 1}}})

    with pytest.raises(WireError, match="nfs4") as refused:
        change()
    assert refused.value.data["reason_code"] == "shared_file_system"

    monkeypatch.setenv("STATEWARD_STORE_FILE_SYSTEM", "any")
    change()


def test_the_daemon_refuses_it_unless_its_setting_allows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Reached(Exception):
        """The store is open, and the daemon would listen."""

    def listen(*_: object) -> None:
        raise Reached

    def serve(settings: Settings) -> None:
        nothing: Any = None
        asyncio.run(lifecycle._serve(Place(tmp_path / "store"), tmp_path / "socket", settings, nothing, nothing))

    monkeypatch.setattr(lifecycle, "Listener", listen)
    monkeypatch.setattr(sys, "setrecursionlimit", lambda _: None)

    with pytest.raises(StoreUnavailable, match="nfs4"):
        serve(Settings())
    with pytest.raises(Reached):
        serve(Settings(store_file_system="any"))
