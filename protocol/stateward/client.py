"""The synchronous client: one typed method per method of the protocol.

Params and results are described in `stateward_protocol.messages`, where the types of the results live. Source:
protocol.md sections 2, 3 and 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

import msgspec

from stateward import calls
from stateward.calls import CLIENT_NAME
from stateward.goal_calls import GoalCalls
from stateward_protocol import messages as m
from stateward_protocol.errors import WireError
from stateward_protocol.notices import Notice, SubscribeResult, Topic
from stateward_protocol.record_messages import GoalRenderResult
from stateward_protocol.store_messages import CompactResult, ResetScopeResult
from stateward_protocol.virtual_messages import StateDocumentResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType

    from stateward.transport import Transport
    from stateward_protocol.envelope import Call

R = TypeVar("R")


class Client(GoalCalls):
    """A connection that mends itself.

    It connects at the first call. When the connection is lost it connects again, starting a daemon where it may, and
    attaches as before; the call is sent once more if that cannot do anything twice. Not for several threads at once.

    Each method raises `WireError` (`stateward.StatewardError`) for the daemon's refusals and for its absence, and
    `RuntimeError` once the client is closed.

    Attributes:
        attached: What the connection is bound to, once `attach` was answered.
    """

    def __init__(self, open_transport: Callable[[], Transport], client_name: str = CLIENT_NAME) -> None:
        """Prepare a client; nothing is opened yet.

        Args:
            open_transport: Opens one connection, at first and whenever one was lost.
            client_name: Who calls, for `sessions` and the log.
        """
        self._open_transport = open_transport
        self._client_name = client_name
        self._transport: Transport | None = None
        self._closed = False
        self._attachment: dict[str, Any] | None = None
        self._topics: list[Topic] = []
        self.attached: m.AttachResult | None = None

    # -- the connection --

    def attach(
        self,
        *,
        cwd: str | None = None,
        session: str | None = None,
        wanted: Sequence[m.Owner] | None = None,
        mode: m.Mode = "active",
    ) -> m.AttachResult:
        """Bind the connection, and those after it, to the owners that the caller works with."""
        params = calls.attach_params(self._client_name, cwd, session, wanted, mode)
        self._attachment = None
        self.attached = self._perform("attach", m.AttachResult, params)
        self._attachment = params
        return self.attached

    def ping(self) -> m.PingResult:
        """Ask whether the daemon is there."""
        return self._perform("ping", m.PingResult)

    def status(self) -> m.StatusResult:
        """Ask for versions, places, load and health of the daemon."""
        return self._perform("status", m.StatusResult)

    def sessions(self) -> m.SessionsResult:
        """List the live connections."""
        return self._perform("sessions", m.SessionsResult)

    def shutdown_daemon(self) -> m.ShutdownResult:
        """Ask the daemon to stop listening, finish what is queued, and end."""
        return self._perform("shutdown_daemon", m.ShutdownResult)

    # -- state --

    def read_state(
        self, path: str | None = None, *, paths: Sequence[str] | None = None, projection: m.Projection = "value"
    ) -> dict[str, Any]:
        """Read one path or a batch, exactly or not at all; the shape of the answer follows the request."""
        return self._perform("read_state", dict, {"path": path, "paths": paths, "projection": projection})

    def patch_state(
        self, patch: Mapping[str, Any], *, idempotency_key: str | None = None, if_revision: str | None = None
    ) -> m.PatchReceipt:
        """Merge a patch into the state, and return once it is durable.

        A call without a key gets one, so that a lost answer can be asked for again.
        """
        key = calls.new_idempotency_key() if idempotency_key is None else idempotency_key
        params = {"patch": patch, "idempotency_key": key, "if_revision": if_revision}
        with calls.naming_key(key):
            return self._perform("patch_state", m.PatchReceipt, params)

    def baseline(self) -> m.BaselineResult:
        """Take what a run starts with: hot state, and where lazy state is."""
        return self._perform("baseline", m.BaselineResult)

    def respond(self, text: str) -> m.ChangedResult:
        """Keep an answer as the session's response, in mode active."""
        return self._perform("respond", m.ChangedResult, {"text": text})

    def set_mode(self, mode: m.Mode) -> m.SetModeResult:
        """Change the mode of the connection, and of those after it."""
        answer = self._perform("set_mode", m.SetModeResult, {"mode": mode})
        if self._attachment is not None and self.attached is not None:
            self._attachment["mode"] = mode
            self.attached = msgspec.structs.replace(self.attached, mode=mode)
        return answer

    def fork_session(self, parent: str, child: str) -> m.ChangedResult:
        """Begin a session with the current state of another one."""
        return self._perform("fork_session", m.ChangedResult, {"parent": parent, "child": child})

    def state_document(self, uri: str) -> StateDocumentResult:
        """Take a value of the state, or a projection, as the text that editors show."""
        return self._perform("state_document", StateDocumentResult, {"uri": uri})

    def state_status(self) -> m.StateStatusResult:
        """Ask for revisions and health of the wanted scopes."""
        return self._perform("state_status", m.StateStatusResult)

    def subscribe(self, topics: Sequence[Topic] = ("state",)) -> SubscribeResult:
        """Be told of changes on this connection, and on those after it; `changes` gives them."""
        return self._subscribed(self._perform("subscribe", SubscribeResult, {"topics": topics}))

    def unsubscribe(self, topics: Sequence[Topic] = ("state",)) -> SubscribeResult:
        """Be told no more."""
        return self._subscribed(self._perform("unsubscribe", SubscribeResult, {"topics": topics}))

    def _subscribed(self, answer: SubscribeResult) -> SubscribeResult:
        self._topics = answer.topics
        return answer

    def changes(self, timeout_s: float | None = None) -> Iterator[Notice]:
        """Yield each change that the daemon tells of, as it comes, after `subscribe`.

        Several changes may be told as one. After a lost connection the next use connects anew and begins with a change
        of everything, since nobody knows what was missed.

        Args:
            timeout_s: End when nothing came for so many seconds; `None` waits for ever. In-process it ends at once:
                while this process has the store, nobody else changes it.

        Raises:
            WireError: The connection was lost.
        """
        while (told := self._wait(timeout_s)) is not None:
            if (change := calls.change_of(told)) is not None:
                yield change

    def configure(self, *, history_limit: int) -> m.ConfigureResult:
        """Change how many transitions of the store stay addressable."""
        return self._perform("configure", m.ConfigureResult, {"history_limit": history_limit})

    def export_state(self) -> m.ExportResult:
        """Take the stored states of the wanted scopes."""
        return self._perform("export_state", m.ExportResult)

    def import_state(self, scopes: Mapping[m.Owner, Any]) -> m.ChangedResult:
        """Put whole states into scopes that nothing ever changed."""
        return self._perform("import_state", m.ChangedResult, {"scopes": scopes})

    # -- the store --

    def reset_scope(
        self, scope: m.StreamKind, *, cwd: str | None = None, session: str | None = None, goal_id: str | None = None
    ) -> ResetScopeResult:
        """Give up all that a scope or a stream of a goal holds, damaged or not; it begins anew and empty."""
        params = {"scope": scope, "cwd": cwd, "session": session, "goal_id": goal_id}
        return self._perform("reset_scope", ResetScopeResult, params)

    def compact(self) -> CompactResult:
        """Write what changed into checkpoints and begin a new journal."""
        return self._perform("compact", CompactResult)

    # -- goal documents --

    def goal_projection(
        self,
        *,
        path: str | None = None,
        text: str | None = None,
        goal_id: str | None = None,
        source_ref: str | None = None,
    ) -> dict[str, Any]:
        """Read a goal document into its projection object."""
        params = {"path": path, "text": text, "goal_id": goal_id, "source_ref": source_ref}
        return self._perform("goal_projection", dict, params)

    def goal_diagnostics(
        self,
        *,
        path: str | None = None,
        text: str | None = None,
        goal_id: str | None = None,
        source_ref: str | None = None,
    ) -> m.GoalDiagnosticsResult:
        """Read a goal document into its problems, with a fix where a mechanical repair exists."""
        params = {"path": path, "text": text, "goal_id": goal_id, "source_ref": source_ref}
        return self._perform("goal_diagnostics", m.GoalDiagnosticsResult, params)

    def goal_render(
        self,
        records: Sequence[Mapping[str, Any]],
        provider_revision: str,
        *,
        path: str | None = None,
        text: str | None = None,
        private_validation: Mapping[str, Any] | None = None,
    ) -> GoalRenderResult:
        """Render canonical records onto a goal document; no file is written."""
        params = {
            "records": records,
            "provider_revision": provider_revision,
            "path": path,
            "text": text,
            "private_validation": private_validation,
        }
        return self._perform("goal_render", GoalRenderResult, params)

    # -- life --

    def close(self) -> None:
        """End the connection for good; the daemon goes on. A second call does nothing."""
        self._closed = True
        self._disconnect()

    def _disconnect(self) -> None:
        if self._transport is not None:
            self._transport.close()
            self._transport = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _perform(self, method: str, result: type[R], params: Mapping[str, Any] | None = None) -> R:
        sent = calls.given(params or {})
        try:
            answer = self._send(method, sent)
        except WireError as error:
            if not calls.may_repeat(error, method, sent):
                raise
            answer = self._send(method, sent)
        return calls.typed(answer, result)

    def _send(self, method: str, params: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
        try:
            return self._connected().call(method, params)
        except WireError as error:
            if calls.is_lost(error):
                self._disconnect()
            raise

    def _wait(self, timeout_s: float | None) -> Call | None:
        try:
            return self._connected().wait(timeout_s)
        except WireError as error:
            if calls.is_lost(error):
                self._disconnect()
            raise

    def _connected(self) -> Transport:
        calls.check_open(closed=self._closed)
        if self._transport is None:
            transport = self._open_transport()
            try:
                if self._attachment is not None:
                    self.attached = calls.typed(transport.call("attach", self._attachment), m.AttachResult)
                    if self._topics:
                        transport.call("subscribe", {"topics": self._topics})
                    for topic in self._topics:
                        found = transport.call(calls.resuming(topic), {})
                        transport.notifications += calls.resumed(topic, self.attached, found)
            except WireError:
                # Kept, it would answer the next call as a connection that is bound to nothing.
                transport.close()
                raise
            self._transport = transport
        return self._transport
