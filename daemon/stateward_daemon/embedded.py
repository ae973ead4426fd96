"""The same methods without a daemon: in this process, on the same store, under the same lock.

Reads open the store to read and neither repair nor rewrite it; the first mutation opens it for writing and keeps it,
until the transport is closed. While a daemon runs, both are refused, naming its process: there is never a second copy
of the truth.
"""

from __future__ import annotations

import os
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stateward.transport import NOTIFICATIONS_MAX, plain_params
from stateward_daemon import convert, dispatch
from stateward_daemon.host import Caller, Host
from stateward_daemon.opening import machine_of, open_place
from stateward_daemon.settings import Settings
from stateward_daemon.steps import OnLane
from stateward_engine.errors import EngineError
from stateward_protocol import messages as m
from stateward_protocol.envelope import Call, read_message
from stateward_protocol.methods import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from stateward.location import Place
    from stateward_daemon.steps import Step, Steps
    from stateward_engine.store.decide import Command
    from stateward_engine.store.store import Store


class EmbeddedTransport:
    """Answers calls as a connection does, one at a time.

    Attributes:
        notifications: What the caller was told unasked, oldest first; take from it what you read.
    """

    # Nothing waits here: what is sent has arrived.
    clogged: Final = False

    def __init__(self, place: Place) -> None:
        """Open a store to read.

        Raises:
            WireError: A daemon holds it, or it cannot be read.
        """
        self._place = place
        self._writable = False
        self._settings = Settings.from_environment()
        host = Host(
            store=self._open(read_only=True),
            place=place,
            settings=self._settings,
            machine=machine_of(place, self._settings),
        )
        self._caller: Caller = host.admit(os.getpid(), self)
        self.notifications: deque[Call] = deque(maxlen=NOTIFICATIONS_MAX)

    def call(self, method: str, params: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a result as JSON
        """Answer one call.

        Raises:
            WireError: The refusal.
        """
        row = dispatch.find_method(method)
        if row is None:
            raise dispatch.unknown_method(method)
        try:
            prepared = dispatch.prepare(self._caller, row, plain_params(params))
            if row.kind is Kind.GOAL:
                # Its jobs commit as well.
                self._store_for_writing()
            result = prepared.run()
            if row.kind is Kind.GOAL:
                result = self._perform(result)
            elif row.writes:
                result = self._commit(result)
        except EngineError as error:
            raise convert.wire_error(error) from None
        if isinstance(result, m.StatusResult | m.StateStatusResult) and not self._writable:
            result = msgspec.structs.replace(result, writer=self._coming_writer())
        # By way of JSON, as over the wire: what comes back is the caller's own, and he may change it.
        return msgspec.json.decode(msgspec.json.encode(result))

    def _perform(self, steps: Steps) -> Mapping[str, Any]:
        """Take the steps of a handler; nobody else calls meanwhile, so every lane is free."""
        resume: Callable[[], Step] = partial(next, steps)
        while True:
            try:
                step = resume()
            except StopIteration as end:
                self._tell()
                result: Mapping[str, Any] = end.value
                return result
            try:
                resume = partial(steps.send, step.job() if isinstance(step, OnLane) else self._commit(step))
            except Exception as error:  # noqa: BLE001 - the handler is told, whatever broke
                resume = partial(steps.throw, error)

    def _commit(self, command: Command) -> Mapping[str, Any]:
        receipt = self._store_for_writing().commit_now(command).receipt
        self._tell()
        return receipt

    def _tell(self) -> None:
        self._caller.host.subscriptions.published(self._caller.host.store.view)

    def send(self, body: bytes) -> None:
        """Keep what the caller is told unasked."""
        told = read_message(msgspec.json.decode(body))
        assert isinstance(told, Call)  # noqa: S101 - answers go another way
        self.notifications.append(told)

    def wait(self, timeout_s: float | None) -> Call | None:  # noqa: ARG002 - nobody else can change a store that we hold
        """Return the next notification, or `None`: while nothing is called here, nothing happens here."""
        return self.notifications.popleft() if self.notifications else None

    def close(self) -> None:
        """Give the store back."""
        self._caller.host.store.close()

    def _coming_writer(self) -> m.WriterHealth:
        """Return the health of the writer that the first mutation would open; until then there is none."""
        directory = self._place.directory
        writable = not directory.exists() or os.access(directory, os.W_OK)
        return m.WriterHealth(ok=writable, reason=None if writable else "the directory of the store cannot be written")

    def _store_for_writing(self) -> Store:
        host = self._caller.host
        if not self._writable:
            host.store.close()
            host.store = self._open(read_only=False)
            self._writable = True
        return host.store

    def _open(self, *, read_only: bool) -> Store:
        try:
            return open_place(self._place, self._settings, read_only=read_only)
        except EngineError as error:
            raise convert.wire_error(error) from None


def open_transport(place: Place) -> EmbeddedTransport:
    """Return a transport that serves a store in this process; see `stateward.connect`."""
    return EmbeddedTransport(place)
