"""Subscriptions: who is told that state, todos or the problems of goals changed, without a body of them.

What has changed is found by comparing views, not kept in a queue: a client that is told late, because it does not read
or because changes come fast, is told once of everything since. Source: protocol.md section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, get_args

from stateward_daemon.goal_problems import GoalProblems
from stateward_engine.authority.changed import changed_todos
from stateward_engine.authority.goal import all_goals
from stateward_engine.state.decide import revision_of
from stateward_protocol.envelope import encode_call
from stateward_protocol.notices import Notice, StateChanged, TodosChanged, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from stateward_daemon.goal_problems import Viewer
    from stateward_daemon.host import Caller
    from stateward_engine.state.view import Identity, View

# A first change is told at once. Those that follow it within this time are told together: a writer can make a thousand
# changes in a second, and nobody reads a thousand times.
PAUSE_S: Final = 0.05


TOPICS: Final[tuple[Topic, ...]] = get_args(Topic)


@dataclass(slots=True)
class _Subscriber:
    """A caller that wants to be told, of what, and what changed since it was.

    Attributes:
        caller: Whom to tell.
        topics: Of what.
        scopes: Those that changed.
        todos: The ids of those that changed, by goal.
        goals: The ids of those whose problems changed.
    """

    caller: Caller
    topics: set[Topic] = field(default_factory=set)
    scopes: set[Identity] = field(default_factory=set)
    todos: dict[str, set[str]] = field(default_factory=dict)
    goals: set[str] = field(default_factory=set)

    def clear(self) -> None:
        """Take it that all of it was told."""
        self.scopes.clear()
        self.todos.clear()
        self.goals.clear()


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
        self._followers: set[Callable[[], None]] = set()
        # The newest view that the subscribers know of.
        self._seen: View | None = None
        self._newest: View | None = None
        self._pausing: Any = None
        # What is known of the documents of goals, once somebody asked for it.
        self._problems: GoalProblems | None = None

    def add(self, caller: Caller, topics: Collection[Topic]) -> list[Topic]:
        """Tell `caller` of every change of these topics from now on, too; return all that it is told of."""
        self._notice(caller.host.store.view)
        subscriber = self._subscribers.setdefault(caller.number, _Subscriber(caller))
        subscriber.topics.update(topics)
        if "goals" in topics and self._problems is None:
            self._problems = GoalProblems(caller.host, self._later, self._found)
        self._follow_goals()
        return _in_order(subscriber.topics)

    def remove(self, caller: Caller, topics: Collection[Topic]) -> list[Topic]:
        """Tell `caller` no more of these topics; return what it is still told of."""
        subscriber = self._subscribers.get(caller.number)
        if subscriber is None:
            return []
        subscriber.topics.difference_update(topics)
        if "state" in topics:
            subscriber.scopes.clear()
        if "todos" in topics:
            subscriber.todos.clear()
        if "goals" in topics:
            subscriber.goals.clear()
            self._follow_goals()
        if not subscriber.topics:
            self.discard(caller)
        return _in_order(subscriber.topics)

    def discard(self, caller: Caller) -> None:
        """Tell `caller` no more."""
        self._subscribers.pop(caller.number, None)
        self._follow_goals()
        if not self._subscribers:
            # An old view would keep alive all that was deleted since.
            self._seen = self._newest = None

    def follow(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever readers see another view, until `unfollow`; it only takes note of it."""
        self._followers.add(changed)

    def unfollow(self, changed: Callable[[], None]) -> None:
        """Call it no more."""
        self._followers.discard(changed)

    def published(self, view: View) -> None:
        """Take note that `view` is what readers see now, and tell of it soon."""
        for changed in self._followers:
            changed()
        if self._subscribers and view is not self._newest:
            self._newest = view
            if self._pausing is None:
                self._tell(view)

    def file_changed(self, path: Path) -> None:
        """Take note that the file at `path` was written, came or went."""
        if self._problems is not None:
            self._problems.file_changed(path)

    def _follow_goals(self) -> None:
        """Let the problems of goals be known as long as somebody wants to be told of them."""
        if self._problems is not None and self._newest is not None:
            viewers = [each.caller.readable() for each in self._subscribers.values() if "goals" in each.topics]
            self._problems.follow(viewers, self._newest)

    def _found(self, goal_id: str, viewer: Viewer) -> None:
        """Take note that the problems of a goal are others for those who see them as `viewer`, and tell of it soon."""
        for subscriber in self._subscribers.values():
            if "goals" in subscriber.topics and subscriber.caller.readable() == viewer:
                subscriber.goals.add(goal_id)
        if self._pausing is None and self._newest is not None:
            self._tell(self._newest)

    def _notice(self, view: View) -> None:
        """Bring what the subscribers were not told up to `view`."""
        before, self._seen, self._newest = self._seen, view, view
        if before is None or before is view:
            return
        wanted = any("todos" in subscriber.topics for subscriber in self._subscribers.values())
        todos = changed_todos(before, view) if wanted else {}
        for subscriber in self._subscribers.values():
            if "state" in subscriber.topics:
                subscriber.scopes |= _changed_scopes(subscriber.caller, before, view)
            if "todos" in subscriber.topics:
                for goal_id, todo_ids in todos.items():
                    subscriber.todos.setdefault(goal_id, set()).update(todo_ids)
        self._follow_goals()

    def _tell(self, view: View) -> None:
        self._notice(view)
        # Many subscribers are told the same: one body does for all of them.
        bodies: dict[Any, bytes] = {}
        waiting = told = False
        for subscriber in self._subscribers.values():
            if not (subscriber.scopes or subscriber.todos or subscriber.goals):
                continue
            if subscriber.caller.outlet.clogged:
                waiting = True
                continue
            for key, notice in self._notices(subscriber, view).items():
                if key not in bodies:
                    bodies[key] = encode_call(notice.method, notice)
                subscriber.caller.outlet.send(bodies[key])
            subscriber.clear()
            told = True
        if told or waiting:
            self._pausing = self._later(PAUSE_S, self._resume)

    def _resume(self) -> None:
        self._pausing = None
        if self._newest is not None:
            self._tell(self._newest)

    def _notices(self, subscriber: _Subscriber, view: View) -> Mapping[Any, Notice]:
        """Return what there is to tell, each by what tells it from others of the same view."""
        found = _notices(subscriber, view)
        viewer = subscriber.caller.readable()
        for goal_id in sorted(subscriber.goals):
            if self._problems is not None and (notice := self._problems.notice(goal_id, viewer)):
                found[viewer, goal_id] = notice
        return found


