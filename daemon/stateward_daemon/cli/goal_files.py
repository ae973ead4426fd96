"""The files that the verbs about goal documents name: found, read, replaced and created, one place for each."""

from __future__ import annotations

import glob
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from stateward_daemon.convert import wire_error
from stateward_daemon.documents import GOAL_FILE_NAME, read_file, resolved
from stateward_daemon.exits import UsageFault
from stateward_engine.errors import NotPublished
from stateward_engine.store import publish_file
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Merged = TypeVar("Merged")

STANDARD_INPUT: Final = "-"


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
        raise UsageFault(f"{name}: {error.message}", error.category) from None


def replace_file(name: str, merge: Callable[[bytes], bytes]) -> None:
    """Replace a document by what `merge` makes of its bytes; it is called again when somebody writes in between.

    Raises:
        WireError: `refused`; the document stays as it is.
    """
    _published(publish_file.publish_file, name, merge)


def create_file(name: str, data: bytes) -> None:
    """Create a document.

    Raises:
        WireError: `refused`; one that is there already stays as it is.
    """
    _published(publish_file.create_file, name, data)


def _published(publish: Callable[[Path, Merged], object], name: str, merged: Merged) -> None:
    try:
        # The directory may be reached by links; the document itself may not be one.
        publish(resolved(Path(name)), merged)
    except NotPublished as refusal:
        raise wire_error(refusal) from None
