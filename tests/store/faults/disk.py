"""The disk as one process sees it: its calls on one directory are recorded, counted, and failed on demand.

The functions of `os` are replaced for as long as a `Disk` is entered; calls elsewhere pass through. A sync is only
recorded, because no crash is real here, which makes a sweep fast. `recorded` compares the record with the directory,
so a call that goes to the kernel by another way is noticed and not missed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from unittest import mock

from stateward_engine.store import linux_calls
from store.faults.model import FailedSync, Link, Rename, Resize, Sync, Told, Tree, Unlink, Write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Self

    from store.faults.model import Operation

# Before anything is replaced.
_REAL: Final = {
    name: getattr(os, name)
    for name in (
        "open", "close", "read", "pread", "write", "pwrite", "fsync", "fdatasync", "ftruncate", "posix_fallocate",
        "rename", "replace", "link", "unlink", "remove", "mkdir", "rmdir", "stat", "lstat", "fstat", "listdir",
        "scandir", "fchmod", "posix_fadvise",
    )
}  # fmt: skip
_REAL_EXCHANGE: Final = linux_calls.exchange_names
_REAL_RENAME_TO_FREE_NAME: Final = linux_calls.rename_to_free_name
_REAL_OTHERS: Final = [
    (module, name, getattr(module, name))
    for module, name in (
        (fcntl, "flock"),
        (linux_calls, "exchange_names"),
        (linux_calls, "rename_to_free_name"),
    )
]
# What a process that is gone can no longer do.
_CHANGES: Final = frozenset(
    {
        *("open", "mkdir", "link", "rename", "replace", "exchange_names", "rename_to_free_name"),
        *("write", "pwrite", "ftruncate", "posix_fallocate", "fsync", "fdatasync", "unlink", "remove", "rmdir"),
    }
)
CHANGE: Final = "change"
# What goes wrong: it gets the call, which it may make or not, and its arguments.
Effect: TypeAlias = "Callable[..., Any]"


@dataclass(frozen=True, slots=True)
class Fault:
    """One call that goes wrong.

    Attributes:
        call: Name of the function, or `CHANGE` for any that changes the disk.
        at: Which of the calls of that name, from 1.
        effect: What happens instead.
    """

    call: str
    at: int
    effect: Effect


def fails(number: int) -> Effect:
    """The call does nothing and reports an error."""

    def effect(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    return effect


def fills_the_disk(call: Callable[..., Any], descriptor: int, data: bytes, *rest: Any) -> Any:
    """Half of the data finds room, and the error is that of the other half."""
    call(descriptor, data[: len(data) // 2], *rest)
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def is_short(call: Callable[..., Any], descriptor: int, data: bytes, *rest: Any) -> Any:
    """All but the last byte is written, and said to be."""
    return call(descriptor, data[:-1], *rest)


def lies_about_half(call: Callable[..., Any], descriptor: int, data: bytes, *rest: Any) -> Any:
    """Half is written and all is said to be."""
    call(descriptor, data[: len(data) // 2], *rest)
    return len(data)


def does_nothing(_: Callable[..., Any], __: int, data: bytes, *___: Any) -> Any:
    """Nothing is written and all is said to be."""
    return len(data)


def garbles(call: Callable[..., Any], descriptor: int, data: bytes, *rest: Any) -> Any:
    """Other bytes are written."""
    return call(descriptor, data[:-1] + bytes([data[-1] ^ 1]), *rest)


def complains(call: Callable[..., Any], *arguments: Any) -> Any:
    """It is done, and an error is reported all the same; `close` is like that."""
    call(*arguments)
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def reads_short(call: Callable[..., Any], *arguments: Any) -> Any:
    """The last byte is missing."""
    return call(*arguments)[:-1]


def reads_nothing(*_: Any) -> Any:
    """The file seems to end."""
    return b""


def vanishes(*_: Any, **__: Any) -> Any:
    """To the disk the process ends before the call: whatever it does from here on changes nothing."""
    raise OSError(errno.EIO, os.strerror(errno.EIO))


class Disk:
    """Calls of this process on everything below `root`, from entering to leaving.

    Attributes:
        root: The directory.
        start: What was on it at the beginning.
        operations: What was done, in order.
        counts: How often each function was called.
        faults: What is to go wrong.
        met: What did.
    """

    def __init__(self, root: Path, *faults: Fault) -> None:
        self.start = Tree.of(root)
        self.operations: list[Operation] = []
        self.counts: Counter[str] = Counter()
        self.faults = list(faults)
        self.met: list[Fault] = []
        self.root = root
        self._device = root.stat().st_dev
        self._known = set(self.start.content)
        # A descriptor each, so that no inode number is used again while it means something here.
        self._held = contextlib.ExitStack()
        self._gone = False
        self._order = threading.RLock()
        self._patches = contextlib.ExitStack()

    def __enter__(self) -> Self:
        for path in [self.root, *self.root.rglob("*")]:
            self._hold(path)
        for name, real in _REAL.items():
            self._patches.enter_context(mock.patch.object(os, name, self._watched(name, real)))
        for module, name, real in _REAL_OTHERS:
            self._patches.enter_context(mock.patch.object(module, name, self._watched(name, real)))
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.close()
        self._held.close()

    def told(self, fact: str) -> None:
        """Note what the program said to others."""
        self.operations.append(Told(fact))

    def plan(self, call: str, effect: Effect) -> None:
        """Let the next call of that name go wrong."""
        self.faults.append(Fault(call, self.counts[call] + 1, effect))

    @contextlib.contextmanager
    def killed(self) -> Iterator[None]:
        """Inside, the process is gone; what it had open can be closed. Outside, another one may begin."""
        self._gone = True
        try:
            yield
        finally:
            self._gone = False

    def recorded(self) -> list[Operation]:
        """Return the operations, after checking that they explain what is on disk."""
        tree = self.start.copy()
        for operation in self.operations:
            tree.apply(operation)
        assert tree.files() == Tree.of(self.root).files(), "a call was not recorded"
        return self.operations

    def _watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        recording = getattr(self, f"_{name}", None)

        def perform(*arguments: Any, **named: Any) -> Any:
            return recording(*arguments, **named) if recording else real(*arguments, **named)

        def call(*arguments: Any, **named: Any) -> Any:
            if not self._concerns(*arguments, **named):
                return real(*arguments, **named)
            with self._order:
                return self._call(name, perform, *arguments, **named)

        return call

    def _call(self, name: str, perform: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        if self._gone:
            # It can still open what is there, as whoever comes after it will.
            if name in _CHANGES and not (name == "open" and not arguments[1] & os.O_CREAT):
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return perform(*arguments, **named)
        self.counts.update([name, CHANGE] if name in _CHANGES else [name])
        for fault in self.faults:
            if self.counts[fault.call] == fault.at and fault.call in (name, CHANGE) and fault not in self.met:
                self.met.append(fault)
                return self._fail(fault, name, perform, *arguments, **named)
        return perform(*arguments, **named)

    def _fail(self, fault: Fault, name: str, perform: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        if fault.effect is vanishes:
            self._gone = True
        try:
            return fault.effect(perform, *arguments, **named)
        except OSError:
            # A process that ended before the call has not failed: a later sync of another one makes up for it.
            if name in ("fsync", "fdatasync") and not self._gone:
                self.operations.append(FailedSync(self._inode(arguments[0])))
            raise

    def _concerns(self, *arguments: Any, **named: Any) -> bool:
        """Tell whether a call is about something below the root, or makes a name there."""
        directories = (named.get("dir_fd", named.get("src_dir_fd")), named.get("dst_dir_fd"))
        for target, directory in zip(arguments[:2], directories, strict=False):
            if isinstance(target, int):
                return target >= 0 and self._is_known(_REAL["fstat"], target)
            if not isinstance(target, str | os.PathLike):
                return False
            if self._is_known(_REAL["lstat"], target, dir_fd=directory):
                return True
            if self._is_known(self._parent_stat, os.fspath(target), directory):
                return True
        return False

    def _is_known(self, look: Callable[..., os.stat_result], *arguments: Any, **named: Any) -> bool:
        try:
            found = look(*arguments, **named)
        except OSError:
            return False
        return found.st_dev == self._device and found.st_ino in self._known

    @staticmethod
    def _parent_stat(path: str, directory: int | None) -> os.stat_result:
        head = os.path.dirname(path)  # noqa: PTH120 - relative to a descriptor
        if not head and directory is not None:
            return _REAL["fstat"](directory)  # type: ignore[no-any-return]
        return _REAL["stat"](head or ".", dir_fd=directory)  # type: ignore[no-any-return]

    def _inode(self, target: int | str, directory: int | None = None) -> int:
        if isinstance(target, int):
            return int(_REAL["fstat"](target).st_ino)
        return int(_REAL["stat"](target, dir_fd=directory, follow_symlinks=False).st_ino)

    def _entry(self, path: str | os.PathLike[str], directory: int | None) -> tuple[int, str]:
        """Return the directory of a name and the name in it."""
        text = os.fspath(path)
        return self._parent_stat(text, directory).st_ino, os.path.basename(text)  # noqa: PTH119

    def _hold(
        self, path: str | os.PathLike[str], directory: int | None = None, *, flags: int = os.O_PATH | os.O_NOFOLLOW
    ) -> None:
        descriptor = _REAL["open"](path, flags, dir_fd=directory)
        self._held.callback(_REAL["close"], descriptor)

    def _made(self, path: str | os.PathLike[str], directory: int | None, *, of_directory: bool) -> None:
        inode = self._inode(os.fspath(path), directory)
        if inode not in self._known:
            self._hold(path, directory)
            self._known.add(inode)
            self.operations.append(Link(*self._entry(path, directory), inode, of_directory))

    def _open(self, path: str | os.PathLike[str], flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        descriptor: int = _REAL["open"](path, flags, mode, dir_fd=dir_fd)
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            self._hold(f"/proc/self/fd/{descriptor}", flags=os.O_PATH)
            self._known.add(self._inode(descriptor))
        elif flags & os.O_CREAT:
            self._made(path, dir_fd, of_directory=False)
        if flags & os.O_TRUNC:
            self.operations.append(Resize(self._inode(descriptor), 0))
        return descriptor

    def _mkdir(self, path: str | os.PathLike[str], mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        _REAL["mkdir"](path, mode, dir_fd=dir_fd)
        self._made(path, dir_fd, of_directory=True)

    def _write(self, descriptor: int, data: bytes) -> int:
        appends = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND
        offset = os.lseek(descriptor, 0, os.SEEK_END if appends else os.SEEK_CUR)
        written: int = _REAL["write"](descriptor, data)
        self.operations.append(Write(self._inode(descriptor), offset, bytes(data[:written])))
        return written

    def _pwrite(self, descriptor: int, data: bytes, offset: int) -> int:
        written: int = _REAL["pwrite"](descriptor, data, offset)
        self.operations.append(Write(self._inode(descriptor), offset, bytes(data[:written])))
        return written

    def _ftruncate(self, descriptor: int, size: int) -> None:
        _REAL["ftruncate"](descriptor, size)
        self.operations.append(Resize(self._inode(descriptor), size))

    def _posix_fallocate(self, descriptor: int, offset: int, length: int) -> None:
        _REAL["posix_fallocate"](descriptor, offset, length)
        self.operations.append(Resize(self._inode(descriptor), int(_REAL["fstat"](descriptor).st_size)))

    def _fsync(self, descriptor: int) -> None:
        self.operations.append(Sync(self._inode(descriptor)))

    _fdatasync = _fsync

    def _rename(
        self,
        source: str | os.PathLike[str],
        target: str | os.PathLike[str],
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
    ) -> None:
        inode = self._inode(os.fspath(source), src_dir_fd)
        _REAL["rename"](source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        names = *self._entry(source, src_dir_fd), *self._entry(target, dst_dir_fd)
        self.operations.append(Rename(*names, inode))

    _replace = _rename

    def _exchange_names(self, directory: int, one: str, other: str) -> None:
        inodes = self._inode(one, directory), self._inode(other, directory)
        _REAL_EXCHANGE(directory, one, other)
        at = self._inode(directory)
        self.operations.append(Rename(at, one, at, other, *inodes))

    def _rename_to_free_name(self, directory: int, source: str, target: str) -> None:
        inode = self._inode(source, directory)
        _REAL_RENAME_TO_FREE_NAME(directory, source, target)
        at = self._inode(directory)
        self.operations.append(Rename(at, source, at, target, inode))

    def _link(
        self,
        source: str | os.PathLike[str],
        target: str | os.PathLike[str],
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
        follow_symlinks: bool = True,
    ) -> None:
        directories = {"src_dir_fd": src_dir_fd, "dst_dir_fd": dst_dir_fd}
        _REAL["link"](source, target, **directories, follow_symlinks=follow_symlinks)
        inode = self._inode(os.fspath(target), dst_dir_fd)
        self.operations.append(Link(*self._entry(target, dst_dir_fd), inode))

    def _unlink(self, path: str | os.PathLike[str], *, dir_fd: int | None = None) -> None:
        entry = self._entry(path, dir_fd)
        _REAL["unlink"](path, dir_fd=dir_fd)
        self.operations.append(Unlink(*entry))

    _remove = _unlink

    def _rmdir(self, path: str | os.PathLike[str], *, dir_fd: int | None = None) -> None:
        entry = self._entry(path, dir_fd)
        _REAL["rmdir"](path, dir_fd=dir_fd)
        self.operations.append(Unlink(*entry))
