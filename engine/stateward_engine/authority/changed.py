"""What changed between two views of the goals, found by comparing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stateward_engine.authority.goal import Goal, all_goals, identity_of
from stateward_engine.state.view import EMPTY_SCOPE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from stateward_engine.authority.goal import Members
    from stateward_engine.state.view import Basis


def changed_todos(before: Basis, after: Basis) -> dict[str, set[str]]:
    """Return the todos that operations changed between two views, by goal: with their records, claims and leases.

    Of a goal whose document is the authority, that is what the receipts of the operations name: what somebody typed
    into the document is no operation.
    """
    found: dict[str, set[str]] = {}
    for goal in all_goals(after):
        earlier = Goal(goal.goal_id, before.scopes.get(identity_of(goal.goal_id), EMPTY_SCOPE))
        if earlier.stream.planes is goal.stream.planes:
            continue
        changed = {*_differing(earlier.records, goal.records), *_differing(earlier.leases, goal.leases)}
        if not goal.promoted:
            new = (receipt for name, receipt in goal.receipts.items() if name not in earlier.receipts)
            changed.update(todo_id for receipt in new for todo_id in _named(receipt["answer"]))
        if changed:
            found[goal.goal_id] = changed
    return found


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of values that are not the same; a view shares with the one before it all that did not change."""
    if before is not after:
        yield from (name for name in after if after[name] is not before.get(name))
        yield from before.keys() - after.keys()


def _named(answer: Members) -> Iterator[str]:
    """Yield the ids of the todos that an operation was answered to have changed."""
    if "todo_id" in answer:
        yield answer["todo_id"]
    yield from answer.get("moved_todo_ids", ())
    yield from (successor["todo_id"] for successor in answer.get("generated_successors", ()))
