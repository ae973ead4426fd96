"""The wire of the language server: pygls as a dispatcher of LSP methods, and as nothing else.

Only this module knows `pygls.protocol`. pygls 2.1 is made for one client per process: it ends the process on `exit`,
shows mistakes in message boxes, answers some requests never and others with a traceback, keeps a second copy of every
document under other line rules, and remembers connections that are gone. What is used of it is its table of features,
the capabilities that follow from it, and how it runs handlers.
"""

from __future__ import annotations

import logging
import re
import uuid
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs
import msgspec
from cattrs import transform_error
from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

from stateward_daemon import convert
from stateward_daemon.dispatch import unknown_method
from stateward_daemon.lsp.client import Client
from stateward_daemon.lsp.progress import Progress, cancelled
from stateward_protocol.envelope import encode_call, encode_error, encode_result, request_id
from stateward_protocol.errors import WireError
from stateward_protocol.methods import PROTOCOL_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from concurrent.futures import Future

    from cattrs import Converter

    from stateward_daemon.channel import Channel
    from stateward_daemon.performing import Performance
    from stateward_daemon.steps import Steps
    from stateward_protocol.envelope import RequestId

# Requests of ours that a client has not answered. A client that answers none would make the table grow for as long as
# it stays, so the oldest is given up.
UNANSWERED_MAX: Final = 32

# Makes ready to take the steps of a handler, and to call back with its answer or with its error.
Perform: TypeAlias = "Callable[[Steps, Callable[[Any], None], Callable[[Exception], None]], Performance]"

# Building one takes 5 ms and 100 KiB, and all sessions need the same.
CONVERTER: Final = default_converter()  # type: ignore[no-untyped-call] # pygls does not annotate it
_ENCODER: Final = msgspec.json.Encoder()
_AFTER_UNDERSCORE: Final = re.compile(r"_([a-z])")

# At INFO pygls logs every message with its body.
logging.getLogger("pygls").setLevel(logging.WARNING)


def _tolerant(kind: type[Enum]) -> Callable[[Any, Any], Any]:
    """Return what reads a value of an enumeration, and leaves one of a later version of LSP as it came."""

    def structure(value: Any, _kind: object) -> Any:  # noqa: ANN401 - any JSON value
        try:
            return kind(value)
        except ValueError:
            return value

    return structure


for _kind in vars(lsp).values():
    if isinstance(_kind, type) and issubclass(_kind, Enum):
        CONVERTER.register_structure_hook(_kind, _tolerant(_kind))


