"""Buffers: the text that one editor has open, unsaved edits included, kept as the editor keeps it.

pygls has a text sync of its own, which ends lines where Python does: a form feed or U+2028 in a document, and every
edit below it lands on the wrong line. So edits are applied here.
"""

from __future__ import annotations

import threading
from collections import deque
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import uuid4

from lsprotocol import types as lsp

from stateward_daemon.documents import resolved
from stateward_daemon.lsp.edits import versioned
from stateward_daemon.lsp.pieces import Edit, Pieces
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

# How many notifications are read edit by edit. Each takes about 2 ms in a long document, and looking for what differs
# between two texts of its length ten times that.
STEPS_MAX: Final = 4
# How many contents of its file a buffer remembers.
FILES_MAX: Final = 8


def _ask_nobody(_edits: lsp.ApplyWorkspaceEditParams) -> None:
    """Stand in for a client that takes no edits."""


class _Step(NamedTuple):
    """One notification: the edit that stands for all of its edits, and the text that it is an edit of."""

    before: Pieces
    edit: Edit


class _Held:
    """What the client's text was at one moment; it never changes, so a thread can work with it.

    Attributes:
        version: The client's number for it.
        pieces: The text.
        steps: The last edits that led to it, each from one text to the next.
    """

    def __init__(self, version: int, pieces: Pieces, steps: tuple[_Step, ...] = ()) -> None:
        self.version, self.pieces, self.steps = version, pieces, steps

    @cached_property
    def digests(self) -> tuple[str, str]:
        """The digests of the files that hold this text, without a byte-order mark and with one."""
        # Editors take the mark off and put it back when they save.
        text = str(self.pieces)
        return text_digest(text), text_digest(BYTE_ORDER_MARK + text)


class Buffer:
    """One open document of one connection. The event loop edits it; whoever reads it may be a thread.

    Attributes:
        uri: As the client spells it.
        path: The file under it, its directory resolved.
        encoding: How the client counts characters.
        ask: Asks the client to edit its text; from any thread.
        follows_file: The editor's text is that of an earlier file, so what is shown is about the file.
    """

    def __init__(
        self,
        uri: str,
        path: Path,
        encoding: Encoding,
        version: int,
        text: str,
        *,
        on_disk: str | None,
        ask: Callable[[lsp.ApplyWorkspaceEditParams], None] = _ask_nobody,
    ) -> None:
        """Take what the client opened.

        Args:
            uri: As the client spells it.
            path: The file under it, its directory resolved.
            encoding: How the client counts characters.
            version: The client's number for this text.
            text: The text.
            on_disk: Digest of the file, `None` when there is none.
            ask: Asks the client to edit its text; from any thread.
        """
        self.uri, self.path, self.encoding = uri, path, encoding
        # The newest last.
        self._files = deque([on_disk], maxlen=FILES_MAX)
        self.follows_file = False
        self.ask = ask
        self._held = _Held(version, Pieces(text, encoding))
        self._name, self._edits = uuid4().hex, 0
        self._read: tuple[_Held, Reading] | None = None
        self._reading = threading.Lock()
        # The semantic tokens that the client was sent last, with the name that they have for it.
        self._tokens: tuple[str, array[int]] | None = None

    @property
    def on_disk(self) -> str | None:
        """Digest of the file when it was last compared; `None` when there was none."""
        return self._files[-1]

    @on_disk.setter
    def on_disk(self, digest: str | None) -> None:
        self._files.append(digest)

    @property
    def version(self) -> int:
        """The client's number for its text."""
        return self._held.version

    @property
    def text(self) -> str:
        """The text, which is put together each time; `reading` costs less."""
        return str(self._held.pieces)

    @property
    def length(self) -> int:
        """How many characters the text has."""
        return len(self._held.pieces)

    @property
    def text_id(self) -> str:
        """A name of the text, which no other text of any buffer has; it costs no look at the text."""
        return f"{self._name}.{self._edits}"

    @property
    def is_unsaved(self) -> bool:
        """Whether the text has changes of its user that are in no file."""
        return not self.follows_file and self.on_disk not in self._held.digests

    def offer(self, version: int, text: str, edits: Sequence[SectionEdit]) -> None:
        """Ask the client to make edits, if its text is still of that version. From any thread."""
        index = LineIndex(text)

        def position(offset: int) -> lsp.Position:
            return lsp.Position(*index.position(offset, self.encoding))

        changes = [lsp.TextEdit(lsp.Range(position(start), position(end)), new) for (start, end), new in edits]
        edit = versioned(self.uri, version, changes)
        self.ask(lsp.ApplyWorkspaceEditParams(edit, label="Show the todos as they are"))

    def edit(self, changes: Iterable[lsp.TextDocumentContentChangeEvent], version: int) -> None:
        """Take the client's edits, in order. From now on it shows its own text again.

        But an editor that loads a file while somebody saves the next one has the text of an earlier file still.
        """
        held, known = self._held, self._read
        pieces, edit = edited(held.pieces, changes, self.encoding)
        steps = held.steps if known is None else _since(held, known[0].pieces) or ()
        steps = () if edit is None else (*steps, _Step(held.pieces, edit))[-STEPS_MAX:]
        self._held = _Held(version, pieces, steps)
        self._edits += 1
        self.follows_file = self.follows_file and self._is_earlier_file()

    def _is_earlier_file(self) -> bool:
        digests = self._held.digests
        return self.on_disk not in digests and not set(digests).isdisjoint(self._files)

    def saved(self, on_disk: str | None) -> bool:
        """Take note that the client wrote the file; tell whether something else is shown now.

        By the time we hear of it, somebody else may have written, too: then the file is not the client's text, and
        this is the only place that can tell it from an unsaved edit.
        """
        followed, self.follows_file = self.follows_file, False
        self.on_disk = self._held.digests[0]
        return self.file_changed(on_disk) or followed

    def file_changed(self, on_disk: str | None) -> bool:
        """Take note that the file is another one; tell whether something else is shown now.

        A buffer without edits follows the file: its editor is about to load it, though some do so only when their
        window comes to the front, and until then the buffer's text is old news. A buffer with edits keeps its own.
        """
        digests = self._held.digests
        followed, was_clean = self.follows_file, self.on_disk in digests
        self.on_disk = on_disk
        self.follows_file = (followed or was_clean) and on_disk not in digests
        return followed or self.follows_file

    def forget(self) -> None:
        """Read the text anew the next time, and not from what it said before."""
        self._read = None

    def reading(self) -> Reading:
        """Return what the text says; it is read once per text."""
        # Whoever asks while it is being read takes what was read.
        with self._reading:
            # Taken once: the event loop may edit or forget meanwhile.
            held, known = self._held, self._read
            if known is None or known[0] is not held:
                known = self._read = held, self._read_again(held, known)
            return known[1]

    def keep_tokens(self, numbers: array[int]) -> str:
        """Keep the semantic tokens that the client is sent; return the name by which it asks what has changed."""
        name = str(int(self._tokens[0]) + 1) if self._tokens else "1"
        self._tokens = name, numbers
        return name

    def kept_tokens(self, name: str) -> array[int] | None:
        """Return the tokens that the client knows under a name, `None` when others were sent since."""
        return self._tokens[1] if self._tokens and self._tokens[0] == name else None

    def _read_again(self, held: _Held, read: tuple[_Held, Reading] | None) -> Reading:
        """Return what a text says: after an edit nearly all of it is what it was, and only the rest is read again."""
        if read is None:
            return Reading(read_document(str(held.pieces)), self.encoding, held.version)
        known, before = read
        goal, steps = before.goal, _since(held, known.pieces)
        if steps is None:
            goal = goal.become(str(held.pieces))
        for step in steps or ():
            goal = goal.edit(*step.edit)
        return Reading(goal, self.encoding, held.version, before)


