"""The files that the verbs about goal documents name: found, read, replaced and created, one place for each."""

from __future__ import annotations

import glob
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stateward_daemon.documents import read_file
from stateward_daemon.exits import UsageFault
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STANDARD_INPUT: Final = "-"
GOAL_FILE_NAME: Final = "ACTIVE_GOAL_STATE.md"


def expanded(names: Iterable[str]) -> list[str]:
    """Return the files that are meant: a pattern is what it matches, a directory the goal documents below it.

    What exists is no pattern, and what is named twice is one file.

    Raises:
        UsageFault: A pattern or a directory that has none.
    """
    return list(dict.fromkeys(file for name in names for file in _files_of(name)))


def _files_of(name: str) -> Iterator[str]:
    if name != STANDARD_INPUT and Path(name).is_dir():
        yield from _documents_below(name)
    elif name == STANDARD_INPUT or not glob.has_magic(name) or Path(name).exists():
        yield name
    else:
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - it takes absolute patterns as well
        if not matches:
            raise UsageFault(f"no file matches {name}")
        yield from (match for match in matches if not Path(match).is_dir())


def _documents_below(name: str) -> Iterator[str]:
    # Only a directory needs it, and the folder of the editors is not loaded for less.
    from stateward_daemon.lsp.scan import find_goal_documents  # noqa: PLC0415

    found = find_goal_documents(Path(name))
    if not found:
        raise UsageFault(f"no {GOAL_FILE_NAME} lies in {name} or below; name the file if it is called otherwise")
    yield from sorted(os.path.join(name, path) for path in found)  # noqa: PTH118 - as it was typed, `./` and all


def read_named(name: str) -> bytes:
    """Return the bytes of a file that somebody named, or of standard input.

    Raises:
        UsageFault: It cannot be read as a document.
    """
    if name == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    if Path(name).is_dir():
        raise UsageFault(f"{name} is a directory; name the document in it")
    try:
        return read_file(Path(name))
    except WireError as error:
        raise UsageFault(f"{name}: {error.message}") from None


def replace_file(path: Path, merge: Callable[[bytes], bytes]) -> None:
    """Replace a document by what `merge` makes of its bytes, in one moment; equal bytes are not written.

    Mode and name stay. `merge` is called again when somebody writes in between.

    Raises:
        UsageFault: The file cannot be written, or is a link.
    """
    try:
        while True:
            before = read_file(path)
            after = merge(before)
            if after == before or _replaced(path, before, after):
                return
    except OSError as error:
        raise UsageFault(f"{path} cannot be written: {error.strerror}") from None


def create_file(path: Path, data: bytes) -> None:
    """Create a document; one that is there already stays as it is.

    Raises:
        WireError: `refused`; something is there.
        UsageFault: Nothing can be created.
    """
    try:
        # As private as the store; who shares it says so.
        _write(path, data, 0o600)
    except FileExistsError:
        message = "the document is there already, and nothing overwrites it"
        raise WireError("refused", message, path=str(path), reason_code="document_exists") from None
    except OSError as error:
        raise UsageFault(f"{path} cannot be created: {error.strerror}") from None


def _replaced(path: Path, before: bytes, after: bytes) -> bool:
    """Put `after` in the place of `before`; False when the file is no longer that."""
    if path.is_symlink():
        raise UsageFault(f"{path} is a link; name the document itself")
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        _write(beside, after, path.stat().st_mode & 0o777)
        beside.chmod(path.stat().st_mode & 0o7777)
        if read_file(path) != before:
            return False
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return True


def _write(path: Path, data: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)