class Wire(LanguageServerProtocol):
    """The dispatcher of one client.

    Of the stock class these are replaced: whatever decodes, answers, reports or sends, every built-in handler but that
    of `initialize`, and the caches on methods, which keep each instance alive for good.

    Attributes:
        channel: Where messages go.
        log: Where mistakes go.
        client: What the client can do, which decides about what is announced and asked.
        unread: Called with the method and the params of a notification that does not fit.
        working: The progress of the request that a thread works on, of which there is one at most.
    """

    channel: Channel
    log: logging.Logger
    client: Client
    unread: Callable[[str, Any], None]
    working: Progress | None = None

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self._is_long: dict[str, Callable[[Any], bool]] = {}
        self._worked_on: RequestId | None = None
        self._perform: dict[str, Perform] = {}
        # Requests whose handlers take steps, with their progress.
        self._performing: dict[RequestId, tuple[Progress, Performance]] = {}
        self._titles: dict[str, str] = {}

    # -- messages in -------------------------------------------------------------------------------------------------

    def serve(
        self,
        method: str,
        handler: Callable[[Any], Any],
        options: object = None,
        is_long: Callable[[Any], bool] | None = None,
        perform: Perform | None = None,
        *,
        title: str = "",
    ) -> None:
        """Let `handler` serve a method: it takes the typed params, or `None` for a method without.

        Where `is_long` says so of the params of a request, the handler runs in a thread, with its connection held.
        A handler that returns steps has them taken by `perform`, which then calls the first of its callables with the
        answer, or the second with the error; the next message need not wait for that. What takes long is shown to the
        person under a title, and can be cancelled.
        """
        self.fm.feature(method, options)(handler)
        self._titles[method] = title
        if is_long is not None:
            self._is_long[method] = is_long
        if perform is not None:
            self._perform[method] = perform

    def receive(self, message: Mapping[str, Any]) -> None:
        """Run the handler of a request or notification; a request is answered exactly once."""
        method, identifier = message["method"], message.get("id")
        if identifier in self._request_futures or (identifier is not None and identifier in self._performing):
            self.refuse(identifier, WireError("invalid_message", "a request with this id is not answered yet"))
            return
        try:
            handler = self._handler(method)
            params = read_params(method, message.get("params"))
        except WireError as error:
            self.refuse(identifier, error)
            if identifier is None:
                self.unread(method, message.get("params"))
            return
        if identifier is not None and method in self._is_long and self._is_long[method](params):
            self._work(identifier, partial(self._answer, identifier, handler, params), self._progress(method, params))
            return
        if method in self._perform:
            perform = partial(self._perform[method], handler(params))
            self._take_steps(identifier, perform, self._progress(method, params))
            return
        # pygls files each running handler under an id, notifications too.
        key = str(uuid.uuid4()) if identifier is None else identifier
        self._execute_handler(key, handler, partial(self._finish, key=key, identifier=identifier), args=(params,))

    def overhear(self, message: Mapping[str, Any]) -> bool:
        """Take a message that need not wait for the thread which works on an earlier one; tell whether it is taken.

        That is an answer of the client, and what cancels the work.
        """
        if "method" not in message:
            self.settle(message)
            return True
        params = message.get("params")
        named = params if isinstance(params, dict) else {}
        if message["method"] == lsp.CANCEL_REQUEST:
            is_meant = named.get("id") == self._worked_on
        else:
            is_meant = self.working is not None and self.working.is_named(named.get("token"))
        if is_meant:
            self._drop_work()
        return is_meant

    def _work(self, identifier: RequestId, job: Callable[[], bytes], progress: Progress) -> None:
        """Have a thread work on a request. One that is cancelled is answered at once, and what comes of it dropped."""
        self.working, self._worked_on = progress, identifier

        def ended(tell: Callable[[Any], None], outcome: Any) -> None:  # noqa: ANN401 - an answer or an error
            self.working = self._worked_on = None
            if not progress.is_cancelled:
                progress.end()
                tell(outcome)

        self.channel.work(job, partial(ended, self.channel.send), partial(ended, partial(self.refuse, identifier)))

    def _drop_work(self) -> None:
        if self.working is not None and not self.working.is_cancelled:
            self.working.is_cancelled = True
            self.working.end()
            self.refuse(self._worked_on, cancelled())

    def _progress(self, method: str, params: Any) -> Progress:  # noqa: ANN401 - the params of any method
        token = getattr(params, "work_done_token", None)
        ask = self.ask if self.client.shows_progress else None
        return Progress(self._titles[method], token, self.channel.send, ask)

    def _take_steps(
        self, identifier: RequestId | None, perform: Callable[..., Performance], progress: Progress
    ) -> None:
        def ended() -> None:
            progress.end()
            if identifier is not None:
                self._performing.pop(identifier, None)

        def done(result: Any) -> None:  # noqa: ANN401 - the answer of any handler
            ended()
            if identifier is not None:
                self.channel.send(encode_result(identifier, result))

        def failed(error: Exception) -> None:
            ended()
            self.refuse(identifier, error)

        performance = perform(done, failed)
        if identifier is not None:
            self._performing[identifier] = progress, performance
        try:
            performance.begin()
        except WireError as error:
            failed(error)

    @property
    def settled(self) -> bool:
        """Whether every request whose handler takes steps is answered."""
        return not self._performing

    def settle(self, message: Mapping[str, Any]) -> None:
        """Take the client's answer to a request of ours; its result stays plain JSON."""
        identifier = request_id(message)
        # Stock keeps the client's requests in the same table, so that an answer with the id of one would settle it.
        # Only ours have a result type.
        if identifier is None or self._result_types.pop(identifier, self) is self:
            return
        future = self._request_futures.pop(identifier, None)
        if future is None or future.done():
            return
        error = message.get("error")
        if error is None:
            future.set_result(message.get("result"))
        else:
            future.set_exception(WireError.from_error(error if isinstance(error, dict) else {}))

    def release(self) -> None:
        """Cancel what is open in both directions: the connection is gone or about to go."""
        self._result_types.clear()
        while self._request_futures:
            _, future = self._request_futures.popitem()
            future.cancel()

    def _handler(self, method: str) -> Callable[[Any], Any]:
        handlers: dict[str, Callable[[Any], Any]] = {**self.fm.features, **self.fm.builtin_features}
        if method not in handlers:
            raise unknown_method(method, handlers)
        return handlers[method]

    def _register_builtin_features(self) -> None:
        # Not the others: `exit` ends the process, `shutdown` changes a table while it walks it, the text sync counts
        # lines differently, and each notification handled by a generator leaves a future behind.
        self.fm.add_builtin_feature(lsp.INITIALIZE, self.lsp_initialize)
        self.fm.add_builtin_feature(lsp.CANCEL_REQUEST, self._cancel)
        self.fm.add_builtin_feature(lsp.WINDOW_WORK_DONE_PROGRESS_CANCEL, self._cancel_progress)

    def _cancel(self, params: lsp.CancelParams) -> None:
        # Nothing has checked it: params are read without the checks of their values.
        identifier: object = params.id
        # An id of ours is not the client's to cancel.
        if isinstance(identifier, int | str) and identifier not in self._result_types:
            future = self._request_futures.get(identifier)
            if future is not None:
                future.cancel()
            self._take_back(identifier)

    def _cancel_progress(self, params: lsp.WorkDoneProgressCancelParams) -> None:
        for identifier, (progress, _) in list(self._performing.items()):
            if progress.is_named(params.token):
                self._take_back(identifier)

    def _take_back(self, identifier: RequestId) -> None:
        """Cancel what takes steps, if none of them has happened."""
        progress, performance = self._performing.get(identifier, (None, None))
        if progress is not None and performance is not None and performance.cancel():
            progress.end()
            del self._performing[identifier]
            self.refuse(identifier, cancelled())

    def lsp_initialize(self, params: lsp.InitializeParams) -> Generator[Any, Any, lsp.InitializeResult]:
        """Announce what is served."""
        result = yield from super().lsp_initialize(params)
        capabilities = result.capabilities
        capabilities.position_encoding = lsp.PositionEncodingKind(self.client.encoding)
        if not self.client.pulls_diagnostics:
            capabilities.diagnostic_provider = None
        if capabilities.semantic_tokens_provider is not None and not self.client.takes_deltas:
            capabilities.semantic_tokens_provider.full = True
        if self.client.prepares_renames:
            capabilities.rename_provider = lsp.RenameOptions(prepare_provider=True)
        # pygls announces commands of its own, even when there is none.
        capabilities.execute_command_provider = self.fm.feature_options.get(lsp.WORKSPACE_EXECUTE_COMMAND)
        # pygls knows no place for it.
        assert capabilities.workspace is not None  # noqa: S101 - folders are announced there
        capabilities.workspace.text_document_content = self.fm.feature_options[lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT]
        capabilities.experimental = {"stateward": {"protocol": PROTOCOL_VERSION}}
        return result

    # -- messages out ------------------------------------------------------------------------------------------------

    def refuse(self, identifier: RequestId | None, error: Exception) -> None:
        """Answer a request with an error; what is wrong with a notification only the log is told."""
        refusal = convert.refusal(error, self.log)
        if identifier is not None:
            self.channel.send(encode_error(identifier, refusal))
        elif refusal.category != "unknown_method":
            self.log.warning("a notification was ignored: %s", refusal.message)

    def ask(self, method: str, params: object = None) -> Future[Any]:
        """Send a request; the future gets its result as plain JSON, and nobody need wait for it."""
        while len(self._result_types) >= UNANSWERED_MAX:
            oldest = next(iter(self._result_types))
            del self._result_types[oldest]
            self._request_futures.pop(oldest).cancel()
        return self.send_request(method, params)

    def _finish(self, future: Future[Any], *, key: RequestId, identifier: RequestId | None) -> None:
        self._request_futures.pop(key, None)
        if future.cancelled():
            self.refuse(identifier, cancelled())
            return
        try:
            result = self._converter.unstructure(future.result())
            if identifier is not None:
                self.channel.send(encode_result(identifier, result))
        except Exception as error:  # noqa: BLE001 - the request is answered, whatever broke
            self.refuse(identifier, error)

    def _answer(self, identifier: RequestId, handler: Callable[[Any], Any], params: Any) -> bytes:  # noqa: ANN401
        return encode_result(identifier, self._converter.unstructure(handler(params)))

    def body_of(self, method: str, params: object) -> bytes:
        """Return a notification ready to be sent; it may be made in a thread."""
        return encode_call(method, self._converter.unstructure(params))

    def _send_data(self, data: Any) -> None:  # noqa: ANN401 - any message of lsprotocol
        self.channel.send(_ENCODER.encode(self._converter.unstructure(data)))

    # -- types, without the caches of the stock class ----------------------------------------------------------------

    # Stock puts a cache around these methods, and mypy takes it for their signature.

    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override] # as above
        """Return the type of the request or notification of a method."""
        types = lsp.METHOD_TO_TYPES.get(method)
        return types and types[0]

    def get_result_type(self, method: str) -> type[Any] | None:  # type: ignore[override] # as above
        """Return the type of the response of a method."""
        types = lsp.METHOD_TO_TYPES.get(method)
        return types and types[1]


