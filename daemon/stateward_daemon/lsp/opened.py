"""Opened: the texts that one editor has open, those of goal documents and those that could become one.

A document becomes that of a goal by the call of somebody else, while an editor has it open. So the text of every opened
file is kept and guarded, and only what a goal has, or what has the name of goal documents, is served.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_daemon.delivering import settle_saved
from stateward_daemon.lsp.buffers import Buffer
from stateward_daemon.lsp.uris import goal_path_of, path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from lsprotocol import types as lsp

    from stateward_daemon.host import Host
    from stateward_daemon.lookout import Lookout
    from stateward_daemon.positions import Encoding

# Of all other texts together, in characters. Beyond it the longest is let go: goal documents are short.
OTHERS_CHARACTERS_MAX: Final = 32 * 2**20


class _Paths(NamedTuple):
    """Where a document is: every link resolved, and as goal documents are named, `None` for another name."""

    real: Path
    named: Path | None


class Opened:
    """The open documents of one connection.

    Attributes:
        buffers: Those that are goal documents, each watched, by URI.
    """

    def __init__(self, host: Host, watcher: Lookout) -> None:
        """Begin with nothing open.

        Args:
            host: Told what has unsaved changes.
            watcher: Told which documents to watch.
        """
        self.buffers: dict[str, Buffer] = {}
        self._others: dict[str, Buffer] = {}
        self._paths: dict[str, _Paths] = {}
        self._host, self._watcher = host, watcher

    def open(
        self,
        document: lsp.TextDocumentItem,
        encoding: Encoding,
        ask: Callable[[lsp.ApplyWorkspaceEditParams], None],
        registered: Container[str],
    ) -> Buffer | None:
        """Keep what the client opened; what it has open under the same URI is replaced.

        Args:
            document: Its text.
            encoding: How the client counts characters.
            ask: Asks the client for an edit.
            registered: The real paths of the documents that goals have.

        Returns:
            The buffer of a goal document, `None` for every other one.
        """
        uri, path = document.uri, path_of(document.uri)
        if path is None:
            return None
        self._drop(uri)
        paths = self._paths[uri] = _Paths(Path(os.path.realpath(path)), goal_path_of(uri))
        place = _place(paths, registered)
        buffer = Buffer(uri, place or paths.real, encoding, document.version, document.text, on_disk=None, ask=ask)
        self._host.unsaved.open(buffer.path, buffer)
        self._keep(buffer, place)
        buffer.on_disk = self._host.documents.digest(buffer.path)
        return self.buffers.get(uri)

    def edit(self, uri: str, changes: Iterable[lsp.TextDocumentContentChangeEvent], version: int) -> bool:
        """Take the client's edits of a document; return whether it is open."""
        buffer = self._held(uri)
        if buffer is None:
            return False
        buffer.edit(changes, version)
        self._bound()
        return True

    def save(self, uri: str) -> bool:
        """Take note that the client wrote a document; return whether a goal document shows something else now."""
        buffer = self._held(uri)
        if buffer is None:
            return False
        is_other = buffer.saved(self._host.documents.digest(buffer.path))
        settle_saved(self._host, buffer.path)
        return is_other and uri in self.buffers

    def close(self, uri: str) -> bool:
        """Forget what the client had open; return whether it was a goal document."""
        was_goal = uri in self.buffers
        if buffer := self._drop(uri):
            settle_saved(self._host, buffer.path)
        return was_goal

    def close_all(self) -> None:
        """Forget everything."""
        for uri in list(self._paths):
            self.close(uri)

    def look(self, registered: Container[str]) -> list[Buffer]:
        """Take up what goals have by now, and leave alone what none has any more; return what has changed."""
        changed = []
        for buffer in [*self.buffers.values(), *self._others.values()]:
            place = _place(self._paths[buffer.uri], registered)
            if place != (buffer.path if buffer.uri in self.buffers else None):
                self._move(buffer, place)
                changed.append(buffer)
        return changed

    def _held(self, uri: str) -> Buffer | None:
        return self.buffers.get(uri) or self._others.get(uri)

    def _move(self, buffer: Buffer, place: Path | None) -> None:
        former, path = buffer.path, place or self._paths[buffer.uri].real
        if self.buffers.pop(buffer.uri, None):
            self._watcher.discard(former)
        self._others.pop(buffer.uri, None)
        if path != former:
            # Guarded there before it is not guarded here any more.
            self._host.unsaved.open(path, buffer)
            self._host.unsaved.close(former, buffer)
            buffer.path = path
        self._keep(buffer, place)
        # Nobody has watched its file so far, or that was another file.
        buffer.file_changed(self._host.documents.digest(path))
        settle_saved(self._host, former)

    def _keep(self, buffer: Buffer, place: Path | None) -> None:
        if place is None:
            self._others[buffer.uri] = buffer
            self._bound()
        else:
            # Watched before it is compared, so that no change falls between the two.
            self._watcher.add(place)
            self.buffers[buffer.uri] = buffer

    def _drop(self, uri: str) -> Buffer | None:
        self._paths.pop(uri, None)
        buffer = self.buffers.pop(uri, None)
        if buffer is not None:
            self._watcher.discard(buffer.path)
        else:
            buffer = self._others.pop(uri, None)
        if buffer is not None:
            self._host.unsaved.close(buffer.path, buffer)
        return buffer

    def _bound(self) -> None:
        while sum(buffer.length for buffer in self._others.values()) > OTHERS_CHARACTERS_MAX:
            self._drop(max(self._others.values(), key=lambda buffer: buffer.length).uri)


def _place(paths: _Paths, registered: Container[str]) -> Path | None:
    """Return where a document is served, `None` where it is left alone: that of a goal has precedence over a name."""
    return paths.real if str(paths.real) in registered else paths.named
