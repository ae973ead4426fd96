"""An open file, reduced to the calls that durability needs, and the one way to write to it."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import Final, Protocol

# No supported machine has smaller pages; larger ones are a multiple of it, and the kernel drops whole ones only.
PAGE_BYTES: Final = 4096


class File(Protocol):
    """What the journal needs of a file. Tests put one that fails in its place."""

    def write_at(self, data: bytes, offset: int) -> int:
        """Write with one call and return how many bytes it took."""

    def sync(self) -> None:
        """Return once the data, and the size needed to find it, are on the device."""

    def forget(self, offset: int, length: int) -> None:
        """Ask the kernel to drop its copy of these bytes."""

    def read_at(self, offset: int, length: int) -> bytes:
        """Read with one call."""

    def is_in_place(self) -> bool:
        """Tell whether the file still has its name: what is written to one without is lost with its descriptor."""

    def close(self) -> None:
        """Give the descriptor back; a second call does nothing."""


class WriteLost(OSError):
    """A write that reported success without having happened."""


def write_durably(file: File, data: bytes, offset: int) -> None:
    """Write, sync, read back, compare; each step once.

    Whole pages are dropped before they are read back. Where the kernel complies their bytes come from the device, all
    others from its cache; that still catches short and lying writes, and our own mistakes, but not the device's.

    Raises:
        OSError: What the first failing call reports, or `WriteLost`. How much of `data` the disk has is unknown then.

    Source: store.md section 3.
    """
    written = file.write_at(data, offset)
    if written != len(data):
        raise WriteLost(f"wrote {written} of {len(data)} bytes")
    file.sync()
    file.forget(offset, len(data))
    if file.read_at(offset, len(data)) != data:
        raise WriteLost("read back other bytes than were written")
    if not file.is_in_place():
        raise WriteLost("the file was removed or replaced")


def give_back(descriptor: int) -> None:
    """Close a descriptor. The kernel closes it whatever it reports, and what matters was synced before."""
    with contextlib.suppress(OSError):
        os.close(descriptor)


class DiskFile:
    """A `File` on a descriptor, which it owns."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write_at(self, data: bytes, offset: int) -> int:
        """See `File`."""
        return os.pwrite(self._descriptor, data, offset)

    def sync(self) -> None:
        """See `File`."""
        os.fdatasync(self._descriptor)

    def forget(self, offset: int, length: int) -> None:
        """See `File`."""
        # The pages at both ends stay: the next record goes on in the last one, and would have to wait until the device
        # has read it again, which doubles the time of a small commit.
        start = -(-offset // PAGE_BYTES) * PAGE_BYTES
        end = (offset + length) // PAGE_BYTES * PAGE_BYTES
        if start < end and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._descriptor, start, end - start, os.POSIX_FADV_DONTNEED)

    def read_at(self, offset: int, length: int) -> bytes:
        """See `File`."""
        return os.pread(self._descriptor, length, offset)

    def is_in_place(self) -> bool:
        """See `File`."""
        return os.fstat(self._descriptor).st_nlink > 0

    def close(self) -> None:
        """See `File`."""
        if self._descriptor >= 0:
            give_back(self._descriptor)
            self._descriptor = -1


def describe(error: BaseException) -> str:
    """Return a failure in words that hold no stored text.

    >>> describe(OSError(errno.ENOSPC, "No space left on device"))
    'ENOSPC: No space left on device'
    """
    if isinstance(error, OSError) and error.errno is not None:
        return f"{errno.errorcode.get(error.errno, error.errno)}: {error.strerror}"
    return str(error) if isinstance(error, OSError) else type(error).__name__
