"""`stateward lsp`: an editor's standard input and output, joined to the daemon's socket.

The main thread carries what the daemon says to the editor, a second one the other way; each blocks on its own side, so
a slow reader slows down only its writer. When the daemon goes away unasked, the main thread starts another one and
tells it what the editor had said. Source: protocol.md section 7, daemon.md section 3.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from stateward.printable import printable
from stateward_daemon.exits import EXIT_FINDINGS, EXIT_OK, EXIT_UNAVAILABLE
from stateward_daemon.replay import Replay, head_of, restart_notices
from stateward_protocol.errors import WireError
from stateward_protocol.framing import FrameReader, Framing, frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


# A daemon that dies on what this editor sends would be started and killed for ever.
LOSSES_MAX: Final = 5
LOSS_INTERVAL_S: Final = 60.0
# A daemon that was killed takes connections until the kernel has closed its socket; to lose it once more is one loss.
ONE_LOSS_S: Final = 0.5

_READ_BYTES: Final = 256 * 1024
# By number: the streams of `sys` have buffers and locks of their own, and a thread that reads one hinders the exit.
_STANDARD_INPUT: Final = 0
_STANDARD_OUTPUT: Final = 1


class Lost(Exception):
    """The daemon is gone for good, for the reason in the message."""


class Bridge:
    """One editor and whichever daemon serves it.

    Invariant: only the main thread writes to the editor, and whoever writes to the daemon holds `_sending`. So a new
    daemon hears the replay first and then what the editor has said meanwhile, in order.
    """

    def __init__(self, connect: Callable[[], socket.socket], editor_in: int, editor_out: int) -> None:
        """Connect to the daemon.

        Args:
            connect: Returns a connection, starting a daemon where there is none.
            editor_in: The descriptor on which the editor speaks.
            editor_out: The descriptor on which it listens.

        Raises:
            WireError: What `connect` raises.
        """
        self._connect = connect
        self._editor_in, self._editor_out = editor_in, editor_out
        self._from_editor = FrameReader()
        self._replay = Replay()
        self._losses: deque[float] = deque(maxlen=LOSSES_MAX)
        self._sending = threading.Lock()
        # Whether the editor has closed its side; there is nothing left to say to a daemon then.
        self._ended = False
        self._fault: str | None = None
        self._use(connect())

    def run(self) -> int:
        """Carry messages until the editor or the daemon has ended; return the exit status.

        Raises:
            WireError: No daemon could be started in place of a lost one.
        """
        threading.Thread(target=self._carry_to_daemon, daemon=True).start()
        try:
            self._carry_to_editor()
        except Lost as lost:
            sys.stderr.write(f"stateward: {printable(str(lost))}\n")
            return EXIT_FINDINGS
        except BrokenPipeError:
            # The editor no longer listens, and has no use for a reason.
            return EXIT_FINDINGS
        finally:
            with self._sending:
                unanswered = list(self._replay.fail_pending())
            # Nobody else answers what the editor has asked, if it still listens.
            with suppress(OSError):
                self._tell_all(unanswered)
            self._daemon.close()
        return EXIT_OK

    # -- from the editor --

    def _carry_to_daemon(self) -> None:
        try:
            while received := os.read(self._editor_in, _READ_BYTES):
                self._from_editor.feed(received)
                while (body := self._from_editor.next_body()) is not None:
                    self._tell_daemon(body)
        except WireError as error:
            self._fault = f"the editor's input is no LSP: {error.message}"
        except OSError as error:
            self._fault = f"the editor's input cannot be read: {error.strerror}"
        with self._sending:
            self._ended = True
            # Only our half: answers to what was asked may still come.
            self._shut(socket.SHUT_WR if self._fault is None else socket.SHUT_RDWR)

    def _tell_daemon(self, body: bytes) -> None:
        with self._sending:
            if self._replay.from_editor(body):
                # A daemon that is gone is noticed where it is read from, and this message is in the replay.
                with suppress(OSError):
                    self._send(body)

    def _send(self, body: bytes) -> None:
        self._daemon.sendall(frame(body, Framing.HEADERS))

    # -- from the daemon --

    def _carry_to_editor(self) -> None:
        while True:
            for body in self._daemon_says():
                self._replay.from_daemon(body)
                self._tell_editor(body)
            if self._fault is not None:
                raise Lost(self._fault)
            if self._ended or self._replay.leaving:
                return
            self._recover()

    def _daemon_says(self) -> Iterator[bytes]:
        """Yield what the daemon says until its connection ends."""
        while True:
            while (body := self._from_daemon.next_body()) is not None:
                yield body
            try:
                received = self._daemon.recv(_READ_BYTES)
            except OSError:
                return
            if not received:
                return
            self._from_daemon.feed(received)

    def _tell_editor(self, body: bytes) -> None:
        rest = memoryview(frame(body, self._from_editor.framing or Framing.HEADERS))
        while rest:
            rest = rest[os.write(self._editor_out, rest) :]

    def _tell_all(self, bodies: Iterable[bytes]) -> None:
        for body in bodies:
            self._tell_editor(body)

    # -- when the daemon is gone --

    def _recover(self) -> None:
        """Start another daemon and hand the conversation over to it."""
        now = time.monotonic()
        is_another = not self._losses or now - self._losses[-1] >= ONE_LOSS_S
        if is_another:
            self._losses.append(now)
        if len(self._losses) == LOSSES_MAX and now - self._losses[0] < LOSS_INTERVAL_S:
            raise Lost(f"the daemon was lost {LOSSES_MAX} times in a short time; see stateward daemon logs")
        with self._sending:
            if self._replay.overflown:
                raise Lost("the daemon was lost, and the open documents are too large to hand over; restart the editor")
            self._daemon.close()
            self._use(self._connect())
            unanswered = list(self._replay.fail_pending())
            # A daemon that is lost again in the middle of this is noticed when it is read from.
            with suppress(OSError):
                self._hand_over()
            if self._ended:
                self._shut(socket.SHUT_WR)
        # Not while we hold the lock: the editor may read only after it has got rid of what it writes.
        self._tell_all([*unanswered, *(restart_notices() if is_another else ())])

    def _hand_over(self) -> None:
        replay = self._replay
        if replay.initialize is None:
            return
        self._send(replay.initialize)
        if replay.answered:
            self._skip_answer(head_of(replay.initialize).id)
        if replay.initialized is not None:
            self._send(replay.initialized)
            for body in replay.documents():
                self._send(body)

    def _skip_answer(self, identifier: int | str | None) -> None:
        """Read up to the answer to `initialize`, which the editor has had from an earlier daemon."""
        for body in self._daemon_says():
            head = head_of(body)
            if head.method is None and head.id == identifier:
                return
            self._replay.from_daemon(body)
            self._tell_editor(body)

    def _use(self, daemon: socket.socket) -> None:
        self._daemon = daemon
        self._from_daemon = FrameReader(sys.maxsize)

    def _shut(self, side: int) -> None:
        with suppress(OSError):
            self._daemon.shutdown(side)


def run(connect: Callable[[], socket.socket]) -> int:
    """Bridge standard input and output until the editor leaves; return the exit status."""
    try:
        return Bridge(connect, _STANDARD_INPUT, _STANDARD_OUTPUT).run()
    except WireError as error:
        reason = error.data.get("reason", "")
        last_line = str(reason).rpartition("\n")[2]
        sys.stderr.write(f"stateward: {printable(error.message)}{': ' if last_line else ''}{printable(last_line)}\n")
        return EXIT_UNAVAILABLE
