"""Real power cuts: a file system of Linux on a loop device, shut down while a process writes to a store on it.

The ioctl throws away everything that is not on the device yet, and the next mount runs the file system's own recovery.
It takes root and loop devices.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stateward_engine.errors import EngineError
from stateward_engine.store.store import open_store
from store.busy_writer import write_until
from store.faults.sweep import Findings
from store.planted import kept

if TYPE_CHECKING:
    from collections.abc import Iterator

_IMAGE_BYTES: Final = 64 * 2**20
# EXT4_IOC_SHUTDOWN, and its argument for leaving the file system's journal as it is on the device.
_SHUTDOWN: Final = 0x8004587D
_WITHOUT_FLUSH: Final = struct.pack("I", 2)


class NoPowerSwitch(Exception):
    """This machine does not let us mount and shut down a file system; the message says why."""


def sweep_power_cuts(cuts: int, *, seed: int) -> Findings:
    """Cut the power so many times under a busy writer, each time on what the cut before left.

    Raises:
        NoPowerSwitch: The machine does not allow it.
    """
    chance = random.Random(seed)
    findings = Findings()
    expected = 0
    with mounted_image() as (image, place):
        for _ in range(cuts):
            acknowledged = write_until(place / "store", chance.randrange(1, 60), lambda: _cut(place))
            _run("umount", str(place))
            _mount(image, place)
            findings.states += 1
            expected = max([expected, *(number + 1 for number in acknowledged)])
            try:
                with open_store(place / "store") as store:
                    found = kept(store.view)
            except EngineError as error:
                findings.violations.append(f"refused to start: {error}")
                return findings
            if found != {str(number): number for number in range(len(found))} or len(found) < expected:
                findings.violations.append(f"{expected} were acknowledged, and {len(found)} are there, seed {seed}")
            expected = len(found)
    return findings


@contextlib.contextmanager
def mounted_image() -> Iterator[tuple[Path, Path]]:
    """Yield a file with an ext4 file system and the directory where it is mounted."""
    if os.geteuid() != 0:
        raise NoPowerSwitch("it takes root to mount a file system")
    with tempfile.TemporaryDirectory(prefix="stateward") as name:
        image, place = Path(name) / "image", Path(name) / "disk"
        place.mkdir()
        with image.open("wb") as file:
            file.truncate(_IMAGE_BYTES)
        _run("mkfs.ext4", "-q", "-F", str(image))
        _mount(image, place)
        try:
            yield image, place
        finally:
            _run("umount", str(place))


def _mount(image: Path, place: Path) -> None:
    _run("mount", "-t", "ext4", "-o", "loop", str(image), str(place))


def _cut(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, _SHUTDOWN, _WITHOUT_FLUSH)
    finally:
        os.close(descriptor)


def _run(*command: str) -> None:
    try:
        subprocess.run(["/usr/bin/env", *command], check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        raise NoPowerSwitch(f"{command[0]} failed: {error.stderr.strip()}") from error
