"""Subscriptions: who is told that state changed, without any of it.

What has changed is found by comparing views, not kept in a queue: a client that is told late, because it does not read
or because changes come fast, is told once of everything since. Source: protocol.md section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from stateward_engine.state.decide import revision_of
from stateward_protocol.envelope import encode_call
from stateward_protocol.notices import StateChanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_daemon.host import Caller
    from stateward_engine.state.view import Identity, ScopeName, Selection, View

# A first change is told at once. Those that follow it within this time are told together: a writer can make a thousand
# changes in a second, and nobody reads a thousand times.
PAUSE_S: Final = 0.05


@dataclass(slots=True)
class _Subscriber:
    """A caller that wants to be told, and the scopes that changed since it was."""

    caller: Caller
    pending: set[Identity] = field(default_factory=set)


class Subscriptions:
    """The subscribers of one host. Runs where views are published."""

    def __init__(self, later: Callable[[float, Callable[[], None]], Any]) -> None:
        """Begin without subscribers.

        Args:
            later: Runs a callable after so many seconds, as an event loop's `call_later` does, and returns something;
                `None` says that it never will, so that every change is told at once.
        """
        self._later = later
        self._subscribers: dict[int, _Subscriber] = {}
        # The newest view that `pending` knows of.
        self._seen: View | None = None
        self._newest: View | None = None
        self._pausing: Any = None

    def add(self, caller: Caller) -> None:
        """Tell `caller` of every change from now on."""
        self._notice(caller.host.store.view)
        self._subscribers.setdefault(caller.number, _Subscriber(caller))

    def discard(self, caller: Caller) -> None:
        """Tell `caller` no more."""
        self._subscribers.pop(caller.number, None)
        if not self._subscribers:
            # An old view would keep alive all that was deleted since.
            self._seen = self._newest = None

    def published(self, view: View) -> None:
        """Take note that `view` is what readers see now, and tell of it soon."""
        if self._subscribers and view is not self._newest:
            self._newest = view
            if self._pausing is None:
                self._tell(view)

    def _notice(self, view: View) -> None:
        """Bring what is pending up to `view`."""
        before, self._seen, self._newest = self._seen, view, view
        if before is None or before is view:
            return
        for subscriber in self._subscribers.values():
            selection = subscriber.caller.bound().selection
            for identity in map(selection.identity, selection.wanted):
                # A fork moves no revision of the child that it begins; planes that changed are always others.
                if view.scope(identity).planes is not before.scope(identity).planes:
                    subscriber.pending.add(identity)

    def _tell(self, view: View) -> None:
        self._notice(view)
        # Many subscribers have the same selection: one body does for all of them.
        bodies: dict[tuple[Selection, tuple[ScopeName, ...]], bytes] = {}
        waiting = told = False
        for subscriber in self._subscribers.values():
            caller, selection = subscriber.caller, subscriber.caller.bound().selection
            scopes = tuple(scope for scope in selection.wanted if selection.identity(scope) in subscriber.pending)
            if not scopes:
                continue
            if caller.outlet.clogged:
                waiting = True
                continue
            key = selection, scopes
            if key not in bodies:
                notice = StateChanged(scopes=list(scopes), revision=revision_of(view, selection))
                bodies[key] = encode_call("state_changed", notice)
            caller.outlet.send(bodies[key])
            subscriber.pending.clear()
            told = True
        if told or waiting:
            self._pausing = self._later(PAUSE_S, self._resume)

    def _resume(self) -> None:
        self._pausing = None
        if self._newest is not None:
            self._tell(self._newest)
