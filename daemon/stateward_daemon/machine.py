"""What this machine is called in a store that several machines share."""

from __future__ import annotations

import hashlib
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stateward.location import ensure_private_directory
from stateward_engine.authority.goal import Machine

if TYPE_CHECKING:
    from stateward_daemon.settings import Settings

_SYSTEM: Final = Path("/etc/machine-id")
_KEPT: Final = "machine-id"
_ID_DIGITS: Final = 16


def this_machine(settings: Settings, data: Path) -> Machine:
    """Return the name of this machine: of the settings, else that of the system, else one that is made and kept.

    Args:
        settings: Of the daemon.
        data: The directory that holds what this user keeps.

    Raises:
        WireError: As for `ensure_private_directory`, where a name has to be kept.
    """
    return Machine(settings.machine or _of_system() or _kept(data), socket.gethostname())


def _of_system() -> str | None:
    with suppress(OSError):
        found = _SYSTEM.read_text(encoding="ascii", errors="replace").strip()
        # The number itself is not for others to see (machine-id(5)), and an image that was never booted has none.
        if found and found != "uninitialized":
            return hashlib.sha256(b"stateward" + found.encode()).hexdigest()[:_ID_DIGITS]
    return None


def _kept(data: Path) -> str:
    ensure_private_directory(data)
    path = data / _KEPT
    # Whoever comes first makes it, in one call that nobody else's can come between.
    made = data / f"{_KEPT}.{os.getpid()}.tmp"
    made.write_text(os.urandom(_ID_DIGITS // 2).hex(), encoding="ascii")
    with suppress(FileExistsError):
        os.link(made, path)
    made.unlink()
    return path.read_text(encoding="ascii")