def open_wire(channel: Channel, version: str, log: logging.Logger, unread: Callable[[str, Any], None]) -> Wire:
    """Return a dispatcher for one client, which serves nothing yet but `initialize`; for `unread` see `Wire`."""
    server = LanguageServer("stateward", version, protocol_cls=Wire, converter_factory=lambda: CONVERTER)
    wire = server.protocol
    assert isinstance(wire, Wire)  # noqa: S101 - for the type checker
    wire.channel, wire.log, wire.client, wire.unread = channel, log, Client(), unread
    return wire


def read_params(method: str, params: Any) -> Any:  # noqa: ANN401 - any JSON value in, any type of lsprotocol out
    """Return the params of a method in their LSP type, or `None` for a method without.

    Only the params are given a type, so that nothing inside them is taken for a message.

    Raises:
        WireError: `invalid_request`, with the place of the first member that does not fit.
    """
    _, _, params_type, _ = lsp.METHOD_TO_TYPES.get(method, (None, None, None, None))
    if params_type is None:
        return None
    try:
        # The types end numbers at 2^31 - 1. Editors that mean "the end of the line" send greater ones, and every
        # position is clamped to its text anyway.
        with attrs.validators.disabled():
            return CONVERTER.structure({} if params is None else _typed(method, params), params_type)
    except Exception as error:  # noqa: BLE001 - the hooks of lsprotocol raise whatever they meet
        complaint, _, place = transform_error(error, "$.params")[0].partition(" @ ")
        path = _AFTER_UNDERSCORE.sub(lambda match: match[1].upper(), place)
        raise WireError("invalid_request", f"params of {method} do not fit: {complaint}", path=path) from None


def _typed(method: str, params: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return params in which edits of a text have a text and, of what tells their two shapes apart, no nulls."""
    if method != lsp.TEXT_DOCUMENT_DID_CHANGE or not isinstance(params, dict):
        return params
    changes = [{key: value for key, value in one.items() if value is not None} for one in params["contentChanges"]]
    if not all(isinstance(one.get("text"), str) for one in changes):
        raise TypeError("an edit has a text")
    return {**params, "contentChanges": changes}
