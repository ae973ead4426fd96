"""A file system after a power cut: the trees that the operations of a program can leave behind.

The model is the weakest that POSIX allows. Syncing a file makes its own content durable and no name; syncing a
directory makes the names in it durable and no content. What was not synced is there or not, in any combination. A
write is there by its sectors, in any combination, or up to any byte. A rename happens whole or not at all. What a
failed sync was about is never made durable by a later one, because the kernel has marked its pages clean.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

# What a device writes as one piece.
SECTOR_BYTES: Final = 512
# More places in one write would repeat what these show.
CUTS_MAX: Final = 8
# Combinations of unsynced operations that are drawn, beside those that are listed.
DRAWN: Final = 6
# What stood on the device before: any bytes but ours.
_JUNK: Final = b"\xa5"


@dataclass(frozen=True, slots=True)
class Write:
    """Content of a file, from an offset in bytes on."""

    inode: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Resize:
    """Another size of a file; what is new is zeros."""

    inode: int
    size: int


@dataclass(frozen=True, slots=True)
class Link:
    """A name in a directory, perhaps the first one of a new file or directory."""

    directory: int
    name: str
    inode: int
    of_directory: bool = False


@dataclass(frozen=True, slots=True)
class Unlink:
    """The end of a name."""

    directory: int
    name: str


@dataclass(frozen=True, slots=True)
class Rename:
    """A name that takes the place of another; with `exchanged`, the file that had it gets the old name."""

    directory: int
    name: str
    to_directory: int
    to_name: str
    inode: int
    exchanged: int | None = None


@dataclass(frozen=True, slots=True)
class Sync:
    """What was done to a file or in a directory before is durable from here on."""

    inode: int


@dataclass(frozen=True, slots=True)
class FailedSync:
    """What was done to a file before will never be durable."""

    inode: int


@dataclass(frozen=True, slots=True)
class Told:
    """Something that the program said to others, and must stand by after a crash."""

    fact: str


Change: TypeAlias = Write | Resize | Link | Unlink | Rename
Operation: TypeAlias = Change | Sync | FailedSync | Told


@dataclass
class Tree:
    """Files and directories by inode number, and the names that lead to them.

    Attributes:
        root: Inode of the outermost directory.
        content: The bytes of each file; `None` for a directory.
        names: Directory and name to inode.
    """

    root: int
    content: dict[int, bytes | None]
    names: dict[tuple[int, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> Tree:
        """Return what is on disk at `path`, with the inode numbers it has there."""
        tree = cls(path.stat().st_ino, {path.stat().st_ino: None})
        for entry in sorted(path.rglob("*")):
            inode = entry.lstat().st_ino
            tree.names[entry.parent.lstat().st_ino, entry.name] = inode
            tree.content[inode] = None if entry.is_dir() else entry.read_bytes()
        return tree

    def copy(self) -> Tree:
        """Return a tree that changes by itself."""
        return Tree(self.root, dict(self.content), dict(self.names))

    def apply(self, operation: Operation) -> None:
        """Do what the operation does to a disk that keeps everything."""
        match operation:
            case Write(inode, offset, data):
                before = self.content.get(inode) or b""
                self.content[inode] = before[:offset].ljust(offset, b"\0") + data + before[offset + len(data) :]
            case Resize(inode, size):
                self.content[inode] = (self.content.get(inode) or b"")[:size].ljust(size, b"\0")
            case Link(directory, name, inode, of_directory):
                self.names[directory, name] = inode
                self.content.setdefault(inode, None if of_directory else b"")
            case Unlink(directory, name):
                self.names.pop((directory, name), None)
            case Rename(directory, name, to_directory, to_name, inode, exchanged):
                self.names.pop((directory, name), None)
                self.names[to_directory, to_name] = inode
                self.content.setdefault(inode, b"")
                if exchanged is not None:
                    self.names[directory, name] = exchanged

    def files(self) -> dict[str, bytes | None]:
        """Return what can be reached: each path from the root, and its bytes or `None` for a directory."""
        found: dict[str, bytes | None] = {}
        waiting = [(self.root, "")]
        while waiting:
            parent, prefix = waiting.pop()
            for (directory, name), inode in self.names.items():
                if directory == parent:
                    found[prefix + name] = self.content[inode]
                    if self.content[inode] is None:
                        waiting.append((inode, f"{prefix}{name}/"))
        return dict(sorted(found.items()))

    def digest(self) -> bytes:
        """Return a word that two trees share if nobody can tell them apart."""
        digest = hashlib.blake2b(digest_size=16)
        for name, content in self.files().items():
            digest.update(repr((name, None if content is None else len(content))).encode())
            digest.update(content or b"")
        return digest.digest()

    def write_to(self, path: Path) -> None:
        """Make it real at `path`, an empty directory, for this user alone."""
        for name, content in self.files().items():
            if content is None:
                (path / name).mkdir(0o700)
            else:
                descriptor = os.open(path / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor is no path
                    file.write(content)


@dataclass(frozen=True, slots=True)
class CrashState:
    """One tree that a power cut can leave.

    Attributes:
        point: How many operations had happened.
        how: Which of the unsynced ones are there, in a word.
        tree: Makes what is on the disk; thousands of them at once would be too much.
    """

    point: int
    how: str
    tree: Callable[[], Tree]


@dataclass(frozen=True, slots=True)
class _Moment:
    """The instant of a power cut: what is on the disk for certain, and what may be.

    Attributes:
        operations: Everything that had happened.
        sure: Places of the changes that a sync has made durable.
        loose: Places of the others.
    """

    operations: Sequence[Operation]
    sure: list[int]
    loose: list[int]


def crash_states(start: Tree, operations: Sequence[Operation], chance: random.Random) -> Iterator[CrashState]:
    """Yield what a power cut can leave, before the first operation and after each; the same tree may come again."""
    durable = _durable_from(operations)
    for point in range(len(operations) + 1):
        changes = [place for place in range(point) if isinstance(operations[place], Change)]
        moment = _Moment(
            operations[:point],
            sure=[place for place in changes if durable.get(place, point) < point],
            loose=[place for place in changes if durable.get(place, point) >= point],
        )
        for how, kept in _combinations(moment, chance):
            yield CrashState(point, how, partial(_built, start, moment, kept))
        for how, kept, torn, tear in _tears(moment, chance):
            yield CrashState(point, how, partial(_built, start, moment, kept, torn, tear))


def _durable_from(operations: Sequence[Operation]) -> dict[int, int]:
    """Return the place of the sync that made each change durable; those that none did are not in it."""
    found: dict[int, int] = {}
    loose: dict[int, list[int]] = {}
    for place, operation in enumerate(operations):
        match operation:
            case Sync(inode):
                found.update(dict.fromkeys(loose.pop(inode, []), place))
            case FailedSync(inode):
                loose.pop(inode, None)
            case Write(inode) | Resize(inode):
                loose.setdefault(inode, []).append(place)
            case Link(directory) | Unlink(directory) | Rename(to_directory=directory):
                loose.setdefault(directory, []).append(place)
    return found


def _combinations(moment: _Moment, chance: random.Random) -> Iterator[tuple[str, list[int]]]:
    loose = moment.loose
    yield "nothing unsynced", []
    yield "everything", loose
    for count in range(1, len(loose)):
        yield f"the first {count} unsynced", loose[:count]
    for place in loose:
        yield f"all but {place}", [other for other in loose if other != place]
        yield f"only {place}", [place]
    content = [place for place in loose if isinstance(moment.operations[place], Write | Resize)]
    yield "content without names", content
    yield "names without content", [place for place in loose if place not in content]
    for _ in range(DRAWN if len(loose) > 2 else 0):
        kept = [place for place in loose if chance.random() < 0.5]
        yield f"drawn {kept}", kept


def _tears(moment: _Moment, chance: random.Random) -> Iterator[tuple[str, list[int], int, Callable[[Tree], None]]]:
    """Yield each way to have a part of one unsynced write, beside all that is unsynced and beside nothing."""
    for place in moment.loose:
        write = moment.operations[place]
        if not isinstance(write, Write):
            continue
        for kept in (moment.loose, [place]) if len(moment.loose) > 1 else (moment.loose,):
            for how, pieces, is_cut in _pieces(write, chance):
                yield f"{place} torn: {how}", kept, place, _tear(write, pieces, is_cut=is_cut)


_Pieces: TypeAlias = "list[tuple[int, bytes]]"


def _pieces(write: Write, chance: random.Random) -> Iterator[tuple[str, _Pieces, bool]]:
    """Yield the parts of a write that reached the disk, by their offset in it, and whether the file ends with them."""
    data, length = write.data, len(write.data)
    # Where zeros are written ahead, only the first place among them is worth a cut.
    filled = len(data.rstrip(b"\0")) or length
    sectors = _sectors(write)
    inner = [start for start in sectors if 0 < start < filled]
    cuts = {1, 10, filled // 2, filled - 1, filled, length - 1, *chance.sample(inner, min(len(inner), CUTS_MAX))}
    yield "size without data", [], False
    for cut in sorted(cut for cut in cuts if 0 < cut < length):
        yield f"cut at {cut}", [(0, data[:cut])], True
        yield f"lost from {cut}", [(0, data[:cut])], False
        yield f"lost up to {cut}", [(cut, data[cut:])], False
        yield f"junk from {cut}", [(0, data[:cut] + _JUNK * (length - cut))], False
    for _ in range(DRAWN if inner else 0):
        lost = [start for start in [0, *inner] if chance.random() < 0.5]
        kept = [start for start in sectors if start not in lost]
        ends = dict(zip(sectors, [*sectors[1:], length], strict=True))
        yield f"without sectors {lost}", [(start, data[start : ends[start]]) for start in kept], False


def _sectors(write: Write) -> list[int]:
    """Return where sectors of the device start in a write, its own start included."""
    first = SECTOR_BYTES - write.offset % SECTOR_BYTES
    return [0, *range(first, len(write.data), SECTOR_BYTES)]


def _tear(write: Write, pieces: _Pieces, *, is_cut: bool) -> Callable[[Tree], None]:
    def apply(tree: Tree) -> None:
        before = tree.content.get(write.inode) or b""
        if not is_cut:
            tree.apply(Resize(write.inode, max(len(before), write.offset + len(write.data))))
        for start, data in pieces:
            tree.apply(Write(write.inode, write.offset + start, data))

    return apply


def _built(
    start: Tree, moment: _Moment, kept: Sequence[int], torn: int = -1, tear: Callable[[Tree], None] | None = None
) -> Tree:
    tree = start.copy()
    for place in sorted([*moment.sure, *kept]):
        if tear and place == torn:
            tear(tree)
        else:
            tree.apply(moment.operations[place])
    return tree
