"""The ways in which each call can fail, as a table; errors are those that the kernel documents for the call."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from store.faults import disk

if TYPE_CHECKING:
    from store.faults.disk import Effect


@dataclass(frozen=True, slots=True)
class Failure:
    """One row: a call and what it does instead."""

    call: str
    how: str
    effect: Effect = field(repr=False)

    def __str__(self) -> str:
        return f"{self.call} {self.how}"


_ERRORS: Final = {
    "open": "EIO ENOSPC EDQUOT EMFILE ENFILE EACCES EROFS ELOOP ENOMEM",
    "stat": "EIO EACCES",
    "fstat": "EIO ENOMEM",
    "listdir": "EIO EMFILE",
    "mkdir": "EIO ENOSPC EDQUOT EROFS",
    "fchmod": "EIO EPERM EROFS",
    "flock": "EWOULDBLOCK ENOLCK",
    "write": "EIO ENOSPC EDQUOT EROFS",
    "pwrite": "EIO ENOSPC EDQUOT EROFS",
    "fdatasync": "EIO ENOSPC EDQUOT EROFS",
    "fsync": "EIO ENOSPC EDQUOT EROFS",
    "posix_fadvise": "EIO",
    "posix_fallocate": "EIO ENOSPC EOPNOTSUPP",
    "ftruncate": "EIO ENOSPC",
    "pread": "EIO",
    "rename": "EIO ENOSPC EDQUOT EXDEV EROFS",
    "exchange_names": "EIO ENOSPC EINVAL EROFS",
    "rename_to_free_name": "EIO ENOSPC EINVAL EROFS",
    "link": "EIO ENOSPC EPERM EROFS",
    "unlink": "EIO EROFS EPERM",
    "rmdir": "EIO EROFS",
}

ERRORS: Final = tuple(
    Failure(call, name, disk.fails(getattr(errno, name))) for call, names in _ERRORS.items() for name in names.split()
)
# What does not even report an error, or does something before it does.
LIES: Final = tuple(
    Failure(call, effect.__name__, effect)
    for call, effects in {
        "pwrite": (disk.fills_the_disk, disk.is_short, disk.lies_about_half, disk.does_nothing, disk.garbles),
        "close": (disk.complains,),
        "pread": (disk.reads_short, disk.reads_nothing),
    }.items()
    for effect in effects
)
FAILURES: Final = (*ERRORS, *LIES)
