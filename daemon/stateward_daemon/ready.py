"""The ready pipe: how a daemon tells whoever started it that it listens, or why it cannot."""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from stateward_protocol.errors import WireError

VARIABLE: Final = "STATEWARD_READY_FD"


class ReadyPipe:
    """The inherited end of the starter's pipe, or nothing when a person started the daemon.

    The starter reads one line: `R`, or `E` and an error object. End of file before either means that the daemon died.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    @classmethod
    def inherited(cls) -> ReadyPipe:
        """Take the pipe that the environment names; the variable is removed, so that no child takes it for its own."""
        number = os.environ.pop(VARIABLE, "")
        descriptor = int(number) if number.isdigit() else None
        if descriptor is not None:
            os.set_inheritable(descriptor, False)
        return cls(descriptor)

    @property
    def connected(self) -> bool:
        """Whether a starter waits at the other end."""
        return self._descriptor is not None

    def ready(self) -> None:
        """Say that the daemon listens."""
        self._say(b"R\n")

    def failed(self, error: WireError) -> None:
        """Say why it does not."""
        self._say(b"E" + json.dumps(error.to_error()).encode("ascii") + b"\n")

    def _say(self, line: bytes) -> None:
        if self._descriptor is not None:
            # A starter that gave up has closed its end; the daemon is for others, too.
            with contextlib.suppress(BrokenPipeError):
                os.write(self._descriptor, line)
            os.close(self._descriptor)
            self._descriptor = None
