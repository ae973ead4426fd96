"""One command of the command line, run in this process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from stateward_daemon.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable


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
