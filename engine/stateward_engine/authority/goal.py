"""A goal as the ledger has it: a typed look at the planes of its stream. Nothing of it changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, cast

from stateward_engine.authority.refusals import refused
from stateward_engine.goals.fields import AGENT
from stateward_engine.state.view import EMPTY_SCOPE, NOTHING, Identity

if TYPE_CHECKING:
    from stateward_engine.state.view import Basis, Scope

HandoffMode: TypeAlias = Literal["soft_claim", "hard_lease"]
# A record, a lease, a receipt: members by name, as they are stored and sent.
Members: TypeAlias = Mapping[str, Any]

MARKDOWN_AUTHORITY: Final = "markdown_active_state"
LEDGER_AUTHORITY: Final = "file_v0"


class Machine(NamedTuple):
    """One of the machines that share a store.

    Attributes:
        id: Tells it from the others.
        host: What people call it, as it called itself then.
    """

    id: str
    host: str


class Goal(NamedTuple):
    """One registered goal at one revision.

    Attributes:
        goal_id: Its id.
        stream: What the ledger holds of it: `registration`, `authority`, `records`, `declarations`, `leases`,
            `receipts`, `shadow`.
    """

    goal_id: str
    stream: Scope

    def plane(self, name: str) -> Members:
        """Return one plane of the stream, empty where there is none yet."""
        return cast("Members", self.stream.planes.get(name, NOTHING))

    @property
    def path(self) -> str:
        """Real path of the document."""
        return cast("str", self.plane("registration")["path"])

    @property
    def machine(self) -> Machine | None:
        """The machine that the document is on; `None` in a store that one machine has for itself."""
        kept = self.plane("registration").get("machine")
        return None if kept is None else Machine(**cast("dict[str, str]", kept))

    def is_on(self, machine: Machine | None) -> bool:
        """Tell whether the document is on a machine, whatever that is called by now."""
        return (self.machine and self.machine.id) == (machine and machine.id)

    def demand_on(self, machine: Machine | None) -> None:
        """Refuse what works on the document where that is not.

        Raises:
            Refused: `document_elsewhere`.
        """
        if not self.is_on(machine):
            place = self.place()
            document = place.pop("path")
            message = f"{self.whereabouts}; call the daemon there, or tell with goal_configure that it was moved here"
            raise refused("document_elsewhere", message, document=document, **place)

    @property
    def whereabouts(self) -> str:
        """Where the document is, as a sentence for somebody on another machine."""
        machine = self.machine
        where = "a machine that has no name here" if machine is None else f"{machine.host} (machine {machine.id})"
        return f"the document of this goal is on {where}"

    def place(self) -> dict[str, str]:
        """Return the members of an answer that say where the document is."""
        machine = self.machine
        return {"path": self.path, **({} if machine is None else {"machine": machine.id, "host": machine.host})}

    @property
    def agents(self) -> list[str]:
        """The registered actors; an empty list admits every well-formed id."""
        return cast("list[str]", self.plane("authority").get("agents", []))

    def admits(self, agent_id: str) -> bool:
        """Tell whether an actor may work on the goal."""
        return agent_id in self.agents or (not self.agents and AGENT.fullmatch(agent_id) is not None)

    @property
    def promoted(self) -> bool:
        """Whether the ledger is the authority of the todos; otherwise the document is."""
        return bool(self.plane("authority").get("promoted", False))

    @property
    def handoff_mode(self) -> HandoffMode:
        """How todos are handed out; before promotion by claims alone."""
        return self.configured_mode if self.promoted else "soft_claim"

    @property
    def configured_mode(self) -> HandoffMode:
        """How todos are handed out once the goal is promoted."""
        return cast("HandoffMode", self.plane("authority").get("handoff_mode", "soft_claim"))

    @property
    def needs_leases(self) -> bool:
        """Whether nobody works on a todo of an agent without a lease."""
        return self.handoff_mode == "hard_lease"

    @property
    def records(self) -> Mapping[str, Members]:
        """The canonical records by todo id, archived ones included; none before promotion."""
        return self.plane("records")

    @property
    def declarations(self) -> Mapping[str, Members]:
        """The private validation declarations by todo id; nobody is shown them."""
        return self.plane("declarations")

    @property
    def leases(self) -> Mapping[str, Members]:
        """The last lease of each todo that ever had one, released and expired ones included."""
        return self.plane("leases")

    @property
    def receipts(self) -> Mapping[str, Members]:
        """What each operation was and was answered, by its id."""
        return self.plane("receipts")

    @property
    def cursor(self) -> int:
        """Counts the operations of the goal."""
        return self.stream.revision

    @property
    def provider_revision(self) -> str:
        """What names this state of the goal; opaque to clients."""
        return self.revision_at(self.cursor)

    def revision_at(self, cursor: int) -> str:
        """Return what names, or will name, the state after that many operations."""
        return f"file:{self.plane('authority')['store_id']}:{cursor}"

    @property
    def source_authority(self) -> str:
        """What the todos are read from."""
        return LEDGER_AUTHORITY if self.promoted else MARKDOWN_AUTHORITY

    @property
    def latest(self) -> str:
        """When its last operation was accepted, in UTC to the second: no lease is judged by an earlier time."""
        return cast("str", self.plane("authority")["at"])

    def now(self, at: str) -> str:
        """Return the time to decide by: that of the clock, which may have been set back since the last operation.

        Args:
            at: What the clock says, as RFC 3339 text in UTC.
        """
        return max(f"{at[:19]}Z", self.latest)


def identity_of(goal_id: str) -> Identity:
    """Return the key of a goal's stream."""
    return Identity("goal", goal=goal_id)


