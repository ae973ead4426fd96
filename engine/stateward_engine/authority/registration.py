"""Which documents are goals, and who works on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from stateward_engine.authority.goal import Goal, all_goals, display_of, find_goal, identity_of
from stateward_engine.authority.leases import is_live
from stateward_engine.authority.merging import changes
from stateward_engine.authority.refusals import refused
from stateward_engine.state.transition import Repeat, Transition

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stateward_engine.authority.commands import ConfigureGoal, NoteDelivery, RegisterGoal
    from stateward_engine.authority.goal import HandoffMode, Machine, Members
    from stateward_engine.state.view import Basis, Identity, Planes

SOFT_CLAIM: Final = "soft_claim"


def decide_registration(basis: Basis, command: RegisterGoal, at: str) -> Transition | Repeat:
    """Register a document; the same one again changes nothing.

    Raises:
        Refused: `goal_registration_conflict`: the goal has another document or content, or the document another goal.

    Source: authority.md section 2; goal-documents, registration.
    """
    goals = {goal.goal_id: goal for goal in all_goals(basis)}
    if known := goals.get(command.goal_id):
        return _registered_again(known, command)
    # A damaged stream of that id says so.
    basis.scope(identity_of(command.goal_id))
    _demand_free_document(goals.values(), command.path, command.machine)
    named = next(iter(goals.values()), None)
    now = f"{at[:19]}Z"
    planes: dict[str, Any] = {
        "registration": {**_document(command.path, command.machine), "content": command.content, "at": now},
        "authority": {
            "store_id": named.plane("authority")["store_id"] if named else command.store_id,
            "promoted": False,
            "handoff_mode": SOFT_CLAIM,
            "agents": list(command.agents or ()),
            "at": now,
        },
    }
    return _changed(command.goal_id, planes, _registered(command.goal_id, command.path, created=True))


def _document(path: str, machine: Machine | None) -> Members:
    """Return the members of a registration that say where the document is."""
    return {"path": path, **({} if machine is None else {"machine": machine._asdict()})}


def demand_free(basis: Basis, goal_id: str, path: str, machine: Machine | None) -> None:
    """Refuse a goal or a document that is registered already.

    Raises:
        Refused: `goal_registration_conflict`.
    """
    goals = all_goals(basis)
    if goal_id in {goal.goal_id for goal in goals}:
        raise refused(
            "goal_registration_conflict",
            "the goal is registered already; take another id",
            member="goal_id",
            got=goal_id,
        )
    _demand_free_document(goals, path, machine)


def _demand_free_document(goals: Iterable[Goal], path: str | None, machine: Machine | None) -> None:
    if owners := [goal.goal_id for goal in goals if goal.path == path and goal.is_on(machine)]:
        raise refused(
            "goal_registration_conflict",
            "the document belongs to another goal",
            member="path",
            got=path,
            goal_id=owners[0],
        )


def _registered_again(goal: Goal, command: RegisterGoal) -> Repeat:
    goal.demand_on(command.machine)
    differing = [
        name
        for name, kept, given in (
            ("path", goal.path, command.path),
            *((key, value, command.content.get(key)) for key, value in goal.plane("registration")["content"].items()),
            ("agents", goal.agents, goal.agents if command.agents is None else list(command.agents)),
        )
        if kept != given
    ]
    if differing:
        raise refused(
            "goal_registration_conflict",
            f"the goal is registered with another {' and another '.join(differing)}; goal_configure changes its "
            "agents, and its path when the document was moved; another document takes another id",
            member="goal_id",
            got=goal.goal_id,
            differing=differing,
        )
    return Repeat(_registered(goal.goal_id, goal.path, created=False))


def _registered(goal_id: str, path: str, *, created: bool) -> Members:
    return {"goal_id": goal_id, "path": path, "created": created}


def decide_configuration(basis: Basis, command: ConfigureGoal, at: str) -> Transition | Repeat:
    """Change what is known of a goal: its actors, its handoff mode, and where its document is.

    Raises:
        Refused: `goal_not_registered`; `todo_lease_conflict` for another mode while a lease is live;
            `goal_registration_conflict` for the document of another goal.

    Source: authority.md section 2.
    """
    goal = find_goal(basis, command.goal_id)
    now = goal.now(at)
    wanted = {
        "agents": None if command.agents is None else list(command.agents),
        "handoff_mode": command.handoff_mode,
    }
    have = {"agents": goal.agents, "handoff_mode": goal.configured_mode}
    change = {name: value for name, value in wanted.items() if value is not None and value != have[name]}
    if command.handoff_mode is not None:
        demand_mode(goal, command.handoff_mode, now)
    moved = _moved(basis, goal, command)
    answer = {"goal_id": goal.goal_id, **have, **change, "path": command.path or goal.path}
    if not (change or moved):
        return Repeat(answer)
    return _changed(goal.goal_id, {**moved, "authority": {**change, "at": now}}, answer)


def _moved(basis: Basis, goal: Goal, command: ConfigureGoal) -> Members:
    """Return the patch that says where the document is now; empty where it is said already."""
    if command.path is None or (command.path == goal.path and goal.is_on(command.machine)):
        return {}
    others = (other for other in all_goals(basis) if other.goal_id != goal.goal_id)
    _demand_free_document(others, command.path, command.machine)
    registration = goal.plane("registration")
    content = command.content or registration["content"]
    kept = {name: value for name, value in registration.items() if name != "machine"}
    after = {**kept, **_document(command.path, command.machine), "content": content}
    return {"registration": changes(registration, after)}


def demand_mode(goal: Goal, wanted: HandoffMode, now: str) -> None:
    """Refuse another handoff mode while somebody works under the present one.

    Raises:
        Refused: `todo_lease_conflict`.

    Source: authority.md section 2.
    """
    live = [todo_id for todo_id, lease in goal.leases.items() if is_live(lease, now)]
    if wanted != goal.configured_mode and live:
        raise refused(
            "todo_lease_conflict",
            "the handoff mode changes only while no lease is live; have them released first",
            member="handoff_mode",
            todo_ids=live,
        )


def decide_note(basis: Basis, command: NoteDelivery) -> Transition | Repeat:
    """Keep what is delivered. It is no operation of the goal, so it moves no revision."""
    goal = find_goal(basis, command.goal_id)
    display = cast("Mapping[str, Members]", basis.scope(display_of(goal.goal_id)).planes)
    wanted: dict[str, Members] = {
        "delivered": {"provider_revision": command.provider_revision},
        "sections": command.sections,
        "replaced": command.replaced,
    }
    note = {plane: change for plane, value in wanted.items() if (change := changes(display.get(plane, {}), value))}
    if not note:
        return Repeat({})
    patches: dict[Identity, Planes] = {display_of(goal.goal_id): note}
    return Transition(None, None, {}, patches=patches, goal=goal.goal_id)


def _changed(goal_id: str, planes: Members, answer: Members) -> Transition:
    patches: dict[Identity, Planes] = {identity_of(goal_id): planes}
    return Transition(None, None, answer, patches=patches, goal=goal_id)
