"""A small world around a delivery, and every way in which it can go.

Three writers, two of which deliver the latest head and one the revision that it has just made; an outside editor who
edits, deletes or restores the document; one crash; one call that fails, be it of the disk or of the authority; and
operations of leases, which move the revision and show nothing. A world is a value, its successors are made by the
shipped functions of `delivery` alone, and each is visited once: worlds that differ in nothing but the names of alike
writers are one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from stateward_engine.authority import delivery as d
from stateward_engine.authority import delivery_reports
from stateward_engine.authority.delivery_failures import Failure
from stateward_engine.authority.goal import Goal
from stateward_engine.goals.render import Rendering
from stateward_engine.state.view import Scope

if TYPE_CHECKING:
    from collections.abc import Iterator

BEFORE: Final = 1
MISSING: Final = 0
EDITED: Final = -1
# Which revision a file shows; or `MISSING`, or `EDITED` by hand.
Shown: TypeAlias = int

GOAL: Final = Goal(
    "g", Scope({"registration": {"path": "/p/ACTIVE_GOAL_STATE.md"}, "authority": {"store_id": "s", "promoted": True}})
)


class Violation(AssertionError):
    """A promise that was broken; its text begins with the name of the promise."""


class Running(NamedTuple):
    """A delivery that goes on, and what really happened to it.

    Attributes:
        state: What the machine knows.
        action: What it wants done next.
        renderings: How often it rendered.
        wrote: Whether it changed the document.
        shown: What the file showed when it was read back last.
        disturbed: Whether a call failed, or the editor was there meanwhile.
    """

    state: d.Delivery
    action: d.Action
    renderings: int = 0
    wrote: bool = False
    shown: Shown | None = None
    disturbed: bool = False


class Writer(NamedTuple):
    """One of those who change the goal.

    Attributes:
        pins: Whether it has the very revision shown that it made.
        left: How many mutations it means to make still.
        phase: `waiting` for the lane with its delivery, or `lost` its answer in a crash.
        revision: Of its last mutation.
        running: Its delivery, once that is its turn.
    """

    pins: bool
    left: int
    phase: Literal["idle", "waiting", "lost", "running"] = "idle"
    revision: int = 0
    running: Running | None = None


class World(NamedTuple):
    """All there is; the numbers at the end say how many of these can happen still."""

    head: int
    shown: Shown
    writers: tuple[Writer, ...]
    edits: int
    crashes: int
    faults: int
    leases: int


def first_world(mutations: int = 2) -> World:
    """Return a world in which every writer is about to make so many mutations."""
    writers = Writer(False, mutations), Writer(False, mutations), Writer(True, mutations)
    return World(BEFORE, BEFORE, writers, edits=2, crashes=1, faults=1, leases=0)


def explore(first: World, depth: int) -> int:
    """Visit every world that can be reached in so many steps; return how many these are.

    Raises:
        Violation: A promise is broken in one of them.
    """
    seen = {first}
    edge = [first]
    for _ in range(depth):
        following = []
        for world in edge:
            for after in successors(world):
                if after not in seen:
                    seen.add(after)
                    following.append(after)
        if not following:
            break
        edge = following
    return len(seen)


def successors(world: World) -> Iterator[World]:
    """Yield what the world can be after one step of anybody."""
    busy = any(writer.phase == "running" for writer in world.writers)
    for at, writer in enumerate(world.writers):
        if writer.phase == "idle" and writer.left:
            revision = world.head + 1
            committed = writer._replace(left=writer.left - 1, phase="waiting", revision=revision)
            yield _with(world._replace(head=revision), at, committed)
        elif writer.phase == "lost":
            # The same operation id: it is answered again, and nothing is committed.
            yield _with(world, at, writer._replace(phase="waiting"))
        elif writer.phase == "waiting" and not busy:
            state, action = d.begin(named(writer.revision) if writer.pins else None)
            yield _with(world, at, writer._replace(phase="running", running=Running(state, action)))
        elif writer.running is not None:
            for after, step in _steps(world, writer.running):
                yield _with(after, at, _after(writer, step))
    yield from _outsiders(world)


def _outsiders(world: World) -> Iterator[World]:
    if world.leases:
        yield world._replace(head=world.head + 1, leases=world.leases - 1)
    if world.edits:
        # The old text comes back as a whole: somebody restores it, or undoes.
        for shown in {EDITED, MISSING, BEFORE} - {world.shown}:
            if world.shown != MISSING or shown != MISSING:
                writers = tuple(
                    writer._replace(running=writer.running and writer.running._replace(disturbed=True))
                    for writer in world.writers
                )
                yield world._replace(shown=shown, edits=world.edits - 1, writers=writers)
    if world.crashes:
        writers = tuple(
            writer._replace(phase="lost", running=None) if writer.phase in ("waiting", "running") else writer
            for writer in world.writers
        )
        yield world._replace(crashes=world.crashes - 1, writers=_sorted(writers))


def _with(world: World, at: int, writer: Writer) -> World:
    return world._replace(writers=_sorted((*world.writers[:at], writer, *world.writers[at + 1 :])))


def _sorted(writers: tuple[Writer, ...]) -> tuple[Writer, ...]:
    # Only one of them runs, so this tells all apart that differ.
    return tuple(sorted(writers, key=lambda writer: writer[:4]))


# -- one step of a delivery ------------------------------------------------------------------------------------------


def named(revision: int) -> str:
    return f"file:s:{revision}"


def numbered(revision: str | None) -> int:
    assert revision is not None
    return int(revision.rpartition(":")[2])


def _steps(world: World, running: Running) -> Iterator[tuple[World, Running]]:
    """Yield how the action of a delivery can come out."""
    action, state = running.action, running.state
    if world.faults:
        failed = world._replace(faults=0)
        troubled = running._replace(disturbed=True)
        yield failed, _failed(troubled, d.Failed(Failure("todo_projection_write_unavailable", "OSError", "no")))
        if isinstance(action, d.Confirm):
            yield failed, _failed(troubled, d.Confirmed(None))
    match action:
        case d.Read():
            yield world, _told(running, d.HeadRead(named(world.head)))
        case d.Render(revision):
            _promise(running.renderings < 3, "no fourth attempt")
            _promise(state.pinned in (None, revision), "a pin is never retargeted")
            shows = running._replace(renderings=running.renderings + 1)
            if world.shown == EDITED:
                yield world, _failed(shows._replace(disturbed=True), _REFUSED)
            else:
                yield world, _told(shows, d.Rendered(there=world.shown != MISSING))
        case d.Publish(create):
            yield _published(world, running, create=create)
        case d.ReadBack():
            found = running._replace(shown=world.shown)
            if world.shown == numbered(state.revision):
                yield world, _told(found, d.FoundAgain())
            else:
                yield world, _failed(found, _REFUSED)
        case d.Confirm():
            confirmation = d.confirm(state.projection_readback(), named(world.head))
            yield world, _confirmed(running, confirmation, world.head)


_REFUSED: Final = d.Failed(Failure("todo_projection_region_edited", "NotReplaceable", "no"))


def _published(world: World, running: Running, *, create: bool) -> tuple[World, Running]:
    revision = numbered(running.state.revision)
    # The publication looks again, so it never takes the place of what was edited or came back meanwhile.
    if create != (world.shown == MISSING) or world.shown == EDITED:
        return world, _failed(running, _REFUSED)
    changed = world.shown != revision
    wrote = running._replace(wrote=running.wrote or changed)
    return world._replace(shown=revision), _told(wrote, d.Published(changed=changed))


def _confirmed(running: Running, confirmation: d.Confirmation, head: int) -> Running:
    """Tell a delivery what the authority says, and hold that against the table of authority.md section 5."""
    state = running.state
    overtaken = head != numbered(state.revision)
    told = _told(running, d.Confirmed(confirmation))
    if overtaken and state.pinned is None and running.renderings < 3:
        _promise(told.action == d.Render(named(head)), "an overlap is caught up, up to three times")
    else:
        _promise(isinstance(told.action, d.Finish), "nothing is retried beyond what it may")
        status = "pending" if overtaken else "delivered" if running.wrote else "current"
        _promise(_result(told) == status, f"the status is {status}")
    if _result(told) in d.DELIVERED:
        _promise(not overtaken and running.shown == head, "no false delivered")
    return told


def _told(running: Running, event: d.Event) -> Running:
    state, action = d.advance(running.state, event)
    told = running._replace(state=state, action=action)
    # Nothing that the file shows is an acknowledgement.
    _promise(_result(told) not in d.DELIVERED or not isinstance(event, d.FoundAgain), "no false delivered")
    return told


def _failed(running: Running, event: d.Event) -> Running:
    told = _told(running, event)
    _promise(_result(told) == "pending", "what failed is pending")
    return told


def _result(running: Running) -> str | None:
    match running.action:
        case d.Finish(d.Confirmation() as confirmation):
            return confirmation.status
        case d.Finish():
            return "pending"
    return None


def _after(writer: Writer, running: Running) -> Writer:
    """Return a writer after a step of its delivery; at the end it does what it is told to do."""
    match running.action:
        case d.Refuse(head):
            _promise(not running.wrote and writer.pins and head != named(writer.revision), "a pin is checked first")
            return writer._replace(phase="idle", running=None)
        case d.Finish(result):
            _promise(running.disturbed or not isinstance(result, Failure), "what nobody disturbs succeeds")
            _promise(not _report(running, result).get("retry_business_mutation"), "no business mutation is repeated")
            return writer._replace(phase="idle", running=None)
    return writer._replace(running=running)


def _report(running: Running, result: d.Confirmation | Failure) -> dict[str, Any]:
    if isinstance(result, Failure):
        return delivery_reports.failed("g", result)
    rendering = Rendering("", True, "", "", "", "", 0, {})
    return delivery_reports.settled(GOAL, rendering, running.state, result)


def _promise(kept: bool, name: str) -> None:
    if not kept:
        raise Violation(name)
