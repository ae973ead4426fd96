"""The session: what one editor has open, what it is shown, and the states that its connection goes through.

It runs on the event loop and waits for nothing. Whatever can take long is done in a thread and comes back as an event:
reading a long document, the search through folders, the watching of files.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp

from stateward_daemon.configuration import DEFAULT, FILES, Configuration, rules_mark
from stateward_daemon.diagnosis import problems_of
from stateward_daemon.grounds import Grounds, grounds_of
from stateward_daemon.lookout import Lookout
from stateward_daemon.lsp.attach import attach
from stateward_daemon.lsp.buffers import own_document
from stateward_daemon.lsp.client import Client, read_client
from stateward_daemon.lsp.configured import Configured
from stateward_daemon.lsp.diagnostics import diagnostic
from stateward_daemon.lsp.dispatch import FEATURES, Feature
from stateward_daemon.lsp.folders import Folders
from stateward_daemon.lsp.following import Following
from stateward_daemon.lsp.opened import Opened
from stateward_daemon.lsp.phase import Phase, admit
from stateward_daemon.lsp.reading import Reading
from stateward_daemon.lsp.served import Served
from stateward_daemon.lsp.showing import Showing
from stateward_daemon.lsp.uris import goal_path_of
from stateward_daemon.lsp.wire import open_wire
from stateward_daemon.performing import Performance
from stateward_engine.authority.goal import goal_at
from stateward_engine.errors import EngineError
from stateward_engine.goals.suppression import ruled
from stateward_protocol.errors import WireError

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

# A document of this size, in bytes or characters, takes about 30 ms to read and to answer about. Longer ones are read
# in a thread, so that other clients do not wait.
READ_INLINE_MAX: Final = 64 * 1024

_VIEW: Final = "view"
# What `initialize` tells pygls about the client: nothing. What is read of it, `client.py` reads.
_NO_CAPABILITIES: Final[dict[str, Any]] = {"processId": None, "rootUri": None, "capabilities": {}}


class LspSession:
    """One editor.

    Attributes:
        caller: Who it is to the host.
        client: What it said of itself.
        phase: How far its connection has come.
        showing: What it is told without asking.
        opened: What it has open.
        folders: Its workspace folders.
        served: The virtual documents that it shows.
        documents: Where files are read.
        watcher: Where files are watched.
        configured: What is to be seen of documents.
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
        self.documents, self.log = host.documents, host.log
        self.caller = caller
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._following = Following(caller, self._view_changed, self._show_if_looked_after)
        self._wire = open_wire(channel, host.version, host.log, self._unread)
        self.showing = Showing(self, channel, self._wire)
        self.watcher = Lookout(host.watcher, lambda: self.folders.roots)
        self.opened = Opened(host, self.watcher)
        self.folders = Folders(self.watcher, self.showing.show)
        self.configured = Configured(self.ask, self.showing.tell_once, self._show_all)
        self.served = Served(caller, self.showing.show_virtual)
        caller.own_document = partial(own_document, self.buffers)
        for method, feature in FEATURES.items():
            is_long = feature.is_long and partial(feature.is_long, self)
            handle = partial(self._handle_unless_off, feature) if feature.switch else partial(feature.handle, self)
            perform = self._perform if feature.steps else None
            self._wire.serve(method, handle, feature.options, is_long, perform, title=feature.title)

    # -- called by the connection ------------------------------------------------------------------------------------

    def receive(self, message: dict[str, Any]) -> None:
        """Take one request, notification or answer of the client."""
        if "method" not in message:
            self._wire.settle(message)
            return
        identifier = message.get("id")
        try:
            admit(self.phase, message["method"], is_request=identifier is not None)
            if message["method"] == lsp.INITIALIZE:
                self._introduce(message.get("params") or {})
                message = {**message, "params": _NO_CAPABILITIES}
        except (WireError, EngineError) as refusal:
            self._wire.refuse(identifier, refusal)
        else:
            self._wire.receive(message)

    def overhear(self, message: dict[str, Any]) -> bool:
        """Take a message that need not wait for the thread which works on an earlier one; tell whether it is taken."""
        return self.is_serving and self._wire.overhear(message)

    @property
    def is_serving(self) -> bool:
        """Whether the client has introduced itself and not said goodbye."""
        return self.phase is Phase.SERVING

    @property
    def settled(self) -> bool:
        """Whether every command is answered."""
        return self._wire.settled

    def file_changed(self, path: Path, digest: str | None) -> None:
        """Take note that the file at `path` has content of this digest now, `None` for nothing to be read."""
        if path.name in FILES:
            self.showing.forget(f"{path}:")
            self._show_all(below=path.parent)
            return
        opened = [buffer for buffer in self.buffers.values() if buffer.path == path]
        for buffer in opened:
            if buffer.file_changed(digest):
                self.showing.show(buffer.uri)
        if path in self.folders.goals and not opened:
            self.showing.show(self.folders.goals[path])

    def resumed(self) -> None:
        """Send what was held back while the client did not read."""
        self.showing.outbox.resumed()

    def closed(self) -> None:
        """Let go of everything: the connection is gone."""
        self.phase = Phase.SHUT_DOWN
        self._following.close()
        self.showing.outbox.close()
        self.folders.close()
        self.opened.close_all()
        self._wire.release()

    # -- called by features ------------------------------------------------------------------------------------------

    @property
    def buffers(self) -> dict[str, Buffer]:
        """The goal documents that it has open, by URI."""
        return self.opened.buffers

    def ask_for_edit(self, params: lsp.ApplyWorkspaceEditParams) -> None:
        """Ask the client for an edit, if it takes any. From any thread."""
        # At the end of a daemon there is no loop, and nobody to ask.
        if self.client.applies_edits:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._ask_for_edit, params)

    def path(self, uri: str) -> Path | None:
        """Return the path of a goal document: open, in a folder, or of the name; `None` for what is left alone."""
        if buffer := self.buffers.get(uri):
            return buffer.path
        return self.folders.path(uri) or goal_path_of(uri)

    def shown(self, uri: str) -> Reading | None:
        """Return what the client's diagnostics for `uri` are about: its own text, or else the file."""
        if buffer := self._shown_buffer(uri):
            return buffer.reading()
        path = self.path(uri)
        return None if path is None else self.read_file(path)

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
        return digest + rules_mark(self.configuration(uri).rules) + "/".join(("", *self._grounds_of(uri)))

    def goal(self, uri: str) -> Goal | None:
        """Return the goal of a document as it is now, `None` where it is that of none."""
        path, host = self.path(uri), self.caller.host
        return None if path is None else goal_at(host.store.view, str(path), host.machine)

    def problems(self, uri: str, reading: Reading) -> list[Problem]:
        """Return the problems of a document that its project wants to see, with all that is known of them."""
        # Noted first: what changes meanwhile is seen as a change.
        self.follow(uri, reading)
        found = problems_of(self.caller, reading.goal, self.path(uri))
        return list(ruled(found, self.configuration(uri).rules))

    def follow(self, uri: str, reading: Reading) -> None:
        """Show a document anew when its goal or the state moves on: what was answered about it rests on them."""
        grounds, path = self._grounds_of(uri), self.path(uri)
        self._following.note(uri, path, grounds if reading.goal.has_reference_sign else grounds.without_state())

    def diagnostics(self, uri: str, shown: Reading | None) -> list[lsp.Diagnostic]:
        """Return the diagnostics of what is shown under `uri`, none where there is no file."""
        if shown is None:
            return []
        return [diagnostic(problem, shown, uri, self.client) for problem in self.problems(uri, shown)]

    def configuration(self, uri: str) -> Configuration:
        """Return what is to be seen of a document."""
        path = self.path(uri)
        return DEFAULT if path is None else self.configured.of(path)

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
        return uri in self.buffers or self.folders.path(uri) is not None

    def reading(self, uri: str) -> Reading | None:
        """Return the text that the client's positions are about, or `None` when there is none to be read."""
        if uri in self.buffers:
            return self.buffers[uri].reading()
        return self.shown(uri)

    def read_file(self, path: Path) -> Reading | None:
        """Return the file at a path, or `None` when there is none to be read."""
        try:
            return Reading(self.documents.read(path), self.client.encoding, None)
        except WireError:
            return None

    def ask(self, method: str, params: object = None) -> Future[Any]:
        """Send a request. Nobody need wait for its answer: some clients refuse what they offered."""
        return self._wire.ask(method, params)

    def count(self, number: int, total: int) -> None:
        """Show how much of what was asked for is done; from the thread that does it.

        Raises:
            WireError: `cancelled`; nobody wants the rest.
        """
        if self._wire.working is not None:
            self._wire.working.count(number, total)

    def send_part(self, token: lsp.ProgressToken, part: object) -> None:
        """Send a part of an answer before the rest; from the thread that makes it."""
        body = self._wire.body_of(lsp.PROGRESS, lsp.ProgressParams(token, part))
        if self._wire.working is None:
            # The answer is made on the loop and sent at once: what waits for its turn would come after it.
            self._channel.send(body)
            return
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._channel.send, body)

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

    def _unread(self, method: str, params: Any) -> None:  # noqa: ANN401 - any JSON value
        """Let go of a text whose edit does not fit: what would be shown of it from now on were another text's."""
        document = params.get("textDocument") if isinstance(params, dict) else None
        uri = document.get("uri") if isinstance(document, dict) else None
        if method == lsp.TEXT_DOCUMENT_DID_CHANGE and isinstance(uri, str) and self.opened.close(uri):
            self.showing.push(uri)
            told = "the editor sent an edit that does not fit the protocol; open the document again to have it served"
            self.showing.tell(told, lsp.MessageType.Warning)

    def _show_all(self, below: Path | None = None) -> None:
        """Show anew what the client works with, or what of it lies below a directory."""
        for uri in dict.fromkeys([*self.buffers, *self.folders.goals.values()]):
            path = self.path(uri)
            if path is not None and (below is None or path.is_relative_to(below)):
                self.showing.show(uri)

    def _introduce(self, params: dict[str, Any]) -> None:
        client = read_client(params)
        attach(self.caller, client)
        self.client = client
        self.phase = Phase.SERVING
        self._wire.client = client
        self.configured.begin(client.settings)
        self.folders.look(self.caller.host.goals_here())
        # In the background, so that nothing of it is sent before the answer to `initialize`.
        self.folders.change(added=client.folders)

    def _handle_unless_off(self, feature: Feature, params: Any) -> Any:  # noqa: ANN401 - of several methods
        is_on = getattr(self.configuration(params.text_document.uri), str(feature.switch))
        return feature.handle(self, params) if is_on else None

    def _perform(self, steps: Steps, done: Callable[[Any], None], failed: Callable[[Exception], None]) -> Performance:
        return Performance(self.caller.host, steps, done, failed)

    def _view_changed(self) -> None:
        self.showing.outbox.put(_VIEW, self._look)

    def _look(self) -> None:
        view, goals = self.caller.host.store.view, self.caller.host.goals_here()
        self.folders.look(goals)
        for buffer in self.opened.look(goals):
            self.showing.show(buffer.uri)
        for buffer in self.buffers.values():
            if self.folders.goals.get(buffer.path) not in self.buffers:
                self.folders.respell(buffer.path, buffer.uri)
        self._following.look(view, goals)
        self.served.look()

    def _show_if_looked_after(self, uri: str) -> bool:
        if not self.looks_after(uri):
            return False
        self.showing.show(uri)
        return True

    def _grounds_of(self, uri: str) -> Grounds:
        return grounds_of(self.caller.readable(), self.caller.host.store.view, self.goal(uri))

    def _shown_buffer(self, uri: str) -> Buffer | None:
        """Return the buffer whose own text is shown for `uri`, or `None` when the file is."""
        buffer = self.buffers.get(uri)
        return None if buffer is None or buffer.follows_file else buffer
