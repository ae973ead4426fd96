"""The host: the process-wide owner of store, documents and callers; and the caller, one client as handlers see it."""

from __future__ import annotations

import json
import logging
import os
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from stateward_daemon.documents import Documents
from stateward_daemon.encoded import EncodedValues
from stateward_daemon.lanes import Lanes, Work
from stateward_daemon.log import LOGGER_NAME
from stateward_daemon.subscriptions import Subscriptions
from stateward_daemon.unsaved import Unsaved
from stateward_engine.authority.goal import find_goal, goals_by_path
from stateward_protocol import __version__
from stateward_protocol.errors import WireError
from stateward_protocol.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward.location import Place
    from stateward_daemon.channel import Outlet
    from stateward_daemon.settings import Settings
    from stateward_daemon.watch import Watcher
    from stateward_engine.authority.goal import Goal, Machine
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.state.view import Selection
    from stateward_engine.store.store import Store
    from stateward_protocol.messages import Mode


class Attachment(NamedTuple):
    """What a connection bound itself to.

    Attributes:
        kind: `agent` by `attach`, `editor` by LSP `initialize`.
        client: Name of the program.
        client_version: Its version, or the empty string.
        selection: The owners it works with.
        mode: Belongs to the connection; `off` has no state tools.
    """

    kind: Literal["agent", "editor"]
    client: str
    client_version: str
    selection: Selection
    mode: Mode


@dataclass(slots=True)
class Caller:
    """One client, as handlers see it.

    Attributes:
        host: Who serves it.
        number: Counts the connections of this process, from 1.
        peer_pid: Its process when it connected, for people; never trusted.
        outlet: Takes to it what it is told unasked.
        attachment: `None` until it is bound.
        own_document: Gives the document that the caller itself holds at a path, unsaved changes included, or `None`.
            Others see the file.
    """

    host: Host
    number: int
    peer_pid: int
    outlet: Outlet
    attachment: Attachment | None = None
    own_document: Callable[[Path], GoalDocument | None] = lambda _path: None

    def bound(self) -> Attachment:
        """Return what the caller is bound to.

        Raises:
            WireError: `not_attached`.
        """
        if self.attachment is None:
            raise WireError(
                "not_attached",
                "attach first: it binds this connection to the owners that it works with",
                example=json.dumps(METHODS["attach"].example),
            )
        return self.attachment

    def selection(self) -> Selection:
        """Return the owners of a call of a state tool.

        Raises:
            WireError: `not_attached`, or `invalid_request` in mode `off`, which has no state tools.
        """
        selection = self.readable()
        if selection is None:
            raise WireError(
                "invalid_request",
                "this connection attached in mode off, which has no state tools",
                wanted="active or passive",
            )
        return selection

    def readable(self) -> Selection | None:
        """Return the owners whose state the caller reads, `None` in mode `off`.

        Raises:
            WireError: `not_attached`.
        """
        attachment = self.bound()
        return None if attachment.mode == "off" else attachment.selection

    def path_of(self, path: str | None, text: str | None, goal_id: str | None) -> str | None:
        """Return the path that a call means: of a goal that is named alone, where its document is.

        Beside a text a goal need not be registered.

        Raises:
            Refused: `goal_not_registered`, `document_elsewhere`.
        """
        if path is not None or goal_id is None:
            return path
        view = self.host.store.view
        if text is None:
            goal = find_goal(view, goal_id)
            goal.demand_on(self.host.machine)
            return goal.path
        return next((path for path, goal in self.host.goals_here().items() if goal.goal_id == goal_id), None)

    def document(self, path: str | None, text: str | None) -> GoalDocument:
        """Return the goal document that a call names: `text`, else what the caller has open at `path`, else the file.

        Raises:
            WireError: `not_attached`; `invalid_request` for neither, or for a path that is not absolute.
        """
        self.bound()
        if text is not None:
            return self.host.documents.parse(text.encode())
        if path is None or not os.path.isabs(path) or "\0" in path:  # noqa: PTH117 - a client's text, no path yet
            raise WireError(
                "invalid_request",
                "name the document by its absolute path, or send its text",
                path="$.params.path",
                got="nothing" if path is None else path,
                example=json.dumps(METHODS["goal_projection"].example),
            )
        return self.own_document(Path(path)) or self.host.documents.read(Path(path))


