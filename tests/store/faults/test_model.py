"""What the model of a power cut allows and what it does not, and that the record of a disk is complete."""

from __future__ import annotations

import errno
import os
import random
from typing import TYPE_CHECKING

import pytest

from store.faults.disk import Disk, Fault, fails, fills_the_disk, lies_about_half
from store.faults.model import Tree, crash_states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CREATE = os.O_RDWR | os.O_CREAT


def left(root: Path, program: Callable[[], object], *faults: Fault) -> set[tuple[tuple[str, bytes | None], ...]]:
    """Run a program on a disk and return what a power cut at its end can leave."""
    with Disk(root, *faults) as disk:
        program()
        operations = disk.recorded()
    states = crash_states(disk.start, operations, random.Random(1))
    return {tuple(state.tree().files().items()) for state in states if state.point == len(operations)}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A durable file."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    return path


def write(path: Path, data: bytes, *, sync: bool = False) -> None:
    descriptor = os.open(path, CREATE)
    os.pwrite(descriptor, data, 0)
    if sync:
        os.fdatasync(descriptor)
    os.close(descriptor)


def sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def test_what_was_synced_stays(file: Path) -> None:
    assert left(file.parent, lambda: write(file, b"new", sync=True)) == {(("file", b"new"),)}


def test_what_was_not_synced_is_there_or_not_or_torn(file: Path) -> None:
    found = {content for ((_, content),) in left(file.parent, lambda: write(file, b"new"))}

    assert {b"old", b"new", b"nld", b"oew"} <= found


def test_a_synced_file_can_lack_its_name_and_a_synced_name_its_content(tmp_path: Path) -> None:
    made = tmp_path / "made"

    assert left(tmp_path, lambda: write(made, b"x", sync=True)) == {(), (("made", b"x"),)}

    made.unlink()

    def name_alone() -> None:
        write(made, b"x")
        sync_directory(tmp_path)

    assert left(tmp_path, name_alone) == {(("made", b""),), (("made", b"\0"),), (("made", b"x"),)}


def test_a_rename_happens_whole_or_not_at_all(file: Path) -> None:
    other = file.with_name("other")
    other.write_bytes(b"other")

    found = left(file.parent, lambda: other.rename(file))

    assert found == {(("file", b"old"), ("other", b"other")), (("file", b"other"),)}


def test_what_a_failed_sync_was_about_is_lost_in_spite_of_the_next_one(file: Path) -> None:
    def retry() -> None:
        descriptor = os.open(file, os.O_RDWR)
        os.pwrite(descriptor, b"new", 0)
        with pytest.raises(OSError, match="Input/output error"):
            os.fdatasync(descriptor)
        os.fdatasync(descriptor)
        os.close(descriptor)

    assert (("file", b"old"),) in left(file.parent, retry, Fault("fdatasync", 1, fails(errno.EIO)))


def test_a_write_that_lies_leaves_what_it_wrote(file: Path) -> None:
    assert left(file.parent, lambda: write(file, b"fresher", sync=True), Fault("pwrite", 1, lies_about_half)) == {
        (("file", b"fre"),)
    }


def test_a_full_disk_took_a_part(file: Path) -> None:
    def fill() -> None:
        with pytest.raises(OSError, match="No space left"):
            write(file, b"fresher", sync=True)

    assert (("file", b"fre"),) in left(file.parent, fill, Fault("pwrite", 1, fills_the_disk))


def test_a_change_that_was_not_recorded_is_noticed(file: Path) -> None:
    with Disk(file.parent) as disk, file.open("wb") as opened:
        opened.write(b"by another way")

    with pytest.raises(AssertionError, match="not recorded"):
        disk.recorded()


def test_a_tree_is_made_real_as_it_is(tmp_path: Path) -> None:
    tree = Tree(1, {1: None, 2: None, 3: b"text"}, {(1, "folder"): 2, (2, "file"): 3})

    tree.write_to(tmp_path)

    assert Tree.of(tmp_path).files() == tree.files() == {"folder": None, "folder/file": b"text"}
