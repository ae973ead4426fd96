"""A store that moves between one that a machine has for itself and one that several share, where names differ.

Nothing else of it changes. What another machine has keeps its names, so that a store that is moved back has them again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stateward_engine.authority.goal import Goal
from stateward_engine.state.machines import renamed

if TYPE_CHECKING:
    from stateward_engine.authority.goal import Machine
    from stateward_engine.state.view import Identity, Planes, Scope, View


def moved(view: View, before: Machine | None, after: Machine | None) -> View:
    """Return what a view is in another store.

    Args:
        view: What the store holds.
        before: What this machine is called there; `None` in a store that it has for itself.
        after: What it is called in the other store.

    Source: store.md section 1.
    """

    def name(cwd: str | None) -> str | None:
        return None if cwd is None else renamed(cwd, before and before.id, after and after.id)

    def identity(old: Identity) -> Identity:
        return old._replace(cwd=name(old.cwd))

    def scope(old: Identity, found: Scope) -> Scope:
        if old.kind != "goal" or not Goal(str(old.goal), found).is_on(before):
            return found
        return _moved_goal(found, after)

    return replace(
        view,
        scopes={identity(old): scope(old, found) for old, found in view.scopes.items()},
        sessions={str(name(cwd)): known for cwd, known in view.sessions.items()},
        receipts={
            key._replace(cwd=name(key.cwd)): kept._replace(home=identity(kept.home))
            for key, kept in view.receipts.items()
        },
        damaged={identity(old): damage for old, damage in view.damaged.items()},
    )


def _moved_goal(stream: Scope, machine: Machine | None) -> Scope:
    """Return the stream of a goal whose document is on this machine."""
    changes = tuple(change._replace(before=_with_machine(change.before, machine)) for change in stream.changes)
    return stream._replace(planes=_with_machine(stream.planes, machine), changes=changes)


def _with_machine(planes: Planes, machine: Machine | None) -> Planes:
    if "registration" not in planes:
        return planes
    registration: Any = planes["registration"]
    kept = {name: value for name, value in registration.items() if name != "machine"}
    return {**planes, "registration": kept if machine is None else {**kept, "machine": machine._asdict()}}
