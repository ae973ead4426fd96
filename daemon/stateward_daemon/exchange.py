"""The messages of one connection: calls in, exactly one answer out per request.

Runs on the event loop and waits for nothing: reads are answered at once, mutations when the writer has settled them,
documents when a thread has read them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from stateward_daemon import convert, dispatch
from stateward_daemon.encoded import answer_too_large
from stateward_daemon.performing import Performance, demand_running
from stateward_protocol.envelope import (
    Answer,
    Call,
    encode_error,
    encode_result,
    is_notification,
    read_message,
    request_id,
)
from stateward_protocol.errors import WireError, shortened
from stateward_protocol.methods import Kind, Method
from stateward_protocol.strict_json import Unsendable, without_surrogates

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from stateward_daemon.channel import Channel
    from stateward_daemon.host import Caller
    from stateward_daemon.lsp.session import LspSession
    from stateward_daemon.steps import Steps
    from stateward_engine.store.decide import Command
    from stateward_engine.store.group import Outcome
    from stateward_engine.store.writer import Ticket
    from stateward_protocol.envelope import RequestId


class Exchange:
    """What one client asked and has not been answered yet."""

    def __init__(self, caller: Caller, channel: Channel) -> None:
        self._caller = caller
        self._host = caller.host
        self._channel = channel
        self._lsp: LspSession | None = None
        # Mutations that are not answered yet, with what takes them back from the writer while nothing has happened.
        self._unanswered: dict[RequestId | None, Ticket | Performance] = {}

    @property
    def settled(self) -> bool:
        """Whether every request is answered."""
        return not self._unanswered and (self._lsp is None or self._lsp.settled)

    # -- messages in -------------------------------------------------------------------------------------------------

    def receive(self, message: Any) -> None:  # noqa: ANN401 - any JSON value
        """Take one decoded message."""
        try:
            envelope = read_message(message)
        except WireError as error:
            if not is_notification(message):
                self._channel.send(encode_error(request_id(message), error))
            return
        if isinstance(envelope, Answer):
            if self._lsp is not None:
                self._lsp.receive(message)
        elif envelope.id is not None and envelope.id in self._unanswered:
            duplicate = WireError("invalid_message", "a request with this id is not answered yet", path="$.id")
            self._refuse(envelope.id, duplicate)
        else:
            self._receive_call(envelope, message)

    def refuse_unreadable(self, error: Exception) -> None:
        """Answer a frame that could not be decoded."""
        if not isinstance(error, Unsendable):
            self._channel.send(encode_error(None, convert.refusal(error, self._host.log)))
        elif self._lsp is not None and dispatch.find_method(str(error.message.get("method"))) is None:
            # An editor's text may hold half a surrogate pair. Dropping the edit would lose its text for good, and the
            # replacement character is as long in every encoding, so positions stay right.
            self.receive(without_surrogates(error.message))
        elif not is_notification(error.message):
            identifier = None if error.path == "$.id" else request_id(error.message)
            self._channel.send(encode_error(identifier, error.refusal()))

    def _receive_call(self, call: Call, message: Any) -> None:  # noqa: ANN401 - the decoded object of `call`
        method = dispatch.find_method(call.method)
        if method is not None:
            self._serve(method, call)
        elif call.method == "$/cancelRequest" and self._cancel(call.params.get("id")):
            return
        elif self._lsp is not None:
            self._lsp.receive(message)
        elif call.method == "initialize" and call.id is not None:
            self._open_lsp(message, call.id)
        else:
            self._refuse(call.id, self._not_served(call.method))

    @staticmethod
    def _not_served(method: str) -> WireError:
        if "/" in method or method == "shutdown":
            return WireError("not_attached", "send initialize first: this method is for editors", got=shortened(method))
        return dispatch.unknown_method(method)

    # -- our methods -------------------------------------------------------------------------------------------------

    def _serve(self, method: Method, call: Call) -> None:
        if not dispatch.is_loaded(method):
            # Others need not wait for that.
            serve, fail = partial(self._serve_loaded, method, call), partial(self._fail, call.id)
            self._channel.work(partial(dispatch.handler_of, method), lambda _handler: serve(), fail)
        else:
            self._serve_loaded(method, call)

    def _serve_loaded(self, method: Method, call: Call) -> None:
        try:
            prepared = dispatch.prepare(self._caller, method, call.params)
            if method.kind is Kind.DOCUMENT:
                self._channel.work(prepared.run, partial(self._answer, call.id), partial(self._fail, call.id))
            elif method.kind is Kind.GOAL:
                self._perform(call.id, prepared.run())
            elif method.writes:
                self._submit(prepared.run(), call.id)
            else:
                self._answer(call.id, prepared.run())
        except Exception as error:  # noqa: BLE001 - the request is answered, whatever broke
            self._fail(call.id, error)

    def _submit(self, command: Command, identifier: RequestId | None) -> None:
        demand_running(self._host)
        ticket = self._host.store.submit(command, partial(self._settle, identifier))
        if identifier is not None:
            self._unanswered[identifier] = ticket

    def _settle(self, identifier: RequestId | None, outcome: Outcome) -> None:
        try:
            self._finish(identifier, convert.receipt(outcome))
        except Exception as error:  # noqa: BLE001 - the request is answered, whatever broke
            self._unfinished(identifier, error)

    def _perform(self, identifier: RequestId | None, steps: Steps) -> None:
        """Let a handler take its steps; the next message need not wait for them."""
        performance = Performance(
            self._host, steps, partial(self._finish, identifier), partial(self._unfinished, identifier)
        )
        if identifier is not None:
            self._unanswered[identifier] = performance
        try:
            performance.begin()
        except WireError as error:
            self._unfinished(identifier, error)

    def _unfinished(self, identifier: RequestId | None, error: Exception) -> None:
        self._unanswered.pop(identifier, None)
        self._fail(identifier, error)

    def _finish(self, identifier: RequestId | None, result: Mapping[str, Any]) -> None:
        self._unanswered.pop(identifier, None)
        try:
            self._answer(identifier, result)
        except Exception as error:  # noqa: BLE001 - the request is answered, whatever broke
            self._fail(identifier, error)

    def _cancel(self, identifier: Any) -> bool:  # noqa: ANN401 - whatever the client sent
        """Take back a mutation that the writer has not begun; tell whether the id is one of ours."""
        if not isinstance(identifier, int | str) or identifier not in self._unanswered:
            return False
        if self._unanswered[identifier].cancel():
            del self._unanswered[identifier]
            self._refuse(identifier, WireError("cancelled", "the request was cancelled before it was committed"))
        return True

    # -- the language server -----------------------------------------------------------------------------------------

    def _open_lsp(self, message: Any, identifier: RequestId) -> None:  # noqa: ANN401 - the decoded initialize request
        """Become an editor's connection. pygls takes half a second to import, so a thread does it, once per process."""

        def load() -> type[LspSession]:
            from stateward_daemon.lsp.session import LspSession  # noqa: PLC0415 - agents never pay for it

            return LspSession

        def start(session: type[LspSession]) -> None:
            self._lsp = session(self._channel, self._caller)
            self._lsp.receive(message)

        self._channel.work(load, start, partial(self._fail, identifier))

    def overhear(self, message: Any) -> bool:  # noqa: ANN401 - any JSON value
        """Take what need not wait for a thread that works on an earlier message; tell whether it is taken."""
        return self._lsp is not None and isinstance(message, dict) and self._lsp.overhear(message)

    def file_changed(self, path: Path, digest: str | None) -> None:
        """Tell an editor that the file at `path` has content of another digest now, or came or went."""
        if self._lsp is not None:
            self._lsp.file_changed(path, digest)

    def resumed(self) -> None:
        """Tell an editor's session that the client reads again."""
        if self._lsp is not None:
            self._lsp.resumed()

    def closed(self) -> None:
        """Let go of what belongs to the connection; an editor that crashed sends no `exit`."""
        if self._lsp is not None:
            self._lsp.closed()
        self._host.dismiss(self._caller)

    # -- answers out -------------------------------------------------------------------------------------------------

    def _answer(self, identifier: RequestId | None, result: Any) -> None:  # noqa: ANN401 - a struct or JSON value
        if identifier is None:
            return
        body = encode_result(identifier, result)
        limit = self._host.settings.max_message_bytes
        if len(body) > limit:
            raise answer_too_large(len(body), limit)
        self._channel.send(body)

    def _fail(self, identifier: RequestId | None, error: Exception) -> None:
        self._refuse(identifier, convert.refusal(error, self._host.log))

    def _refuse(self, identifier: RequestId | None, error: WireError) -> None:
        """Send an error answer; a notification gets none."""
        if identifier is not None:
            self._channel.send(encode_error(identifier, error))
