"""What one editor is told without asking: diagnostics that are pushed, and that it should ask again."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types as lsp

from stateward_daemon.lsp.outbox import Outbox

if TYPE_CHECKING:
    from stateward_daemon.channel import Channel
    from stateward_daemon.lsp.session import LspSession
    from stateward_daemon.lsp.wire import Wire


class _Made(NamedTuple):
    """Diagnostics that are ready to be sent, the name of the text that they are about, and whether it is none."""

    body: bytes
    text_id: str | None
    is_empty: bool


class Showing:
    """The sends of one session that no request of its client waits for.

    Attributes:
        outbox: Where they wait.
    """

    def __init__(self, session: LspSession, channel: Channel, wire: Wire) -> None:
        """Begin with nothing shown."""
        self.outbox = Outbox(channel)
        self._session = session
        self._channel = channel
        self._wire = wire
        self._loop = asyncio.get_running_loop()
        # The sentences that are not told twice.
        self._told: set[str] = set()
        # By URI the digest of what was pushed: the client shows that until it is taken back, and is not sent it again.
        self._shown: dict[str, bytes] = {}

    def begin_anew(self, uri: str) -> None:
        """Take note that the client begins anew with a document: what is pushed next it gets in any case."""
        if uri in self._shown:
            self._shown[uri] = b""

    def push(self, uri: str) -> None:
        """Send what follows from the text of `uri` soon: diagnostics to a client that does not ask for them."""
        self._session.served.text_changed(self._session.path(uri))
        if not self._session.client.pulls_diagnostics:
            self.outbox.put(uri, partial(self._publish, uri))

    def show(self, uri: str) -> None:
        """Let the client see that something else is shown for `uri`, for a reason that it does not know of."""
        self.push(uri)
        for method in self._session.client.refreshes:
            self.outbox.put(method, partial(self._refresh, method))

    def show_virtual(self, uri: str) -> None:
        """Let the client ask again for a virtual document, if it shows any."""
        if self._session.client.shows_virtual:
            params = lsp.TextDocumentContentRefreshParams(uri)
            self.outbox.put(uri, partial(self._refresh, lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH, params))

    def tell(self, message: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        """Show a person a sentence."""
        self._channel.send(self._wire.body_of(lsp.WINDOW_SHOW_MESSAGE, lsp.ShowMessageParams(kind, message)))

    def tell_soon(self, message: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        """Show a person a sentence. From any thread."""
        # At the end of a daemon there is no loop, and nobody to be told.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._tell_if_serving, message, kind)

    def tell_once(self, sentence: str) -> None:
        """Warn a person, unless they have been told the same before. From any thread."""
        if sentence not in self._told:
            self._told.add(sentence)
            self.tell_soon(sentence, lsp.MessageType.Warning)

    def forget(self, beginning: str) -> None:
        """Let a sentence of this beginning be told again: what it complains of has changed."""
        self._told = {told for told in list(self._told) if not told.startswith(beginning)}

    def _tell_if_serving(self, message: str, kind: lsp.MessageType) -> None:
        if self._session.is_serving:
            self.tell(message, kind)

    def _refresh(self, method: str, params: object = None) -> None:
        self._wire.ask(method, params)

    def _publish(self, uri: str) -> asyncio.Future[None] | None:
        if not self._session.is_long(uri):
            self._send(uri, self._made(uri))
            return None
        return asyncio.ensure_future(self._publish_long(uri))

    async def _publish_long(self, uri: str) -> None:
        self._send(uri, await self._loop.run_in_executor(None, self._made, uri))

    def _made(self, uri: str) -> _Made:
        """Return the diagnostics of what is shown for `uri`, ready to be sent; in a thread where that takes long."""
        session = self._session
        text_id = session.buffer_id(uri)
        shown = session.shown(uri) if session.looks_after(uri) else None
        version = None if shown is None else shown.version
        items = session.diagnostics(uri, shown)
        params = lsp.PublishDiagnosticsParams(uri, items, version=version)
        body = self._wire.body_of(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)
        return _Made(body, text_id, is_empty=not items)

    def _send(self, uri: str, made: _Made) -> None:
        if not self._session.is_serving:
            return
        if made.text_id != self._session.buffer_id(uri):
            # The text has moved on while a thread read it; diagnostics are never older than what they are shown on. Its
            # version would not tell: a document that was opened again may have the same.
            self.push(uri)
            return
        if made.is_empty and uri not in self._session.buffers:
            if self._shown.pop(uri, None) is None:
                return
        else:
            digest = sha256(made.body).digest()
            if self._shown.get(uri) == digest:
                return
            self._shown[uri] = digest
        self._channel.send(made.body)
