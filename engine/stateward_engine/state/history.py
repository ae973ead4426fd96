"""Lineages: which boundaries of one client's scopes are kept, and how they are counted (state.md section 7.1).

A boundary is named by the ledger sequence that it includes. Each scope keeps its own last changes, and a lineage is
found by merging those of its members; so a lineage is never stored, and nothing restarts when a client comes that
combines scopes as nobody did before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stateward_engine.state.view import Planes, Scope, Selection, View


def transitions(view: View, selection: Selection) -> list[int]:
    """Return the ledger sequences of the kept transitions of a client's lineage, newest first.

    Offset n is the boundary before the n-th of them, so there is one more readable boundary than there are
    transitions.

    Every scope keeps all of its changes after its own `since`, so the union of them is complete after the latest
    `since`, and every boundary there is exact. Before a session is known nothing is kept for it.

    >>> from stateward_engine.state.view import Change, Identity, Scope, Selection, View
    >>> scopes = {
    ...     Identity("global"): Scope(since=3, changes=(Change(5, {}, {}),)),
    ...     Identity("cwd", "/d"): Scope(changes=(Change(2, {}, {}), Change(4, {}, {}), Change(5, {}, {}))),
    ... }
    >>> transitions(View(5, scopes), Selection("/d", None, ("cwd",)))
    [5, 4]
    """
    identities = selection.members()
    if any(identity in view.damaged for identity in identities):
        # What a damaged member changed is not known, so nothing can be counted. Only the present is there.
        return []
    members = [view.scope(identity) for identity in identities]
    since = max(scope.since for scope in members)
    if selection.session is not None and selection.identity("session") not in view.scopes:
        return []
    found = {change.sequence for scope in members for change in scope.changes if change.sequence > since}
    return sorted(found, reverse=True)[: view.history_limit]


def boundary(view: View, kept: list[int], offset: int) -> int:
    """Return the ledger sequence of the boundary at an offset that is kept: one of 0 to `len(kept)`."""
    return kept[offset - 1] - 1 if offset else view.sequence


def folded(scope: Scope, limit: int) -> Scope:
    """Return a scope that keeps at most its last `limit` changes; older ones became part of its oldest planes."""
    excess = len(scope.changes) - limit
    if excess <= 0:
        return scope
    return scope._replace(since=scope.changes[excess - 1].sequence, changes=scope.changes[excess:])


def rewound(scope: Scope) -> Planes:
    """Return the oldest planes that a scope knows: those that its kept changes begin with."""
    return scope.changes[0].before if scope.changes else scope.planes
