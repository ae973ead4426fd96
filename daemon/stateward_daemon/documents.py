"""Goal documents as they are on disk: read, compared by content, and parsed at most once per content."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections import OrderedDict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from stateward_engine.store.snapshot import DOCUMENT_BYTES_MAX
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from stateward_engine.goals.document import GoalDocument

GOAL_FILE_NAME: Final = "ACTIVE_GOAL_STATE.md"
# Parsed documents that are kept. A person has a handful of goals open; an agent that walks a tree must not fill memory.
DOCUMENTS_KEPT_MAX: Final = 64


def resolved(path: Path) -> Path:
    """Return `path` with its directory resolved. The file itself is not: a save may replace a link by a file."""
    return Path(os.path.realpath(path.parent)) / path.name


def quoted_path(text: str) -> Path | None:
    """Return the absolute path that a URI spells, decoded exactly once; `None` for every other text.

    NUL and `..` are refused, in whatever spelling, and so is what begins with two slashes, as a host does.
    """
    decoded = unquote_to_bytes(text)
    if not text.startswith("/") or text.startswith("//") or b"\0" in decoded or b".." in decoded.split(b"/"):
        return None
    return Path(os.fsdecode(decoded))


def read_file(path: Path) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        WireError: `missing_path` when there is none, `invalid_request` when it is no regular file, `too_large`.
    """
    try:
        # Not blocking, so that a FIFO in the place of the document cannot hang the reader.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise WireError("missing_path", "there is no such file", path=str(path)) from None
        raise WireError(
            "invalid_request", f"the file cannot be opened: {os.strerror(error.errno or 0)}", path=str(path)
        ) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise WireError("invalid_request", "a goal document is a regular file", path=str(path), wanted="regular file")
    with os.fdopen(descriptor, "rb") as file:
        try:
            data = file.read(DOCUMENT_BYTES_MAX + 1)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise WireError("invalid_request", f"the file cannot be read: {reason}", path=str(path)) from None
    if len(data) > DOCUMENT_BYTES_MAX:
        raise WireError(
            "too_large",
            f"a goal document has at most {DOCUMENT_BYTES_MAX} bytes",
            path=str(path),
            limit=DOCUMENT_BYTES_MAX,
        )
    return data


class Documents:
    """Reads goal documents for everybody; safe to use from several threads.

    Every read takes the file's bytes anew and compares them: neither a watcher's event nor size and time are trusted,
    so an answer is right with the watcher off, too. Only the parsing is kept.
    """

    def __init__(self) -> None:
        self._parsed: OrderedDict[bytes, GoalDocument] = OrderedDict()
        # A file is mostly what it was.
        self._latest: OrderedDict[Path, GoalDocument] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, path: Path) -> GoalDocument:
        """Return the document that is at `path` now.

        Raises:
            WireError: as `read_file`.
        """
        data = read_file(path)
        with self._lock:
            before = self._latest.get(path)
        document = self.parse(data, before)
        with self._lock:
            self._latest[path] = document
            self._latest.move_to_end(path)
            while len(self._latest) > DOCUMENTS_KEPT_MAX:
                self._latest.popitem(last=False)
        return document

    def parse(self, data: bytes, before: GoalDocument | None = None) -> GoalDocument:
        """Return the document that these bytes are.

        Args:
            data: The bytes.
            before: A document of which most may be the same, and then is not read again.
        """
        # Not at the top: a third of the daemon's start would be spent on it, and many daemons never read a document.
        from stateward_engine.goals.document import read_bytes  # noqa: PLC0415

        digest = sha256(data).digest()
        with self._lock:
            known = self._parsed.get(digest)
            if known is not None:
                self._parsed.move_to_end(digest)
                return known
        document = read_bytes(data, before)
        with self._lock:
            self._parsed[digest] = document
            while len(self._parsed) > DOCUMENTS_KEPT_MAX:
                self._parsed.popitem(last=False)
        return document

    def size_bytes(self, path: Path) -> int:
        """Return the size of the file at `path`, 0 when there is none."""
        try:
            return path.stat().st_size
        except OSError:
            return 0

    def digest(self, path: Path) -> str | None:
        """Return the SHA-256 of what is at `path` now, or `None` when nothing readable is there."""
        try:
            return sha256(read_file(path)).hexdigest()
        except WireError:
            return None
