"""The files that the verbs about goal documents name: found, read, replaced and created, one place for each."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from stateward_daemon.cli.patterns import WILDCARD, is_directory, matches_of
from stateward_daemon.convert import wire_error
from stateward_daemon.documents import GOAL_FILE_NAME, read_file, resolved
from stateward_daemon.exits import UsageFault
from stateward_engine.errors import NotPublished
from stateward_engine.store import publish_file
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Merged = TypeVar("Merged")

STANDARD_INPUT: Final = "-"


def files_of(name: str) -> list[str]:
    """Return the files that a name means: a pattern is what it matches, a directory the goal documents below it.

    What exists is no pattern.

    Raises:
        UsageFault: A pattern or a directory that has none.
    """
    if name == STANDARD_INPUT:
        return [name]
    if is_directory(name):
        return _documents_below(name)
    if not WILDCARD.search(name) or os.path.lexists(name):
        return [name]
    matches = matches_of(name)
    if not matches:
        raise UsageFault(f"no file matches {name}")
    return matches


def distinct(names: Iterable[str]) -> list[str]:
    """Return each file once, by the first of its names; a link is a file of its own."""
    files: dict[str, str] = {}
    for name in names:
        files.setdefault(name if name == STANDARD_INPUT else str(resolved(Path(name))), name)
    return list(files.values())


def _documents_below(name: str) -> list[str]:
    # Only a directory needs it, and the folder of the editors is not loaded for less.
    from stateward_daemon.lsp.scan import find_goal_documents  # noqa: PLC0415

    found = find_goal_documents(Path(name))
    if not found:
        raise UsageFault(f"no {GOAL_FILE_NAME} lies in {name} or below; name the file if it is called otherwise")
    return sorted(os.path.join(name, path) for path in found)  # noqa: PTH118 - as it was typed, `./` and all


def read_named(name: str) -> bytes:
    """Return the bytes of a file that somebody named, or of standard input.

    Raises:
        UsageFault: It cannot be read as a document.
    """
    if name == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    if is_directory(name):
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
