"""The problems of a document as a caller sees it: its own, and what its goal and the state of the caller tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon.state_keys import read_keys
from stateward_engine.authority.goal import goal_at
from stateward_engine.errors import EngineError, UnwantedOwner
from stateward_engine.state.references import mention_spans
from stateward_engine.store.clock import utc_now

if TYPE_CHECKING:
    from pathlib import Path

    from stateward_daemon.host import Caller, Host
    from stateward_engine.authority.display import Snapshot
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.problems import Problem
    from stateward_engine.state.view import Selection, View


def problems_of(caller: Caller, document: GoalDocument, path: Path | None) -> list[Problem]:
    """Return the problems of a document in its order; it may take long for one of a promoted goal.

    Args:
        caller: Whose state its references are read from.
        document: What the text says.
        path: The real path of the document, or `None` for a text that is in no file.
    """
    host, view = caller.host, caller.host.store.view
    return with_references(problems_in(host, view, document, path), view, document, caller.readable())


def problems_to_see(caller: Caller, document: GoalDocument, path: Path | None) -> list[Problem]:
    """Return those of its problems that its project wants to see, as the project says now; arguments as above."""
    # Here, as in `problems_in`.
    from stateward_daemon.configuration import configuration_or_default  # noqa: PLC0415
    from stateward_engine.goals.suppression import ruled  # noqa: PLC0415

    found = problems_of(caller, document, path)
    return list(ruled(found, configuration_or_default(path, caller.host.log).rules))


def problems_in(host: Host, view: View, document: GoalDocument, path: Path | None) -> list[Problem]:
    """Return those of its problems that are the same for everybody, in no order."""
    snapshot = _snapshot(host, view, path)
    if snapshot is None:
        return list(document.problems)
    # Here, because no start should wait for what reads a document, and nobody for what only some documents need.
    from stateward_engine.authority.shown_problems import shown_problems  # noqa: PLC0415

    return list(shown_problems(document, snapshot, snapshot.goal.now(utc_now())))


def with_references(
    found: list[Problem], view: View, document: GoalDocument, selection: Selection | None
) -> list[Problem]:
    """Return problems of a document, and those of its references into the state of a selection, in its order.

    Args:
        found: Problems that are known.
        view: What the state is read from.
        document: What the text says.
        selection: Whose state; `None` reads none.
    """
    # Here, as in `problems_in`.
    from stateward_engine.goals.problems import in_order  # noqa: PLC0415
    from stateward_engine.goals.state_problems import state_problems  # noqa: PLC0415

    if selection is None:
        return in_order(found)
    dangling = state_problems(document, mention_spans, lambda mention: _refusal(view, selection, mention))
    return in_order([*found, *dangling])


def _snapshot(host: Host, view: View, path: Path | None) -> Snapshot | None:
    goal = None if path is None else goal_at(view, str(path), host.machine)
    if goal is None:
        return None
    from stateward_engine.authority.display import take_snapshot  # noqa: PLC0415 - as above

    try:
        return take_snapshot(view, goal.goal_id)
    except EngineError:
        # What is damaged is told by the calls about the goal; the text can be looked at all the same.
        return None


def _refusal(view: View, selection: Selection, path: str) -> str | None:
    """Return why a path cannot be read, `None` when it can or is that of an owner outside of the selection."""
    try:
        # Keys and kinds, so that nothing large is copied.
        read_keys(view, selection, path)
    except UnwantedOwner:
        return None
    except EngineError as error:
        return str(error)
    return None
