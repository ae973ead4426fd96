"""The asynchronous client: the methods of `Client`, and many calls in flight on one connection.

Calls are sent in the order in which they are made. A call that is cancelled, or takes longer than its timeout, is taken
back at the daemon as well. Source: protocol.md sections 1 and 5.
"""

from __future__ import annotations

import asyncio
import functools
import os
from collections import deque
from typing import TYPE_CHECKING, Any, Self, TypeVar, get_args

import msgspec

from stateward import calls
from stateward.async_connection import Connection
from stateward.async_goal_calls import AsyncGoalCalls
from stateward.calls import CLIENT_NAME
from stateward.location import store_place
from stateward.start import TIMEOUT_S, DaemonStart, check_start, open_transport
from stateward.transport import NOTIFICATIONS_MAX
from stateward_protocol import messages as m
from stateward_protocol.errors import WireError
from stateward_protocol.notices import Notice, SubscribeResult, Topic
from stateward_protocol.record_messages import GoalRenderResult
from stateward_protocol.store_messages import CompactResult, ResetScopeResult
from stateward_protocol.virtual_messages import StateDocumentResult

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Mapping, Sequence
    from types import TracebackType

    from stateward_protocol.envelope import Call

R = TypeVar("R")


class AsyncClient(AsyncGoalCalls):
    """A connection that mends itself, as `Client` does, for one event loop.

    Errors are those of `Client`.

    Attributes:
        attached: What the connection is bound to, once `attach` was answered.
        notifications: What the daemon told unasked, oldest first; take from it what you read.
    """

    def __init__(
        self, open_socket: Callable[[], socket.socket], *, client_name: str = CLIENT_NAME, timeout_s: float = TIMEOUT_S
    ) -> None:
        """Prepare a client; nothing is opened yet.

        Args:
            open_socket: Opens one connection, at first and whenever one was lost. It may block: it runs in a thread.
            client_name: Who calls, for `sessions` and the log.
            timeout_s: Seconds until a call is given up.
        """
        self._open_socket = open_socket
        self._client_name = client_name
        self._timeout_s = timeout_s
        self._connection: Connection | None = None
        self._closed = False
        self._opening = asyncio.Lock()
        self._attachment: dict[str, Any] | None = None
        self._topics: list[Topic] = []
        self.attached: m.AttachResult | None = None
        self.notifications: deque[Call] = deque(maxlen=NOTIFICATIONS_MAX)

    @classmethod
    def connect(
        cls,
        cwd: str | os.PathLike[str] | None = None,
        session: str | None = None,
        wanted: Sequence[m.Owner] | None = None,
        mode: m.Mode = "active",
        *,
        store: str | os.PathLike[str] | None = None,
        start: DaemonStart = "auto",
        socket: str | None = None,
        timeout_s: float = TIMEOUT_S,
        client_name: str = CLIENT_NAME,
    ) -> Opening:
        """Return an attached client, to be awaited; `async with` awaits it as well, and closes it in the end.

        The arguments and errors are those of `stateward.connect`. There is no embedded client: in-process calls would
        hold up the event loop.
        """
        check_start(start, get_args(DaemonStart))
        opening = functools.partial(open_transport, store_place(store), start=start, socket=socket, timeout_s=timeout_s)
        client = cls(lambda: opening().detach(), client_name=client_name, timeout_s=timeout_s)
        directory = None if cwd is None else os.path.abspath(cwd)  # noqa: PTH100 - what it returns is sent as text
        return Opening(client, client.attach(cwd=directory, session=session, wanted=wanted, mode=mode))

    # -- the connection --

    async def attach(
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
        self.attached = await self._perform("attach", m.AttachResult, params)
        self._attachment = params
        return self.attached

    async def ping(self) -> m.PingResult:
        """Ask whether the daemon is there."""
        return await self._perform("ping", m.PingResult)

    async def status(self) -> m.StatusResult:
        """Ask for versions, places, load and health of the daemon."""
        return await self._perform("status", m.StatusResult)

    async def sessions(self) -> m.SessionsResult:
        """List the live connections."""
        return await self._perform("sessions", m.SessionsResult)

    async def shutdown_daemon(self) -> m.ShutdownResult:
        """Ask the daemon to stop listening, finish what is queued, and end."""
        return await self._perform("shutdown_daemon", m.ShutdownResult)

    # -- state --

    async def read_state(
        self, path: str | None = None, *, paths: Sequence[str] | None = None, projection: m.Projection = "value"
    ) -> dict[str, Any]:
        """Read one path or a batch, exactly or not at all; the shape of the answer follows the request."""
        return await self._perform("read_state", dict, {"path": path, "paths": paths, "projection": projection})

    async def patch_state(
        self, patch: Mapping[str, Any], *, idempotency_key: str | None = None, if_revision: str | None = None
    ) -> m.PatchReceipt:
        """Merge a patch into the state, and return once it is durable.

        A call without a key gets one, so that a lost answer can be asked for again.
        """
        key = calls.new_idempotency_key() if idempotency_key is None else idempotency_key
        params = {"patch": patch, "idempotency_key": key, "if_revision": if_revision}
        with calls.naming_key(key):
            return await self._perform("patch_state", m.PatchReceipt, params)

    async def baseline(self) -> m.BaselineResult:
        """Take what a run starts with: hot state, and where lazy state is."""
        return await self._perform("baseline", m.BaselineResult)

    async def respond(self, text: str) -> m.ChangedResult:
        """Keep an answer as the session's response, in mode active."""
        return await self._perform("respond", m.ChangedResult, {"text": text})

    async def set_mode(self, mode: m.Mode) -> m.SetModeResult:
        """Change the mode of the connection, and of those after it."""
        answer = await self._perform("set_mode", m.SetModeResult, {"mode": mode})
        if self._attachment is not None and self.attached is not None:
            self._attachment["mode"] = mode
            self.attached = msgspec.structs.replace(self.attached, mode=mode)
        return answer

    async def fork_session(self, parent: str, child: str) -> m.ChangedResult:
        """Begin a session with the current state of another one."""
        return await self._perform("fork_session", m.ChangedResult, {"parent": parent, "child": child})

    async def state_document(self, uri: str) -> StateDocumentResult:
        """Take a value of the state, or a projection, as the text that editors show."""
        return await self._perform("state_document", StateDocumentResult, {"uri": uri})

    async def state_status(self) -> m.StateStatusResult:
        """Ask for revisions and health of the wanted scopes."""
        return await self._perform("state_status", m.StateStatusResult)

    async def subscribe(self, topics: Sequence[Topic] = ("state",)) -> SubscribeResult:
        """Be told of changes on this connection, and on those after it; `changes` gives them."""
        return self._subscribed(await self._perform("subscribe", SubscribeResult, {"topics": topics}))

    async def unsubscribe(self, topics: Sequence[Topic] = ("state",)) -> SubscribeResult:
        """Be told no more."""
        return self._subscribed(await self._perform("unsubscribe", SubscribeResult, {"topics": topics}))

    def _subscribed(self, answer: SubscribeResult) -> SubscribeResult:
        self._topics = answer.topics
        return answer

    async def changes(self, timeout_s: float | None = None) -> AsyncIterator[Notice]:
        """Yield each change that the daemon tells of, as it comes; see `Client.changes`."""
        while True:
            calls.check_open(closed=self._closed)
            connection = self._connection
            if connection is None or connection.lost:
                connection = await self._connected()
            while self.notifications:
                if (change := calls.change_of(self.notifications.popleft())) is not None:
                    yield change
            try:
                async with asyncio.timeout(timeout_s):
                    await connection.told()
            except TimeoutError:
                return

    async def configure(self, *, history_limit: int) -> m.ConfigureResult:
        """Change how many transitions of the store stay addressable."""
        return await self._perform("configure", m.ConfigureResult, {"history_limit": history_limit})

    async def export_state(self) -> m.ExportResult:
        """Take the stored states of the wanted scopes."""
        return await self._perform("export_state", m.ExportResult)

    async def import_state(self, scopes: Mapping[m.Owner, Any]) -> m.ChangedResult:
        """Put whole states into scopes that nothing ever changed."""
        return await self._perform("import_state", m.ChangedResult, {"scopes": scopes})

    # -- the store --

    async def reset_scope(
        self, scope: m.StreamKind, *, cwd: str | None = None, session: str | None = None, goal_id: str | None = None
    ) -> ResetScopeResult:
        """Give up all that a scope or a stream of a goal holds, damaged or not; it begins anew and empty."""
        params = {"scope": scope, "cwd": cwd, "session": session, "goal_id": goal_id}
        return await self._perform("reset_scope", ResetScopeResult, params)

    async def compact(self) -> CompactResult:
        """Write what changed into checkpoints and begin a new journal."""
        return await self._perform("compact", CompactResult)

    # -- goal documents --

    async def goal_projection(
        self,
        *,
        path: str | None = None,
        text: str | None = None,
        goal_id: str | None = None,
        source_ref: str | None = None,
    ) -> dict[str, Any]:
        """Read a goal document into its projection object."""
        params = {"path": path, "text": text, "goal_id": goal_id, "source_ref": source_ref}
        return await self._perform("goal_projection", dict, params)

    async def goal_diagnostics(
        self,
        *,
        path: str | None = None,
        text: str | None = None,
        goal_id: str | None = None,
        source_ref: str | None = None,
    ) -> m.GoalDiagnosticsResult:
        """Read a goal document into its problems, with a fix where a mechanical repair exists."""
        params = {"path": path, "text": text, "goal_id": goal_id, "source_ref": source_ref}
        return await self._perform("goal_diagnostics", m.GoalDiagnosticsResult, params)

    async def goal_render(
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
        return await self._perform("goal_render", GoalRenderResult, params)

    # -- life --

    async def close(self) -> None:
        """End the connection for good; the daemon goes on. Calls in flight fail. A second call does nothing."""
        self._closed = True
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _perform(self, method: str, result: type[R], params: Mapping[str, Any] | None = None) -> R:
        sent = calls.given(params or {})
        try:
            answer = await self._send(method, sent)
        except WireError as error:
            # Of a client that somebody closed in the meantime, nothing is asked for again.
            if self._closed or not calls.may_repeat(error, method, sent):
                raise
            answer = await self._send(method, sent)
        return calls.typed(answer, result)

    async def _send(self, method: str, params: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
        calls.check_open(closed=self._closed)
        # Without a wait where there is a connection: that is what keeps calls in the order in which they are made.
        connection = self._connection
        try:
            if connection is None or connection.lost:
                connection = await self._connected()
            return await connection.call(method, params, self._timeout_s)
        except WireError as error:
            if error.category == "shutting_down" and connection is not None:
                connection.lost = True
            raise

    async def _connected(self) -> Connection:
        """Return a live connection; of several callers that miss one, the first opens it."""
        async with self._opening:
            if self._connection is None or self._connection.lost:
                connection = await self._opened()
                if self._closed:
                    await connection.close()
                calls.check_open(closed=self._closed)
                self._connection = connection
            return self._connection

    async def _opened(self) -> Connection:
        opened = await asyncio.to_thread(self._open_socket)
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_unix_connection(lambda: Connection(self.notifications), sock=opened)
        try:
            if self._attachment is not None:
                result = await connection.call("attach", self._attachment, self._timeout_s)
                self.attached = calls.typed(result, m.AttachResult)
                if self._topics:
                    await connection.call("subscribe", {"topics": self._topics}, self._timeout_s)
                for topic in self._topics:
                    found = await connection.call(calls.resuming(topic), {}, self._timeout_s)
                    self.notifications += calls.resumed(topic, self.attached, found)
        except BaseException:
            await connection.close()
            raise
        return connection


class Opening:
    """A client that is about to connect: for `await`, or for `async with`."""

    def __init__(self, client: AsyncClient, attaching: Coroutine[Any, Any, m.AttachResult]) -> None:
        self._client = client
        self._attaching = attaching

    def __await__(self) -> Generator[Any, None, AsyncClient]:
        return self._attached().__await__()

    async def __aenter__(self) -> AsyncClient:
        return await self._attached()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._client.close()

    async def _attached(self) -> AsyncClient:
        try:
            await self._attaching
        except BaseException:
            await self._client.close()
            raise
        return self._client
