"""A promoted goal in a store in memory, and the host that would serve it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

from stateward.location import Place
from stateward_daemon.host import Host, at_once
from stateward_daemon.lanes import Lanes
from stateward_daemon.settings import Settings
from stateward_daemon.steps import OnLane
from stateward_engine.authority.decide import decide
from stateward_engine.authority.display import Snapshot, take_snapshot
from stateward_engine.authority.goal import display_of, identity_of
from stateward_engine.errors import EngineError
from stateward_engine.state.draft import Draft
from stateward_engine.state.transition import Repeat, Transition
from stateward_engine.state.view import View
from stateward_engine.store.group import Committed, Rejected

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_daemon.steps import Steps
    from stateward_engine.authority.commands import GoalCommand
    from stateward_engine.store.group import Outcome
    from stateward_engine.store.store import Store

GOAL: Final = "optics"
NOON: Final = "2026-12-01T12:00:00.000000Z"
FIELD_CASES: Final = Path(__file__).parent.parent / "conformance/field_cases"
# What a person has around the sections.
DOCUMENT: Final = """\
---
status: active
---

# Optics

Intro with trailing spaces \x20
and a tab\there.

## User Todo

## Agent Todo

## Next Action

- todo_grind
"""


def record(todo_id: str, text: str, status: str = "open", role: str = "agent", **members: Any) -> dict[str, Any]:
    return {
        "schema_version": "todo_domain_record_v0",
        "todo_id": todo_id,
        "role": role,
        "status": status,
        "done": status in ("done", "deferred"),
        "text": text,
        "archive_state": "active",
        **members,
    }


LENS: Final = record("todo_lens", "[P0] Pick a lens.", role="user", task_class="user_gate")
GRIND: Final = record("todo_grind", "[P1] Grind it.", task_class="advancement_task")


class Ledger:
    """A store in memory that has what a delivery needs of one.

    Attributes:
        view: As of a store.
        commands: What was committed by `commit_now`.
        reads: How often the view was taken.
        published: Told of each view that `submit` leads to.
    """

    provider = "embedded"
    health = "ok"
    outage = None

    def __init__(
        self, path: Path, *records: dict[str, Any], promoted: bool = True, handoff_mode: str = "soft_claim"
    ) -> None:
        self._view = View()
        self.commands: list[GoalCommand] = []
        self.reads = 0
        self.published: Callable[[View], None] = lambda _: None
        authority = {"store_id": "s", "promoted": promoted, "handoff_mode": handoff_mode, "agents": [], "at": NOON}
        planes = {"registration": {"path": str(path), "content": {}, "at": NOON}, "authority": authority}
        self.change(**planes, records={found["todo_id"]: found for found in records or (LENS, GRIND)})

    @property
    def view(self) -> View:
        self.reads += 1
        return self._view

    def change(self, **planes: Any) -> None:
        """Change planes of the goal, as one operation of it does."""
        self._apply(Transition(None, None, {}, patches={identity_of(GOAL): planes}, goal=GOAL))

    def touch(self) -> None:
        """Move the revision, as an operation of a lease does."""
        self.change(leases={"todo_grind": {"version": self._view.sequence, "status": "released"}})

    def finish(self, todo_id: str = "todo_grind") -> dict[str, Any]:
        """Complete a todo; return what the mutation is answered, as far as a delivery needs it."""
        self.change(records={todo_id: {"status": "done", "done": True}})
        return self.answer()

    def answer(self, **members: Any) -> dict[str, Any]:
        goal = self.snapshot().goal
        shared = {"provider_revision": goal.provider_revision, "cursor": str(goal.cursor)}
        return {"goal_id": GOAL, "status": "applied", "source_authority": goal.source_authority, **shared, **members}

    def snapshot(self) -> Snapshot:
        return take_snapshot(self._view, GOAL)

    @property
    def head(self) -> str:
        return self.snapshot().goal.provider_revision

    @property
    def delivered(self) -> Any:
        return self._view.scope(display_of(GOAL)).planes.get("delivered")

    def commit_now(self, command: GoalCommand) -> Committed | Repeat:
        self.commands.append(command)
        return self._commit(command)

    def submit(self, command: GoalCommand, settled: Callable[[Outcome], None]) -> Any:
        """Settle a command at once; tell `published` of the view."""
        try:
            settled(self._commit(command))
        except EngineError as error:
            settled(Rejected(error))
        self.published(self._view)
        return SimpleNamespace(cancel=lambda: False)

    def _commit(self, command: GoalCommand) -> Committed | Repeat:
        outcome = decide(self._view, command, NOON)
        if isinstance(outcome, Repeat):
            return outcome
        self._apply(outcome)
        return Committed(outcome, self._view.sequence, NOON)

    def _apply(self, transition: Transition) -> None:
        draft = Draft(self._view)
        draft.apply(transition, at=NOON, sequence=self._view.sequence + 1)
        self._view = draft.finish()


def host_of(ledger: Ledger) -> Host:
    return Host(store=cast("Store", ledger), place=Place(Path("/store")), settings=Settings(), lanes=Lanes(at_once))


def serve(host: Host, ledger: Ledger) -> None:
    """Let an editor's host have this ledger for its store, and be told of what is committed there."""
    host.store, host.lanes = cast("Store", ledger), Lanes(at_once)
    ledger.published = host.subscriptions.published


def answered(steps: Steps) -> Any:
    """Take the jobs of a handler, one after the other; return what it answers."""
    try:
        step = next(steps)
        while True:
            assert isinstance(step, OnLane)
            step = steps.send(step.job())
    except StopIteration as end:
        return end.value
