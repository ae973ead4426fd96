"""Trying again, with growing pauses, until a deadline."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

PAUSE_FIRST_S: Final = 0.005
# Without a ceiling, doubling would soon sleep through the moment that is waited for.
PAUSE_S_MAX: Final = 0.2


def attempts(deadline: float) -> Iterator[None]:
    """Yield at once, then again after each pause, until `deadline` on the monotonic clock; one last time at the end."""
    pause_s = PAUSE_FIRST_S
    yield
    while (left_s := deadline - time.monotonic()) > 0:
        time.sleep(min(pause_s, left_s))
        pause_s = min(2 * pause_s, PAUSE_S_MAX)
        yield
