"""The session: what one editor has open, what it is shown, and the states that its connection goes through.

It runs on the event loop and waits for nothing. Whatever can take long is done in a thread and comes back as an event:
reading a long document, the search through folders, the watching of files.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp

from stateward_daemon.delivering import settle_saved
from stateward_daemon.diagnosis import problems_of
from stateward_daemon.grounds import Grounds, grounds_of
from stateward_daemon.lsp.attach import attach
from stateward_daemon.lsp.buffers import own_document
from stateward_daemon.lsp.client import Client, read_client
from stateward_daemon.lsp.diagnostics import diagnostic
from stateward_daemon.lsp.dispatch import FEATURES
from stateward_daemon.lsp.folders import Folders
from stateward_daemon.lsp.following import Following
from stateward_daemon.lsp.reading import Reading
from stateward_daemon.lsp.served import Served
from stateward_daemon.lsp.showing import Showing
from stateward_daemon.lsp.uris import goal_path_of
from stateward_daemon.lsp.wire import open_wire
from stateward_daemon.performing import Performance
from stateward_daemon.rules import rules_mark, rules_or_none
from stateward_engine.authority.goal import goal_at
from stateward_engine.errors import EngineError
from stateward_engine.goals.suppression import ruled
from stateward_protocol.errors import WireError, shortened

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from pathlib import Path

    from stateward_daemon.channel import Channel
    from stateward_daemon.host import Caller
    from stateward_daemon.lsp.buffers import Buffer
    from stateward_daemon.steps import Steps
    from stateward_engine.authority.goal import Goal
    from stateward_engine.goals.problems import Problem
    from stateward_engine.goals.suppression import Rules

# A document of this size, in bytes or characters, takes about 30 ms to read and to answer about. Longer ones are read
# in a thread, so that other clients do not wait.
READ_INLINE_MAX: Final = 64 * 1024

_VIEW: Final = "view"
# What `initialize` tells pygls about the client: nothing. What is read of it, `client.py` reads.
_NO_CAPABILITIES: Final[dict[str, Any]] = {"processId": None, "rootUri": None, "capabilities": {}}


class Phase(Enum):
    """How far a connection has come."""

    NEW = auto()
    SERVING = auto()
    SHUT_DOWN = auto()


class LspSession:
    """One editor.

    Attributes:
        caller: Who it is to the host.
        client: What it said of itself.
        phase: How far its connection has come.
        showing: What it is told without asking.
        buffers: What it has open, by URI.
        folders: Its workspace folders.
        served: The virtual documents that it shows.
        documents: Where files are read.
        watcher: Where files are watched.
        log: Where what a client does wrong without asking is noted.
    """

    def __init__(self, channel: Channel, caller: Caller) -> None:
        """Begin in phase `NEW`.

        Args:
            channel: What carries its messages.
            caller: Who it is to the host; `initialize` binds it.
        """
        host = caller.host
        assert host.watcher is not None  # noqa: S101 - only a daemon has connections, and it watches
        self.client = Client()
        self.phase = Phase.NEW
        self.buffers: dict[str, Buffer] = {}
        self.folders = Folders(host.watcher, self.show)
        self.documents, self.watcher, self.log = host.documents, host.watcher, host.log
        self.caller = caller
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._following = Following(caller, self._view_changed, self._show_if_open)
        self._wire = open_wire(channel, host.version, host.log)
        self.showing = Showing(self, channel, self._wire)
        self.served = Served(caller, self.show_virtual)
        caller.own_document = partial(own_document, self.buffers)
        for method, feature in FEATURES.items():
            is_long = feature.is_long and partial(feature.is_long, self)
            perform = self._perform if feature.steps else None
            self._wire.serve(method, partial(feature.handle, self), feature.options, is_long, perform)

    # -- called by the connection ------------------------------------------------------------------------------------

    def receive(self, message: dict[str, Any]) -> None:
        """Take one request, notification or answer of the client."""
        if "method" not in message:
            self._wire.settle(message)
            return
        identifier = message.get("id")
        try:
            self._admit(message["method"], is_request=identifier is not None)
            if message["method"] == lsp.INITIALIZE:
                self._introduce(message.get("params") or {})
                message = {**message, "params": _NO_CAPABILITIES}
        except (WireError, EngineError) as refusal:
            self._wire.refuse(identifier, refusal)
        else:
            self._wire.receive(message)

    @property
    def is_serving(self) -> bool:
        """Whether the client has introduced itself and not said goodbye."""
        return self.phase is Phase.SERVING

    @property
    def settled(self) -> bool:
        """Whether every command is answered."""
        return self._wire.settled

    def file_changed(self, path: Path) -> None:
        """Take note that the file at `path` has other content now, or came or went."""
        on_disk = self.documents.digest(path)
        opened = [buffer for buffer in self.buffers.values() if buffer.path == path]
        for buffer in opened:
            if buffer.file_changed(on_disk):
                self.show(buffer.uri)
        if path in self.folders.goals and not opened:
            self.show(self.folders.goals[path])

    def resumed(self) -> None:
        """Send what was held back while the client did not read."""
        self.showing.outbox.resumed()

    def closed(self) -> None:
        """Let go of everything: the connection is gone."""
        self.phase = Phase.SHUT_DOWN
        self._following.close()
        self.showing.outbox.close()
        self.folders.close()
        for uri in list(self.buffers):
            self.release(uri)
        self._wire.release()

    # -- called by features ------------------------------------------------------------------------------------------

    def hold(self, buffer: Buffer) -> None:
        """Keep what the client opened; what it has open under the same URI is replaced."""
        unsaved = self.caller.host.unsaved
        if before := self.buffers.get(buffer.uri):
            unsaved.close(before.path, before)
        self.buffers[buffer.uri] = buffer
        self.showing.begin_anew(buffer.uri)
        unsaved.open(buffer.path, buffer)

    def release(self, uri: str) -> bool:
        """Forget what the client had open; return whether it had."""
        buffer = self.buffers.pop(uri, None)
        if buffer is None:
            return False
        self.watcher.discard(buffer.path)
        self.caller.host.unsaved.close(buffer.path, buffer)
        self.settle(buffer.path)
        return True

    def settle(self, path: Path) -> None:
        """Let the display be delivered that waited for the client's changes of a document."""
        settle_saved(self.caller.host, path)

    def ask_for_edit(self, params: lsp.ApplyWorkspaceEditParams) -> None:
        """Ask the client for an edit, if it takes any. From any thread."""
        # At the end of a daemon there is no loop, and nobody to ask.
        if self.client.applies_edits:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._ask_for_edit, params)

    def path(self, uri: str) -> Path | None:
        """Return the path of a goal document: one that is open, or has the name; `None` for what is left alone."""
        buffer = self.buffers.get(uri)
        return goal_path_of(uri) if buffer is None else buffer.path

    def shown(self, uri: str) -> Reading | None:
        """Return what the client's diagnostics for `uri` are about: its own text, or else the file."""
        if buffer := self._shown_buffer(uri):
            return buffer.reading()
        path = self.path(uri)
        return None if path is None else self._read_file(path)

    def shown_id(self, uri: str) -> str | None:
        """Return a name of what `shown` gives, `None` for nothing; it costs no parsing."""
        path = self.path(uri)
        if buffer := self._shown_buffer(uri):
            digest: str | None = buffer.text_id
        else:
            digest = None if path is None else self.documents.digest(path)
        if digest is None:
            return None
        # The same text shows other diagnostics under other rules, and when its goal or the state has moved on.
        return digest + rules_mark(self.rules(uri)) + "/".join(("", *self._grounds_of(uri)))

    def goal(self, uri: str) -> Goal | None:
        """Return the goal of a document as it is now, `None` where it is that of none."""
        path = self.path(uri)
        return None if path is None else goal_at(self.caller.host.store.view, str(path))

    def problems(self, uri: str, reading: Reading) -> list[Problem]:
        """Return the problems of a document that its project wants to see, with all that is known of them."""
        # Noted first: what changes meanwhile is seen as a change.
        self.follow(uri, reading)
        found = problems_of(self.caller, reading.goal, self.path(uri))
        return list(ruled(found, self.rules(uri)))

    def follow(self, uri: str, reading: Reading) -> None:
        """Show a document anew when its goal or the state moves on: what was answered about it rests on them."""
        grounds, path = self._grounds_of(uri), self.path(uri)
        self._following.note(uri, path, grounds if reading.goal.has_reference_sign else grounds._replace(state=""))

    def diagnostics(self, uri: str, shown: Reading | None) -> list[lsp.Diagnostic]:
        """Return the diagnostics of what is shown under `uri`, none where there is no file."""
        if shown is None:
            return []
        return [diagnostic(problem, shown, uri, self.client) for problem in self.problems(uri, shown)]

    def rules(self, uri: str) -> Rules:
        """Return what the project of a document wants to see of it."""
        return rules_or_none(self.path(uri), self.log)

    def buffer_id(self, uri: str) -> str | None:
        """Return a name of the client's text that `shown` is about, or `None` when it is about the file."""
        buffer = self._shown_buffer(uri)
        return None if buffer is None else buffer.text_id

    def shown_version(self, uri: str) -> int | None:
        """Return the version of the client's text that `shown` is about, or `None` when it is about the file.

        By a version the editor drops what is about another text than it shows. What is about the file has none: the
        buffer's number is that of the text which the file has replaced.
        """
        buffer = self._shown_buffer(uri)
        return None if buffer is None else buffer.version

    def is_long(self, uri: str) -> bool:
        """Tell whether what is shown for `uri` takes long to read, or to compare with what its goal should show."""
        if (goal := self.goal(uri)) and goal.promoted:
            return True
        if buffer := self._shown_buffer(uri):
            return buffer.length > READ_INLINE_MAX
        path = self.path(uri)
        return path is not None and self.documents.size_bytes(path) > READ_INLINE_MAX

    def looks_after(self, uri: str) -> bool:
        """Tell whether the client works with a document: has it open or in a folder."""
        return uri in self.buffers or uri in self.folders.goals.values()

    def reading(self, uri: str) -> Reading | None:
        """Return the text that the client's positions are about, or `None` when there is none to be read."""
        if uri in self.buffers:
            return self.buffers[uri].reading()
        return self.shown(uri)

    def push(self, uri: str) -> None:
        """Send diagnostics soon, to a client that does not ask for them."""
        self.showing.push(uri)

    def show(self, uri: str) -> None:
        """Let the client see that something else is shown for `uri`, for a reason that it does not know of."""
        self.showing.show(uri)

    def show_virtual(self, uri: str) -> None:
        """Let the client ask again for a virtual document, if it shows any."""
        self.showing.show_virtual(uri)

    def ask(self, method: str, params: object = None) -> Future[Any]:
        """Send a request. Nobody need wait for its answer: some clients refuse what they offered."""
        return self._wire.ask(method, params)

    def tell(self, message: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        """Show a person a sentence."""
        params = lsp.ShowMessageParams(kind, message)
        self._channel.send(self._wire.body_of(lsp.WINDOW_SHOW_MESSAGE, params))

    def tell_soon(self, message: str) -> None:
        """Show a person a sentence. From any thread."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.tell, message)

    def shut_down(self) -> None:
        """Serve nothing more but `exit`."""
        self.phase = Phase.SHUT_DOWN
        self.showing.outbox.close()

    def exit(self) -> None:
        """End this connection; the daemon stays for the others."""
        self._channel.close()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _ask_for_edit(self, params: lsp.ApplyWorkspaceEditParams) -> None:
        if self.is_serving:
            self.ask(lsp.WORKSPACE_APPLY_EDIT, params)

    def _admit(self, method: str, *, is_request: bool) -> None:
        """Check that the connection has come as far as the method needs.

        Raises:
            WireError: `not_attached` before `initialize`, `invalid_message` for a second one and after `shutdown`.
        """
        if method == lsp.EXIT:
            return
        if self.phase is Phase.SHUT_DOWN:
            raise WireError("invalid_message", "after shutdown nothing is served but exit; open a new connection")
        if method == lsp.INITIALIZE and (self.phase is not Phase.NEW or not is_request):
            raise WireError("invalid_message", "initialize is the first request of a connection, and sent once")
        if method != lsp.INITIALIZE and self.phase is Phase.NEW:
            raise WireError("not_attached", "send initialize first", got=shortened(method))

    def _introduce(self, params: dict[str, Any]) -> None:
        client = read_client(params)
        attach(self.caller, client)
        self.client = client
        self.phase = Phase.SERVING
        self._wire.encoding = client.encoding
        self._wire.offers_diagnostics = client.pulls_diagnostics
        self._wire.offers_preparation = client.prepares_renames
        # In the background, so that nothing of it is sent before the answer to `initialize`.
        self.folders.change(added=client.folders)

    def _perform(self, steps: Steps, done: Callable[[Any], None], failed: Callable[[Exception], None]) -> None:
        Performance(self.caller.host, steps, done, failed).begin()

    def _view_changed(self) -> None:
        self.showing.outbox.put(_VIEW, self._look)

    def _look(self) -> None:
        self._following.look()
        self.served.look()

    def _show_if_open(self, uri: str) -> bool:
        if not self.looks_after(uri):
            return False
        self.show(uri)
        return True

    def _grounds_of(self, uri: str) -> Grounds:
        return grounds_of(self.caller.readable(), self.caller.host.store.view, self.goal(uri))

    def _shown_buffer(self, uri: str) -> Buffer | None:
        """Return the buffer whose own text is shown for `uri`, or `None` when the file is."""
        buffer = self.buffers.get(uri)
        return None if buffer is None or buffer.follows_file else buffer

    def _read_file(self, path: Path) -> Reading | None:
        try:
            return Reading(self.documents.read(path), self.client.encoding, None)
        except WireError:
            return None
