"""The standard streams: UTF-8 whatever the locale says, and a write that fails is told as what it is.

Source: protocol.md section 6.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STANDARD: Final = {0: os.O_RDONLY, 1: os.O_RDONLY, 2: os.O_WRONLY}


class OutputFault(Exception):
    """Standard output takes no more; the message says why. No `OSError`, so that nobody takes it for another one."""


class _Output(io.FileIO):
    """Standard output, whose failures are no mistake of the program."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, or raise `OutputFault`; a reader that has left stays a `BrokenPipeError`."""
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputFault(f"standard output cannot be written: {error.strerror}") from None


def prepare_streams() -> None:
    """Make the streams of the process fit for what the verbs print."""
    _occupy_closed_ones()
    # Not where somebody else took over, as a test runner does.
    if sys.stdout is sys.__stdout__:
        raw = _Output(1, "w", closefd=False)
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), line_buffering=raw.isatty())
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 - a descriptor, and for as long as we run
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # JSON is UTF-8 whatever the locale says, and no text of a user may end a verb with an encoding error.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def silence(stream: TextIO) -> None:
    """Let nobody hear what is written from here on. Python would complain once more when it flushes at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _occupy_closed_ones() -> None:
    """Fill the places of standard streams that are closed: else the next file opened would become one of them.

    Standard output gets what cannot be written, so that printing to a closed one fails as it should.
    """
    for descriptor, flags in _STANDARD.items():
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is taken, and those below are taken already.
            os.open(os.devnull, flags)
            os.set_inheritable(descriptor, True)