def _in_order(topics: Collection[Topic]) -> list[Topic]:
    return [topic for topic in TOPICS if topic in topics]


def _changed_scopes(caller: Caller, before: View, view: View) -> set[Identity]:
    """Return which of the scopes that a caller works with changed between two views."""
    selection = caller.bound().selection
    # A fork moves no revision of the child that it begins; planes that changed are always others.
    return {
        identity
        for identity in map(selection.identity, selection.wanted)
        if view.scope(identity).planes is not before.scope(identity).planes
    }


def _notices(subscriber: _Subscriber, view: View) -> dict[Any, Notice]:
    """Return what comparing views has to tell, each by what tells it from others of the same view."""
    selection = subscriber.caller.bound().selection
    found: dict[Any, Notice] = {}
    scopes = tuple(scope for scope in selection.wanted if selection.identity(scope) in subscriber.scopes)
    if scopes:
        found[selection, scopes] = StateChanged(scopes=list(scopes), revision=revision_of(view, selection))
    # A goal that was given up meanwhile has nothing to tell.
    for goal in all_goals(view) if subscriber.todos else ():
        if ids := sorted(subscriber.todos.get(goal.goal_id, ())):
            revision = goal.provider_revision
            found[goal.goal_id, *ids] = TodosChanged(goal_id=goal.goal_id, provider_revision=revision, todo_ids=ids)
    return found