def own_document(buffers: Mapping[str, Buffer], path: Path) -> GoalDocument | None:
    """Return what a client has open at a path, its unsaved changes included, `None` where that is the file.

    From any thread.
    """
    path = resolved(path)
    opened = (buffer for buffer in list(buffers.values()) if buffer.path == path and not buffer.follows_file)
    return next((buffer.reading().goal for buffer in opened), None)


def _since(held: _Held, pieces: Pieces) -> tuple[_Step, ...] | None:
    """Return the steps that led from an earlier text to the one that is held, `None` where they are forgotten."""
    if pieces is held.pieces:
        return ()
    first = next((number for number, step in enumerate(held.steps) if step.before is pieces), None)
    return None if first is None else held.steps[first:]


def edited(
    pieces: Pieces, changes: Iterable[lsp.TextDocumentContentChangeEvent], encoding: Encoding
) -> tuple[Pieces, Edit | None]:
    """Return a text after the edits of one notification, and the edit that stands for all of them.

    Each is about the text that the one before it left. Where one of them is a whole text, no edit stands for them.
    """
    pieces = copy(pieces)
    edits: list[Edit] | None = []
    for change in changes:
        if isinstance(change, lsp.TextDocumentContentChangePartial):
            start, end = change.range.start, change.range.end
            edit = pieces.replace((start.line, start.character), (end.line, end.character), change.text)
            if edits is not None:
                edits.append(edit)
        else:
            pieces, edits = Pieces(change.text, encoding), None
    return pieces, None if edits is None else _hull(edits, pieces)


def _hull(edits: Sequence[Edit], pieces: Pieces) -> Edit:
    """Return one edit that does what several do, given the text that they leave."""
    if len(edits) == 1:
        return edits[0]
    # What has changed so far: from `start` up to `end` in the text before, and up to `behind` in the text after.
    start, end, behind = (edits[0].start, edits[0].end, edits[0].start + len(edits[0].text)) if edits else (0, 0, 0)
    for edit in edits[1:]:
        start, end = min(start, edit.start), end + max(edit.end - behind, 0)
        behind = max(edit.end, behind) + len(edit.text) - (edit.end - edit.start)
    return Edit(start, end, pieces.between(start, behind))
