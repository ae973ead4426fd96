"""Exit statuses, and what leads to which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from stateward_protocol.errors import WireError

EXIT_OK: Final = 0
# Findings of a linter, a refusal, or an editor whose session is lost.
EXIT_FINDINGS: Final = 1
EXIT_USAGE: Final = 2
EXIT_UNAVAILABLE: Final = 3
# As shells report a program that was interrupted.
EXIT_INTERRUPTED: Final = 130

# The call may have been right; nothing could take it. Everything else is a refusal of the call itself.
_UNAVAILABLE: Final = frozenset({"store_unavailable", "corrupt_store", "busy", "shutting_down"})


class UsageFault(Exception):
    """The command line itself is wrong; the message says what and what to do.

    Attributes:
        category: That of an error answer which says the same.
    """

    def __init__(self, message: str, category: str = "invalid_request") -> None:
        super().__init__(message)
        self.category = category


def exit_of(error: WireError) -> int:
    """Return the exit status for an error answer."""
    return EXIT_UNAVAILABLE if error.category in _UNAVAILABLE else EXIT_FINDINGS
