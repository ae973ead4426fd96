"""A document at one moment: what it is, what it holds and whether anybody is writing to it."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from stateward_engine.errors import NotPublished
from stateward_engine.store import linux_calls
from stateward_engine.store.disk_file import give_back

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from stateward_engine.errors import Outcome

# A document is text for people; a file beyond this is something else, and would have to be held in memory twice.
DOCUMENT_BYTES_MAX: Final = 32 * 2**20
READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
# Labels that the system gives by itself, and that not every process may set: a copy is good without them.
_SYSTEM_ATTRIBUTES: Final = ("security.", "trusted.")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A file as it was when it was looked at; equal ones are the same file with the same content.

    The time of its last status change is no part of it, because being renamed changes that.

    Attributes:
        quiet: Nobody had it open for writing, as far as the kernel tells.
    """

    device: int
    inode: int
    size: int
    modified_ns: int
    mode: int
    owner: int
    group: int
    attributes: dict[str, bytes]
    data: bytes = field(repr=False)
    quiet: bool = field(compare=False)


def look_at(name: str, path: Path, *, directory: int) -> Snapshot | None:
    """Return the file `name` of a directory; `None` when nothing is there.

    Args:
        name: In the directory.
        path: Where that is, for messages.
        directory: A descriptor.

    Raises:
        NotPublished: It is not a regular file with one name, too large, or cannot be read.
    """
    with refusing_failures(path):
        try:
            # Before it is opened: opening alone does something to some devices.
            _demand_file(os.stat(name, dir_fd=directory, follow_symlinks=False), path)
            descriptor = os.open(name, READ_FLAGS, dir_fd=directory)
        except FileNotFoundError:
            return None
        try:
            return _snapshot(descriptor, path)
        finally:
            give_back(descriptor)


def _snapshot(descriptor: int, path: Path) -> Snapshot:
    found = os.fstat(descriptor)
    _demand_file(found, path)
    with open(descriptor, "rb", closefd=False) as file:
        data = file.read(DOCUMENT_BYTES_MAX + 1)
    demand_size(len(data), path)
    return Snapshot(
        device=found.st_dev,
        inode=found.st_ino,
        size=found.st_size,
        modified_ns=found.st_mtime_ns,
        mode=stat.S_IMODE(found.st_mode),
        owner=found.st_uid,
        group=found.st_gid,
        attributes=_attributes(descriptor),
        data=data,
        # Last, so that whoever wrote while we read and is still at it shows. Who is done by now shows in the bytes,
        # when they are compared again.
        quiet=not linux_calls.is_open_for_writing(descriptor) and len(data) == found.st_size,
    )


def _attributes(descriptor: int) -> dict[str, bytes]:
    try:
        names = os.listxattr(descriptor)
    except OSError as error:
        if linux_calls.is_unsupported(error):
            return {}
        raise
    return {name: os.getxattr(descriptor, name) for name in names}


def _demand_file(found: os.stat_result, path: Path) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise unfit(path, "document_is_link", "it is a symlink; give the path that it leads to")
    if not stat.S_ISREG(found.st_mode):
        raise unfit(path, "document_is_no_file", "it is no regular file; move it away")
    if found.st_nlink > 1:
        raise unfit(path, "document_has_links", "it has other names (hard links) that would keep the old text")
    demand_size(found.st_size, path)


def demand_size(size_bytes: int, path: Path) -> None:
    """Raise `NotPublished` when a document is larger than any reader takes."""
    if size_bytes > DOCUMENT_BYTES_MAX:
        raise unfit(path, "document_too_large", f"a document has at most {DOCUMENT_BYTES_MAX} bytes")


def dress(descriptor: int, like: Snapshot, path: Path) -> None:
    """Give a new file the owner and the attributes of the one that it is to replace."""
    try:
        os.fchown(descriptor, like.owner, like.group)
    except PermissionError as error:
        raise unfit(path, "document_owner", "it belongs to another user or group and would not any longer") from error
    for name, value in like.attributes.items():
        try:
            os.setxattr(descriptor, name, value)
        except OSError:
            if not name.startswith(_SYSTEM_ATTRIBUTES):
                raise


@contextlib.contextmanager
def refusing_failures(path: Path, *, outcome: Outcome = "refused", kept: list[str] | None = None) -> Iterator[None]:
    """Turn what the system says into a refusal with these facts."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        state = "it is as it was" if outcome == "refused" else "publish it again to make it sure"
        raise NotPublished(
            f"{path} could not be published: {reason}; {state}",
            reason_code="document_write_failed",
            outcome=outcome,
            path=str(path),
            error_code=errno.errorcode.get(error.errno or 0),
            kept=kept,
        ) from error


def unfit(path: Path, reason_code: str, why: str) -> NotPublished:
    """Return the refusal of a document that cannot be published as it is."""
    return NotPublished(f"{path} is not published: {why}", reason_code=reason_code, path=str(path))