def display_of(goal_id: str) -> Identity:
    """Return the key of the stream of what is known of a goal's display."""
    return Identity("display", goal=goal_id)


def refreshes_of(display: Scope) -> Mapping[str, Members]:
    """Return the records of refreshes that the stream of a display keeps, by operation id."""
    return cast("Mapping[str, Members]", display.planes.get("refreshes", NOTHING))


def find_goal(basis: Basis, goal_id: str) -> Goal:
    """Return a registered goal.

    Raises:
        Refused: `goal_not_registered`.
        CorruptStore: Its stream is damaged.
    """
    stream = basis.scope(identity_of(goal_id))
    if stream is EMPTY_SCOPE or "registration" not in stream.planes:
        known = [goal.goal_id for goal in all_goals(basis)]
        raise refused(
            "goal_not_registered",
            "no goal of that id is registered; register its document with goal_register, or make one with goal_new",
            member="goal_id",
            got=goal_id,
            wanted=known[:20] or None,
            example='{"goal_id": "my-goal", "path": "/home/ada/project/ACTIVE_GOAL_STATE.md"}',
        )
    return Goal(goal_id, stream)


def goal_at(basis: Basis, path: str, machine: Machine | None) -> Goal | None:
    """Return the goal whose document is at a real path of a machine, `None` where no goal that can be trusted is."""
    return next((goal for goal in _registered(basis) if goal.path == path and goal.is_on(machine)), None)


def goals_by_path(basis: Basis, machine: Machine | None) -> dict[str, Goal]:
    """Return every registered goal whose stream can be trusted, by the real path of its document on a machine."""
    return {goal.path: goal for goal in all_goals(basis) if goal.is_on(machine)}


def all_goals(basis: Basis) -> list[Goal]:
    """Return every registered goal whose stream can be trusted, by id."""
    return sorted(_registered(basis), key=lambda goal: goal.goal_id)


def _registered(basis: Basis) -> Iterator[Goal]:
    for identity, stream in basis.scopes.items():
        if identity.kind == "goal" and identity.goal is not None and "registration" in stream.planes:
            yield Goal(identity.goal, stream)
