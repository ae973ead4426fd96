"""One command of the command line, run in this process, and a stand-in for the daemon that it finds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from stand_in import Message, StandIn, attached, lock_file
from stateward.location import Announcement
from stateward_daemon.cli import main
from stateward_protocol import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Printed:
    """What one command printed."""

    def __init__(self, status: int, capsys: pytest.CaptureFixture[str]) -> None:
        self.status = status
        self.out, self.err = capsys.readouterr()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Printed]:
    return lambda *arguments: Printed(main(arguments), capsys)


@pytest.fixture
def serve(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any], StandIn]]:
    """Put a stand-in where the command line finds its daemon."""
    started: list[StandIn] = []

    def start(answer: Callable[[Message], list[Message]]) -> StandIn:
        def with_attach(message: Message) -> list[Message]:
            return attached(message) if message["method"] == "attach" else answer(message)

        started.append(StandIn(folder / "d.sock", with_attach))
        (folder / "store").mkdir()
        announced = Announcement(42, str(folder / "d.sock"), __version__)
        (folder / "store/lock").write_bytes(lock_file(announced))
        monkeypatch.setenv("STATEWARD_STORE", str(folder / "store"))
        return started[-1]

    yield start
    for stand_in in started:
        stand_in.close()


def params_of(stand_in: StandIn, method: str) -> Any:
    return next(message["params"] for _, message in stand_in.received if message["method"] == method)
