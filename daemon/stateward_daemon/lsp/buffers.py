"""Buffers: the text that one editor has open, unsaved edits included, kept as the editor keeps it.

pygls has a text sync of its own, which ends lines where Python does: a form feed or U+2028 in a document, and every
edit below it lands on the wrong line. So edits are applied here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.documents import resolved
from stateward_daemon.lsp.edits import versioned
from stateward_daemon.lsp.pieces import Pieces
from stateward_daemon.lsp.reading import Reading, text_digest
from stateward_daemon.positions import LineIndex
from stateward_engine.goals.document import read_document
from stateward_engine.goals.lines import BYTE_ORDER_MARK

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from stateward_daemon.positions import Encoding
    from stateward_daemon.unsaved import SectionEdit
    from stateward_engine.goals.document import GoalDocument


def _ask_nobody(_edits: lsp.ApplyWorkspaceEditParams) -> None:
    """Stand in for a client that takes no edits."""


@dataclass(slots=True)
class Buffer:
    """One open document of one connection.

    Attributes:
        uri: As the client spells it.
        path: The file under it, its directory resolved.
        encoding: How the client counts characters.
        version: The client's number for this text.
        text: The text.
        on_disk: Digest of the file when it was last compared; `None` when there was none.
        ask: Asks the client to edit its text; from any thread.
        follows_file: The editor's text is that of an earlier file, so what is shown is about the file.
    """

    uri: str
    path: Path
    encoding: Encoding
    version: int
    text: str
    on_disk: str | None
    ask: Callable[[lsp.ApplyWorkspaceEditParams], None] = _ask_nobody
    follows_file: bool = False
    # With the text that it is of: a thread may finish one after the text has moved on.
    _read: tuple[str, Reading] | None = field(default=None, repr=False)
    # The semantic tokens that the client was sent last, with the name that they have for it.
    _tokens: tuple[str, array[int]] | None = field(default=None, repr=False)

    @property
    def is_unsaved(self) -> bool:
        """Whether the text has changes of its user that are in no file."""
        return not self.follows_file and not self._is_text_of(self.on_disk)

    def offer(self, version: int, text: str, edits: Sequence[SectionEdit]) -> None:
        """Ask the client to make edits, if its text is still of that version. From any thread."""
        index = LineIndex(text)

        def position(offset: int) -> lsp.Position:
            return lsp.Position(*index.position(offset, self.encoding))

        changes = [lsp.TextEdit(lsp.Range(position(start), position(end)), new) for (start, end), new in edits]
        edit = versioned(self.uri, version, changes)
        self.ask(lsp.ApplyWorkspaceEditParams(edit, label="Show the todos as they are"))

    def edit(self, changes: Iterable[lsp.TextDocumentContentChangeEvent], version: int) -> None:
        """Take the client's edits, in order. From now on it shows its own text again."""
        self.text = apply_changes(self.text, changes, self.encoding)
        self.version = version
        self.follows_file = False

    def saved(self, on_disk: str | None) -> bool:
        """Take note that the client wrote the file; tell whether something else is shown now.

        By the time we hear of it, somebody else may have written, too: then the file is not the client's text, and
        this is the only place that can tell it from an unsaved edit.
        """
        followed, self.follows_file = self.follows_file, False
        self.on_disk = text_digest(self.text)
        return self.file_changed(on_disk) or followed

    def file_changed(self, on_disk: str | None) -> bool:
        """Take note that the file is another one; tell whether something else is shown now.

        A buffer without edits follows the file: its editor is about to load it, though some do so only when their
        window comes to the front, and until then the buffer's text is old news. A buffer with edits keeps its own.
        """
        followed, was_clean = self.follows_file, self._is_text_of(self.on_disk)
        self.on_disk = on_disk
        self.follows_file = (followed or was_clean) and not self._is_text_of(on_disk)
        return followed or self.follows_file

    def forget(self) -> None:
        """Read the text anew the next time, and not from what it said before."""
        self._read = None

    def reading(self) -> Reading:
        """Return what the text says; it is read once per text."""
        text, version, read = self.text, self.version, self._read
        if read is not None and read[0] is text and read[1].version == version:
            return read[1]
        # After an edit nearly all of the text is what it was, and only the rest is read again.
        goal = read[1].goal.become(text) if read else read_document(text)
        reading = Reading(goal, self.encoding, version)
        self._read = (text, reading)
        return reading

    def keep_tokens(self, numbers: array[int]) -> str:
        """Keep the semantic tokens that the client is sent; return the name by which it asks what has changed."""
        name = str(int(self._tokens[0]) + 1) if self._tokens else "1"
        self._tokens = name, numbers
        return name

    def kept_tokens(self, name: str) -> array[int] | None:
        """Return the tokens that the client knows under a name, `None` when others were sent since."""
        return self._tokens[1] if self._tokens and self._tokens[0] == name else None

    def _is_text_of(self, digest: str | None) -> bool:
        # Editors take the mark off and put it back when they save.
        return digest in (text_digest(self.text), text_digest(BYTE_ORDER_MARK + self.text))


def own_document(buffers: Mapping[str, Buffer], path: Path) -> GoalDocument | None:
    """Return what a client has open at a path, its unsaved changes included, `None` where that is the file.

    From any thread.
    """
    path = resolved(path)
    opened = (buffer for buffer in list(buffers.values()) if buffer.path == path and not buffer.follows_file)
    return next((buffer.reading().goal for buffer in opened), None)


def apply_changes(text: str, changes: Iterable[lsp.TextDocumentContentChangeEvent], encoding: Encoding) -> str:
    """Return `text` after the edits of one notification; each is about the text that the one before it left."""
    pieces = Pieces(text, encoding)
    for change in changes:
        if isinstance(change, lsp.TextDocumentContentChangePartial):
            start, end = change.range.start, change.range.end
            pieces.replace((start.line, start.character), (end.line, end.character), change.text)
        else:
            pieces = Pieces(change.text, encoding)
    return str(pieces)
