"""A terminal without a window: what a program draws is read from its screen as a person would."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from typing import TYPE_CHECKING, Final, Self

import pyte

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

COLUMNS: Final = 120
ROWS: Final = 50
PATIENCE_S: Final = 120.0
# A program that has drawn nothing for so long has drawn what it had to.
STILL_S: Final = 0.5


class _Screen(pyte.Screen):
    """One that is asked about keys, as Vim does, and says nothing; pyte takes the question for a color."""

    def select_graphic_rendition(self, *attributes: int, private: bool = False) -> None:
        if not private:
            super().select_graphic_rendition(*attributes)


class Terminal:
    """A program in a terminal of its own; it is killed at the end."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        self._screen = _Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self._terminal, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._program = subprocess.Popen(
            # A program that draws wants the terminal to be the one that controls it.
            ["/usr/bin/env", "setsid", "--ctty", *command],
            cwd=folder,
            env={**environment, "TERM": "xterm-256color"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._program.kill()
        self._program.wait()
        os.close(self._terminal)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._terminal, keys.encode())

    def until(self, words: str) -> str:
        """Return the screen once the words are on it and nothing more is drawn.

        Raises:
            TimeoutError: They do not come, or the program ends.
        """
        ends = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends:
            if not self._take_in() and words in (shown := self.shown()):
                return shown
        raise TimeoutError(f"{words!r} did not come:\n{self.shown()}")

    def _take_in(self) -> bool:
        """Let the program draw for a moment; return whether it did."""
        if not select.select([self._terminal], [], [], STILL_S)[0]:
            return False
        try:
            self._stream.feed(os.read(self._terminal, 1 << 16))
        except OSError:
            # Nobody has the other side any more.
            raise TimeoutError(f"the program has ended:\n{self.shown()}") from None
        return True

    def shown(self) -> str:
        """Return the screen; below what stands out there is a line of `~`."""
        lines = []
        for number, line in enumerate(self._screen.display):
            row = self._screen.buffer[number]
            marks = "".join("~" if _stands_out(row[column]) else " " for column in range(COLUMNS))
            lines += [text.rstrip() for text in (line, marks) if text is line or text.strip()]
        return "\n".join(lines).rstrip() + "\n"


def _stands_out(cell: pyte.screens.Char) -> bool:
    """Tell whether a cell is underlined, or bold in a color on the usual ground, as a terminal without waves has it."""
    return cell.underscore or (cell.bold and cell.fg != "default" and cell.bg == "default")
