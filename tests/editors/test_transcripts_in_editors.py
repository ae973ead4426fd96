"""The shared transcripts, replayed through the connection that the client of each editor makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from lsp_playing import Replay
from relays import RELAYS, relay, tellable
from transcribing import GOLDEN, golden_of

from wire import Daemon

if TYPE_CHECKING:
    from pathlib import Path

# What `make editors` fetches first.
NAMES = [pytest.param(name, marks=pytest.mark.fetched) if name == "emacs-backports" else name for name in RELAYS]


def awaited(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of a transcript with what editors have of the message that it waits for."""
    return {"receive": tellable(line["receive"])} if "receive" in line else line


@pytest.mark.parametrize("name", NAMES)
def test_transcripts_are_replayed_through_an_editor(tmp_path: Path, name: str) -> None:
    """DM-001."""
    differ = {}
    with Daemon(tmp_path) as daemon, relay(name, daemon) as connect:
        for file in sorted(GOLDEN.glob("lsp/*.jsonl")):
            daemon.cwd = tmp_path / file.stem
            daemon.cwd.mkdir()
            with connect() as wire:
                replay = Replay(daemon, wire)
                try:
                    for line in golden_of(f"lsp/{file.name}"):
                        replay.go(awaited(line))
                except (AssertionError, TimeoutError, ConnectionError) as problem:
                    differ[file.stem] = repr(problem)

    assert differ == {}
