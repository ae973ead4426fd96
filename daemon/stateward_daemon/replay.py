"""What a new daemon must be told so that an editor can go on: the bridge's memory. No I/O.

An editor speaks once of its capabilities and of each document that it opens, and then only of changes. A daemon that
takes over in the middle needs all of it again; a request that the old one took is lost and must be answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_protocol.envelope import RequestId

# Documents and their changes since they were opened. A day of typing is a few MiB; beyond this bound the memory of the
# bridge would grow with every key for as long as the editor runs.
REPLAY_BYTES_MAX: Final = 64 * 1024 * 1024

# LSP: the request was valid and could not be done now. Editors show it as a failed request, not as a broken server.
REQUEST_FAILED: Final = -32803

# Tells a client that nothing is subscribed any more, and that anything may have changed.
RESTARTED: Final = "$/stateward/restarted"

_OPEN: Final = "textDocument/didOpen"
_CHANGE: Final = "textDocument/didChange"
_CLOSE: Final = "textDocument/didClose"
_SHOW: Final = "workspace/textDocumentContent"


class _TextDocument(Struct):
    uri: str = ""


class _ContentChange(Struct):
    range: msgspec.Raw | UnsetType = UNSET


class _Params(Struct):
    """The few members that the bridge looks at; all others pass through unread."""

    uri: str = ""
    text_document: _TextDocument = msgspec.field(name="textDocument", default_factory=_TextDocument)
    content_changes: list[_ContentChange] = msgspec.field(name="contentChanges", default_factory=list)


class Head(Struct):
    """What tells one message from another. Params stay bytes until somebody needs them."""

    method: str | None = None
    id: int | str | None = None
    params: msgspec.Raw = msgspec.Raw(b"{}")


def head_of(body: bytes) -> Head:
    """Return the head of a message; anything unreadable has none, and is the daemon's to refuse."""
    try:
        return msgspec.json.decode(body, type=Head)
    except msgspec.DecodeError:
        return Head()


class Replay:
    """The editor's side of one conversation, as far as it must be repeated.

    Attributes:
        initialize: The request, once it was sent.
        initialized: The notification, once it was sent.
        answered: Whether the editor has had its answer to `initialize`.
        leaving: Whether the editor has sent `shutdown` or `exit`: then nothing is to be survived any more.
        overflown: Whether there was more to remember than `bytes_max`.
        pending: Requests of the editor that have no answer yet, with their methods.
    """

    def __init__(self, bytes_max: int = REPLAY_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._documents: dict[str, list[bytes]] = {}
        # Requests of the daemon that the editor owes an answer. A later daemon did not ask them.
        self._asked: set[RequestId] = set()
        self.initialize: bytes | None = None
        self.initialized: bytes | None = None
        self.answered = False
        self.leaving = False
        self.overflown = False
        self.pending: dict[RequestId, str] = {}

    # -- what passes --

    def from_editor(self, body: bytes) -> bool:
        """Note a message of the editor, and return whether it is for the daemon that runs now."""
        head = head_of(body)
        if head.method is None:
            if head.id is None:
                return True
            asked = head.id in self._asked
            self._asked.discard(head.id)
            return asked
        if head.id is not None:
            self.pending[head.id] = head.method
        self._note(head, body)
        return True

    def from_daemon(self, body: bytes) -> None:
        """Note a message of the daemon before the editor gets it."""
        head = head_of(body)
        if head.id is None:
            return
        if head.method is not None:
            self._asked.add(head.id)
        elif self.pending.pop(head.id, None) == "initialize":
            self.answered = True

    def _note(self, head: Head, body: bytes) -> None:
        if head.method == "initialize":
            self.initialize = body
        elif head.method == "initialized":
            self.initialized = body
        elif head.method in ("shutdown", "exit"):
            self.leaving = True
        elif head.method in (_OPEN, _CHANGE, _CLOSE, _SHOW):
            self._note_document(head.method, head.params, body)

    def _note_document(self, method: str, raw: msgspec.Raw, body: bytes) -> None:
        try:
            params = msgspec.json.decode(raw, type=_Params)
        except msgspec.DecodeError:
            return
        uri = params.text_document.uri
        if method == _SHOW and params.uri not in self._documents:
            # Its text came from a daemon. The next one hears that it is shown, and lets the editor ask again.
            shown = {"uri": params.uri, "languageId": "json", "version": 0, "text": ""}
            self._remember(params.uri, [_message(method=_OPEN, params={"textDocument": shown})])
        elif method == _OPEN:
            self._remember(uri, [body])
        elif method == _CLOSE:
            self._remember(uri, [])
        elif uri in self._documents:
            known = self._documents[uri]
            # A change without a range is the whole text: it stands for the changes before it. The opening stays, for
            # the language that it names.
            if any(change.range is UNSET for change in params.content_changes):
                self._remember(uri, [known[0], body])
            else:
                known.append(body)
                self._count(len(body))

    def _remember(self, uri: str, messages: list[bytes]) -> None:
        forgotten = self._documents.pop(uri, [])
        if messages:
            self._documents[uri] = messages
        self._count(sum(map(len, messages)) - sum(map(len, forgotten)))

    def _count(self, added: int) -> None:
        self._bytes += added
        if self._bytes > self._bytes_max:
            self.overflown = True
            self._documents.clear()
            self._bytes = 0

    # -- when the daemon is gone --

    def documents(self) -> Iterator[bytes]:
        """Yield what brings the open documents to where they are, in order for each of them."""
        for messages in self._documents.values():
            yield from messages

    def fail_pending(self) -> Iterator[bytes]:
        """Forget the requests that the lost daemon took or asked, and yield an error answer to each of the editor's.

        An `initialize` without an answer stays: it is sent again, and the new daemon answers it.
        """
        self._asked.clear()
        for identifier, method in list(self.pending.items()):
            if method != "initialize":
                del self.pending[identifier]
                yield failed_request(identifier)


def failed_request(identifier: RequestId) -> bytes:
    """Return the answer to a request that a lost daemon took with it."""
    error = {
        "code": REQUEST_FAILED,
        "message": "the daemon was lost before it answered; the request may be repeated",
        "data": {"category": "store_unavailable", "retryable": True},
    }
    return _message(id=identifier, error=error)


def restart_notices() -> Iterator[bytes]:
    """Yield the notifications that tell of a restart: people in the log, and a client that subscribed to something.

    Clients ignore a method that begins with `$/` and that they do not know.
    """
    params = {"type": 2, "message": "stateward: the daemon was restarted; open documents were handed over"}
    yield _message(method="window/logMessage", params=params)
    yield _message(method=RESTARTED, params={})


def _message(**members: Any) -> bytes:  # noqa: ANN401 - any JSON value
    return msgspec.json.encode({"jsonrpc": "2.0", **members})
