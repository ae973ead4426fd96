"""The channel: what carries the messages of one client, as those who send and receive them see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


class Outlet(Protocol):
    """What takes messages to one client."""

    @property
    def clogged(self) -> bool:
        """Whether something that was sent has not left yet, so that what is told unasked should wait."""

    def send(self, body: bytes) -> None:
        """Send one JSON body; framing is the connection's."""


class Channel(Outlet, Protocol):
    """A connection, or a recorder in a test."""

    @property
    def paused(self) -> bool:
        """Whether the client does not read what it was sent, so that nothing but answers should follow."""

    def close(self) -> None:
        """Take no further message, and end the connection once every request is answered."""

    def work(self, job: Callable[[], Any], done: Callable[[Any], None], failed: Callable[[Exception], None]) -> None:
        """Run `job` in a thread, then `done` with its result or `failed`; no further message is received meanwhile."""
