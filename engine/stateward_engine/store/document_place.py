"""The place of a document: its directory, held open, and what stands there under the document's name.

No name on the way to it may be a symlink, and everything after is done through the directory's descriptor. So whoever
swaps a directory of the path for another, or the document for a link, makes a publication fail and never makes it write
elsewhere.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import time
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stateward_engine.errors import InvalidRequest, NotPublished, Overtaken
from stateward_engine.store import linux_calls
from stateward_engine.store.disk_file import DiskFile, WriteLost, give_back, write_durably
from stateward_engine.store.snapshot import READ_FLAGS, dress, look_at, refusing_failures, unfit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_engine.errors import Outcome
    from stateward_engine.store.snapshot import Snapshot

NEW_FILE_MODE: Final = 0o600
# What stands beside a document during a publication. A crash leaves it; `Place.clear` tells what is in it by its name.
STAGED_PREFIX: Final = ".stateward-"
STAGED_SUFFIX: Final = ".tmp"
PART_SUFFIX: Final = ".part"
# How long one publication waits for another in the same directory before it gives up: 200 times 10 ms.
LOCK_TRIES_MAX: Final = 200
LOCK_PAUSE_S: Final = 0.01

# Passing through a directory takes no right to list it, so neither does opening it on the way.
_PASSED_FLAGS: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_HELD_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PART_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DIGEST_LENGTH: Final = 32
_NO_DIGEST: Final = "0" * _DIGEST_LENGTH


class Place:
    """A document's name in its directory, which is held open.

    Attributes:
        path: Where the document is, without links.
        kept: Names beside it of what an earlier, killed publication took out of the document and nobody published.
    """

    def __init__(self, path: Path, directory: int) -> None:
        self.path = path
        self.kept: list[str] = []
        self._directory = directory

    @classmethod
    @contextlib.contextmanager
    def opened(cls, path: Path, follow_within: Path | None) -> Iterator[Place]:
        """Hold the directory of `path` open and to ourselves; with `follow_within`, links that stay in it are followed.

        "To ourselves" is among publications, in whatever process: each locks the directory. Editors do not know of it.

        Raises:
            InvalidRequest: The path is not absolute or has `..` in it.
            NotPublished: The directory is not there, a link leads to it, or links lead out of the workspace.
            Overtaken: Another publication holds the directory for too long.
        """
        if not path.is_absolute() or ".." in path.parts or not path.name:
            raise InvalidRequest(f"{path} does not name a document by its absolute path", wanted="an absolute path")
        if follow_within is not None:
            path = _real(path, follow_within)
        with refusing_failures(path):
            directory = _open_directory(path)
        try:
            place = cls(path, directory)
            with refusing_failures(path):
                if place._lock():
                    place.clear()
            yield place
        finally:
            give_back(directory)

    def look(self, name: str = "") -> Snapshot | None:
        """Return the document, or what stands beside it under `name`; `None` when nothing is there.

        Raises:
            NotPublished: It is not a regular file with one name, too large, or cannot be read.
        """
        name = name or self.path.name
        return look_at(name, self.path.with_name(name), directory=self._directory)

    def seen(self, name: str) -> Snapshot | None:
        """Return what stands under `name`, or `None` when that is nothing that could be published or compared."""
        try:
            return self.look(name)
        except NotPublished:
            return None

    def stage(self, data: bytes, like: Snapshot | None) -> tuple[str, Snapshot]:
        """Write `data` to a new file beside the document, durably; return its name and the file.

        It has the mode, the owner and the attributes of `like`, or mode 0600. The name has digests of what it holds and
        of what it is to take the place of, so that whoever finds it later knows whether it holds anything else.
        """
        digests = _digest(like.data) if like else _NO_DIGEST, _digest(data)
        name = f"{STAGED_PREFIX}{'-'.join(digests)}-{secrets.token_hex(4)}"
        part, staged = name + PART_SUFFIX, name + STAGED_SUFFIX
        try:
            descriptor = os.open(part, _PART_FLAGS, NEW_FILE_MODE, dir_fd=self._directory)
            with contextlib.closing(DiskFile(descriptor)) as file:
                write_durably(file, data, 0)
                if like is not None:
                    dress(descriptor, like, self.path)
                # Last, as a change of the owner takes bits of the mode; and the umask may have taken some.
                os.fchmod(descriptor, like.mode if like else NEW_FILE_MODE)
                os.fsync(descriptor)
            os.rename(part, staged, src_dir_fd=self._directory, dst_dir_fd=self._directory)
            return staged, self._written(staged, data)
        except BaseException:
            self.remove(part)
            self.remove(staged)
            raise

    def discard(self, staged: str, ours: Snapshot) -> None:
        """Remove a copy that was not put in, unless `staged` has come to stand for something else."""
        found = self.seen(staged)
        if found is not None and found == ours and found.quiet:
            self.remove(staged)

    def exchange(self, staged: str) -> None:
        """Let the document and `staged` trade places."""
        linux_calls.exchange_names(self._directory, staged, self.path.name)

    def replace_by(self, staged: str) -> None:
        """Let `staged` take the place of the document, whatever stands there."""
        os.rename(staged, self.path.name, src_dir_fd=self._directory, dst_dir_fd=self._directory)

    def put_in(self, staged: str) -> bool:
        """Let `staged` become the document unless something stands there; return whether nothing did."""
        try:
            try:
                linux_calls.rename_to_free_name(self._directory, staged, self.path.name)
            except OSError as error:
                if not linux_calls.is_unsupported(error):
                    raise
                os.link(staged, self.path.name, src_dir_fd=self._directory, dst_dir_fd=self._directory)
                self.remove(staged)
        except FileExistsError:
            return False
        return True

    def remove(self, name: str) -> None:
        """Remove what stands under `name`, if that works; what stays is found by the next publication."""
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=self._directory)

    def sync_document(self) -> None:
        """Make the bytes of the document durable."""
        descriptor = os.open(self.path.name, READ_FLAGS, dir_fd=self._directory)
        try:
            os.fsync(descriptor)
        finally:
            give_back(descriptor)

    def sync(self) -> None:
        """Make the names in the directory durable."""
        os.fsync(self._directory)

    def demand_in_place(self, *, outcome: Outcome = "refused") -> None:
        """Raise `Overtaken` when the path does not lead to the directory any longer that is held open."""
        with refusing_failures(self.path, outcome=outcome):
            if self._is_in_place():
                return
        raise Overtaken(
            f"{self.path.parent} was moved meanwhile, and {self.path.name} with it",
            reason_code="document_moved",
            outcome=outcome,
            path=str(self.path),
        )

    def clear(self) -> None:
        """Remove what killed publications left, except what somebody else wrote; `kept` names that.

        The caller holds the lock, so that no publication is under way.
        """
        for name in sorted(os.listdir(self._directory)):  # noqa: PTH208 - a descriptor is no path
            if not name.startswith(STAGED_PREFIX):
                continue
            if name.endswith(PART_SUFFIX):
                self.remove(name)
            elif name.endswith(STAGED_SUFFIX):
                if self._is_ours(name):
                    self.remove(name)
                else:
                    self.kept.append(name)

    def _is_in_place(self) -> bool:
        try:
            directory = _open_directory(self.path)
        except NotPublished:
            return False
        try:
            return os.path.samestat(os.fstat(directory), os.fstat(self._directory))
        finally:
            give_back(directory)

    def _written(self, staged: str, data: bytes) -> Snapshot:
        made = self.look(staged)
        if made is None or made.data != data:
            raise WriteLost("the copy is not what was written")
        return made

    def _is_ours(self, name: str) -> bool:
        """Tell whether a leftover holds nothing but what a publication wrote or meant to replace."""
        with contextlib.suppress(OSError):
            if os.stat(name, dir_fd=self._directory, follow_symlinks=False).st_nlink > 1:
                return True  # what it holds has another name, too
        found = self.seen(name)
        return found is not None and found.quiet and _digest(found.data) in name.removeprefix(STAGED_PREFIX).split("-")

    def _lock(self) -> bool:
        """Keep other publications out of the directory; return whether its file system has locks."""
        for _ in range(LOCK_TRIES_MAX):
            try:
                fcntl.flock(self._directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(LOCK_PAUSE_S)
            except OSError:
                return False
            else:
                return True
        raise Overtaken(
            f"{self.path.parent} is locked by another process; try again once that is done",
            reason_code="document_locked",
            path=str(self.path),
        )


def missing(path: Path, what: Path | None = None) -> NotPublished:
    """Return the refusal of a document that is not there, because `what`, a directory on its way, is not."""
    named = path if what is None else f"directory {what}"
    return NotPublished(f"there is no {named}; create it first", reason_code="document_missing", path=str(path))


def _real(path: Path, workspace: Path) -> Path:
    real, root = Path(os.path.realpath(path)), Path(os.path.realpath(workspace))
    if not real.is_relative_to(root):
        raise NotPublished(
            f"{path} leads out of {workspace}; give a document inside of it",
            reason_code="document_outside_workspace",
            path=str(path),
        )
    return real


def _open_directory(path: Path) -> int:
    """Return a descriptor of the directory that `path` is in; no name on the way may be a link."""
    directory = os.open("/", _PASSED_FLAGS)
    names = path.parts[1:-1]
    for place, name in enumerate([*names, "."]):
        flags = _PASSED_FLAGS if place < len(names) else _HELD_FLAGS
        try:
            entered = os.open(name, flags, dir_fd=directory)
        except FileNotFoundError:
            raise missing(path, Path("/", *names[: place + 1])) from None
        except NotADirectoryError:
            at = Path("/", *names[: place + 1])
            raise unfit(path, "document_is_link", f"{at} is a link or no directory; give its real path") from None
        finally:
            give_back(directory)
        directory = entered
    return directory


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:_DIGEST_LENGTH]