def _tell_nobody(_path: Path, _digest: str) -> None:
    """Stand in for a watcher where nobody shows documents."""


def _never(_seconds: float, _call: Callable[[], None]) -> None:
    """Stand in for a clock where there is no loop that could wait."""


def at_once(job: Callable[[], Any], done: Callable[[Any], None], failed: Callable[[Exception], None]) -> None:
    """Stand in for threads where nobody else is served meanwhile."""
    try:
        result = job()
    except Exception as error:  # noqa: BLE001 - as a thread does
        failed(error)
    else:
        done(result)


@dataclass(slots=True)
class Host:
    """What all connections of a process share.

    Attributes:
        store: The open store; its view is what reads are answered from.
        place: Where it is.
        settings: What bounds this daemon.
        machine: This one, where several share the store.
        socket_path: `None` in-process, where nobody can connect.
        log_path: Where the log is written.
        stop: Ends the daemon after what is queued is durable; `None` in-process.
        watcher: Watches goal documents; `None` in-process.
        wrote: Tells those who show a document, given by its path, that this process wrote it, and the digest of what it
            held then. From any thread.
        subscriptions: Who is told of changes.
        encoded: The large values that were served last, ready to be sent.
        work: Runs a job in a thread and then calls, where calls are handled, `done` with its result or `failed`.
        lanes: The jobs of goals that wait for the disk.
        unsaved: Which documents editors hold with unsaved changes.
    """

    store: Store
    place: Place
    settings: Settings
    machine: Machine | None = None
    socket_path: Path | None = None
    log_path: Path | None = None
    stop: Callable[[], None] | None = None
    watcher: Watcher | None = None
    wrote: Callable[[Path, str], None] = _tell_nobody
    subscriptions: Subscriptions = field(default_factory=lambda: Subscriptions(_never))
    encoded: EncodedValues = field(default_factory=EncodedValues)
    work: Work = at_once
    lanes: Lanes = field(default_factory=lambda: Lanes(at_once))
    unsaved: Unsaved = field(default_factory=Unsaved)
    documents: Documents = field(default_factory=Documents)
    callers: dict[int, Caller] = field(default_factory=dict)
    log: logging.Logger = field(default_factory=lambda: logging.getLogger(LOGGER_NAME))
    version: str = __version__
    pid: int = field(default_factory=os.getpid)
    started_at: float = field(default_factory=time.monotonic)
    stopping: bool = False
    _number: int = 0

    @property
    def stale_since(self) -> str | None:
        """Since when others may have committed what is not seen here (RFC 3339, UTC); `None` in no outage."""
        outage = self.store.outage
        return None if outage is None else outage.since

    def demand_fresh(self) -> None:
        """Refuse a read when the database of the store has been out of reach for longer than somebody wants.

        Raises:
            WireError: `store_unavailable` with `reason_code` `stale`.
        """
        since, limit = self.stale_since, self.settings.max_stale_s
        if since is None or not limit:
            return
        age_s = (datetime.now(UTC) - datetime.fromisoformat(since)).total_seconds()
        if age_s > limit:
            raise WireError(
                "store_unavailable",
                f"the database of the store is out of reach, and what is known of it is {age_s:.0f} s old; see status",
                reason_code="stale",
                stale_since=since,
                limit="max_stale_s",
                retryable=True,
            )

    def goals_here(self) -> dict[str, Goal]:
        """Return the goals whose documents are on this machine, by their real paths."""
        return goals_by_path(self.store.view, self.machine)

    def admit(self, peer_pid: int, outlet: Outlet) -> Caller:
        """Return a new caller, known until `dismiss`."""
        self._number += 1
        caller = Caller(self, self._number, peer_pid, outlet)
        self.callers[caller.number] = caller
        return caller

    def dismiss(self, caller: Caller) -> None:
        """Forget a caller that is gone."""
        self.callers.pop(caller.number, None)
        self.subscriptions.discard(caller)
