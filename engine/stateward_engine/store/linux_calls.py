"""What Linux does and tells, and Python's library has no function for, or none that is safe to use as it is."""

from __future__ import annotations

import errno
import fcntl
import functools
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_PR_SET_DUMPABLE: Final = 4
_RENAME_NOREPLACE: Final = 1
_RENAME_EXCHANGE: Final = 2


def exchange_names(directory: int, one: str, other: str) -> None:
    """Let two names of a directory trade what they stand for, at one moment.

    Raises:
        FileNotFoundError: One of them is not there.
        OSError: Also `EINVAL` or `ENOSYS` where the file system or the kernel cannot do it; see `is_unsupported`.

    Source: renameat2(2), `RENAME_EXCHANGE`.
    """
    _renameat2(directory, one, other, _RENAME_EXCHANGE)


def rename_to_free_name(directory: int, source: str, target: str) -> None:
    """Rename within a directory, unless something stands at `target`.

    Raises:
        FileExistsError: Something does; it stays as it is.
        OSError: As for `exchange_names`.

    Source: renameat2(2), `RENAME_NOREPLACE`.
    """
    _renameat2(directory, source, target, _RENAME_NOREPLACE)


def is_unsupported(error: OSError) -> bool:
    """Tell whether `error` means that this file system or kernel does not know the call at all."""
    return error.errno in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


def is_open_for_writing(descriptor: int) -> bool:
    """Tell whether any process, this one included, could still write to the file through what it has open.

    Asked with a read lease, which the kernel grants only while nobody can; it is given back at once. A file system
    without leases, or a file of another user, gives no answer: then it is `False`, and the bytes must speak alone.

    Source: fcntl(2), `F_SETLEASE`.
    """
    try:
        # Whoever opens the file for writing while the lease is held makes the kernel send a signal. The usual one would
        # end the process; this one is ignored.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def file_system_of(descriptor: int) -> str | None:
    """Return the type of the file system that an open file is on, such as `ext4`; `None` where the kernel hides it.

    Source: proc(5), `fdinfo` and `mountinfo`. The device number would not do: some file systems have one per volume.
    """
    try:
        facts = dict(line.split(":", 1) for line in Path(f"/proc/self/fdinfo/{descriptor}").read_text().splitlines())
        for line in Path("/proc/self/mountinfo").read_bytes().decode(errors="replace").splitlines():
            fields = line.split(" ")
            if fields[0] == facts["mnt_id"].strip():
                return fields[fields.index("-") + 1]
    except (OSError, KeyError, ValueError):
        return None
    return None


def keep_memory_private() -> None:
    """Let no other process of this user look into this one or at its environment, and no dump be made of it.

    Source: prctl(2), `PR_SET_DUMPABLE`; security.md row 26.
    """
    # As in `_c_renameat2`.
    import ctypes  # noqa: PLC0415

    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0)


def _renameat2(directory: int, source: str, target: str, flags: int) -> None:
    number = _c_renameat2()(directory, os.fsencode(source), directory, os.fsencode(target), flags)
    if number:
        raise OSError(number, os.strerror(number), source, None, target)


@functools.cache
def _c_renameat2() -> Callable[[int, bytes, int, bytes, int], int]:
    """Return the C library's `renameat2`, as a function that returns 0 or the error number."""
    # Not at the top: who only reads never needs it.
    import ctypes  # noqa: PLC0415

    library = ctypes.CDLL(None, use_errno=True)
    function = getattr(library, "renameat2", None)
    if function is None:  # an older C library
        return lambda *_: errno.ENOSYS
    function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return lambda *arguments: ctypes.get_errno() if function(*arguments) else 0
