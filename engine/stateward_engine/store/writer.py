"""The one writer: commands go in from any thread, groups go to the journal, answers come out in order."""

from __future__ import annotations

import logging
import queue
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from stateward_engine.errors import Busy, EngineError, StoreUnavailable
from stateward_engine.state.view import View
from stateward_engine.store.clock import utc_now
from stateward_engine.store.decide import decide as decide_all
from stateward_engine.store.group import Compacted, Followed, Group, Outcome, Rejected
from stateward_engine.store.ledger import Stale, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stateward_engine.store.decide import Command
    from stateward_engine.store.group import Decide
    from stateward_engine.store.ledger import Ledger, Outage

    Deliver: TypeAlias = Callable[[Callable[[], None]], None]
    Upkeep: TypeAlias = "Compact | Follow"

# Commands wait here for the disk. Without a bound a stalled disk would turn every request into held memory.
QUEUE_LENGTH_MAX: Final = 4096
# All callers of a group wait for its slowest command, and for the encoding of every entry.
GROUP_LENGTH_MAX: Final = 256
# How often a group is decided anew because another process appended first.
DECISIONS_MAX: Final = 8

_T = TypeVar("_T")
_LOGGER: Final = logging.getLogger(__name__)


class WriterCore:
    """Commits commands, one group per call. Knows no threads; its ledger and its clock are given to it.

    Invariant: `view` never gets ahead of the ledger. `commit` assigns it after the append returned, and nobody else
    assigns it. A reader that saw a change before it was durable could act on something that a crash takes back.

    Attributes:
        view: The state that the ledger holds.
        ledger: Where groups go.
        followed: The views before and after each look at the ledger that found what others had appended, until
            somebody takes them. After an outage the one before is empty: what was done about changes may have failed.
    """

    def __init__(
        self, view: View, ledger: Ledger, *, now: Callable[[], str] = utc_now, decide: Decide = decide_all
    ) -> None:
        self.view = view
        self.ledger = ledger
        self.followed: list[tuple[View, View]] = []
        self._now = now
        self._decide = decide

    def commit(self, commands: Sequence[Command | Upkeep]) -> list[Outcome]:
        """Decide `commands` in order, make what they change durable as one group, and return their outcomes.

        The list may be shorter than `commands`, never empty: the group was full or ended before upkeep, which has a
        call to itself, and the rest is for the next call.

        Raises:
            Exception: A mistake of ours before anything was written.

        Source: store.md section 3.
        """
        was_away = self.ledger.outage is not None
        outcomes = self._settled(commands)
        if was_away and self.ledger.outage is None:
            self.followed.append((View(), self.view))
        return outcomes

    def _settled(self, commands: Sequence[Command | Upkeep]) -> list[Outcome]:
        if self.ledger.poison is not None:
            return [Rejected(refusal(self.ledger.poison))] * len(commands)
        if isinstance(commands[0], Compact):
            return [self.compact()]
        if isinstance(commands[0], Follow):
            self._follow()
            return [Followed()]
        for _ in range(DECISIONS_MAX):
            group = Group(self.view, at=self._now(), decide=self._decide)
            outcomes = _decide_in_order(group, commands)
            # Built before the append, so that nothing is left that could fail once the group is durable.
            view = group.finish() if group.entries else self.view
            try:
                if group.entries:
                    self.ledger.append(group.entries, expected_head=self.view.sequence)
                    self.view = view
                else:
                    # A refusal, too, has to be decided on the head.
                    self._follow()
            except Stale:
                self._follow(hold=True)
                continue
            except (StoreUnavailable, Busy) as error:
                return [_unsettled(outcome, error) for outcome in outcomes]
            if view is self.view:
                return outcomes
        refused = Busy("other daemons changed the store faster than this one could; try again", limit="decisions_max")
        return [Rejected(refused)] * len(commands)

    def _follow(self, *, hold: bool = False) -> None:
        """Take in what others have appended; see `Ledger.follow`."""
        before, self.view = self.view, self.ledger.follow(self.view, hold=hold)
        if self.view is not before:
            self.followed.append((before, self.view))

    def compact(self) -> Outcome:
        """Make the view what the next start begins with; see `Ledger.compact`."""
        try:
            return Compacted(self.ledger.compact(self.view))
        except EngineError as error:
            # Nobody waits for it, and the thread that does it must live.
            return Rejected(error)


def _decide_in_order(group: Group, commands: Sequence[Command | Upkeep]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for command in commands:
        outcome = None if isinstance(command, Compact | Follow) else group.add(command)
        if outcome is None:
            break
        outcomes.append(outcome)
    return outcomes


def _unsettled(outcome: Outcome, error: StoreUnavailable | Busy) -> Outcome:
    """Return what to answer when the group that a command was decided in did not become durable.

    A refusal was decided on a state that may never have been, so its reason is withheld; it wrote nothing all the same.
    """
    if isinstance(outcome, Rejected):
        return Rejected(StoreUnavailable("the store failed while it decided; repeat the call once it is well again"))
    return Rejected(error)


class Compact:
    """Ask the writer to compact the ledger now, between two groups."""


class Follow:
    """Ask the writer to take in what others appended to the ledger."""


class Ticket:
    """A submitted command. It is claimed once: by the writer, which commits it, or by its caller, who takes it back."""

    __slots__ = ("_claim", "command", "done")

    def __init__(self, command: Command | Upkeep, done: Callable[[Outcome], None]) -> None:
        self.command = command
        self.done = done
        self._claim = threading.Lock()

    def claim(self) -> bool:
        """Return whether the ticket is the caller's now; true for one caller only, whatever the threads."""
        return self._claim.acquire(blocking=False)

    def cancel(self) -> bool:
        """Take the command back if the writer has not begun with it.

        Returns:
            True if it will not be committed, and its `done` will not be called.
        """
        return self.claim()


class Writer:
    """A `WriterCore` on a thread of its own, behind a bounded queue.

    A group is what was queued while the group before it was being synced: no timer, so a lone command never waits for
    company.
    """

    def __init__(
        self,
        core: WriterCore,
        *,
        publish: Callable[[View], None],
        deliver: Deliver,
        followed: Callable[[View, View], None] = lambda _before, _after: None,
        queue_length_max: int = QUEUE_LENGTH_MAX,
    ) -> None:
        """Start the thread.

        Args:
            core: What commits; the writer's alone from here on.
            publish: Takes each new view, before the answers that belong to it.
            deliver: Runs a callable where publishing and answering belong, soon and in order; called once per group,
                on the writer's thread. An event loop's `call_soon_threadsafe` fits.
            followed: Told, after the answers, the views before and after what others have appended.
            queue_length_max: How many commands may wait.
        """
        self._core = core
        self._publish = publish
        self._followed = followed
        self._deliver = deliver
        self._queue_length_max = queue_length_max
        # Not a condition variable: this queue wakes its reader with one system call, and every commit waits for that.
        self._queue: queue.SimpleQueue[Ticket | None] = queue.SimpleQueue()
        # Orders submissions against closing. The writer's thread never takes it.
        self._gate = threading.Lock()
        self._closed = False
        # A daemon thread: a program that forgets `close` ends all the same, which to the store is one crash among many.
        self._thread = threading.Thread(target=self._run, name="stateward-writer", daemon=True)
        self._thread.start()

    @property
    def health(self) -> str:
        """`"ok"`, or why every mutation is refused."""
        if self._core.ledger.poison is not None:
            return self._core.ledger.poison
        if self._closed:
            return "closed"
        return self.outage.reason if self.outage else "ok"

    @property
    def outage(self) -> Outage | None:
        """See `Ledger`."""
        return self._core.ledger.outage

    @property
    def queue_length(self) -> int:
        """How many commands wait, those that were cancelled meanwhile included."""
        return self._queue.qsize()

    @property
    def length(self) -> int:
        """Size of what a start would have to replay, in bytes."""
        return self._core.ledger.length

    def submit(self, command: Command | Upkeep, done: Callable[[Outcome], None]) -> Ticket:
        """Queue a command; `done` gets its outcome by way of `deliver`, exactly once unless it is cancelled.

        Raises:
            Busy: `queue_length_max` commands are waiting.
            StoreUnavailable: The writer is closed.
        """
        ticket = Ticket(command, done)
        with self._gate:
            if self._closed:
                raise _closed()
            if self._queue.qsize() >= self._queue_length_max:
                raise Busy("too many mutations are waiting for the disk; try again later", limit="queue_length_max")
            self._queue.put(ticket)
        return ticket

    def follow(self) -> None:
        """Have the view brought to the head of the ledger soon, and published.

        Nothing is done for it while commands wait: they will be decided at the head.
        """
        if self._queue.empty():
            with suppress(StoreUnavailable, Busy):
                self.submit(Follow(), _ignore)

    def close(self) -> None:
        """Refuse new commands, commit those that wait, and end the thread.

        Their answers are delivered before this returns. A second call does nothing. Not to be called by the writer's
        own thread, hence not by a `done` that `deliver` runs there.
        """
        with self._gate:
            if self._closed:
                return
            self._closed = True
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while tickets := self._take():
            while tickets:
                outcomes = self._commit(tickets)
                self._answer(tickets[: len(outcomes)], outcomes)
                tickets = tickets[len(outcomes) :]
            if self._core.ledger.is_long:
                self._core.compact()

    def _take(self) -> list[Ticket]:
        """Wait for a command, then take what else is there; an empty list means that the writer is to end."""
        taken: list[Ticket] = []
        while len(taken) < GROUP_LENGTH_MAX and not (taken and self._queue.empty()):
            ticket = self._queue.get()
            if ticket is None:
                # Stays in the queue, as the end of every later call.
                self._queue.put(None)
                break
            if ticket.claim():
                taken.append(ticket)
        return taken

    def _commit(self, tickets: Sequence[Ticket]) -> list[Outcome]:
        try:
            return self._core.commit([ticket.command for ticket in tickets])
        except Exception as error:  # noqa: BLE001 - nothing was written, and the thread must live to say so
            return [Rejected(error)] * len(tickets)

    def _answer(self, tickets: Sequence[Ticket], outcomes: Sequence[Outcome]) -> None:
        view, moves = self._core.view, self._core.followed
        self._core.followed = []

        def settle() -> None:
            _call(self._publish, view)
            for ticket, outcome in zip(tickets, outcomes, strict=True):
                _call(ticket.done, outcome)
            for move in moves:
                _call(lambda views: self._followed(*views), move)

        _call(self._deliver, settle)


def _call(receiver: Callable[[_T], None], value: _T) -> None:
    """Call someone else's function; a failure there is theirs, and the commits and answers after it go on."""
    try:
        receiver(value)
    except Exception as error:  # noqa: BLE001 - see above
        # The class alone: a message could quote stored text.
        _LOGGER.error("a receiver of the writer failed with %s", type(error).__name__)  # noqa: TRY400


def _ignore(_outcome: Outcome) -> None:
    """Take the answer to what nobody asked for: an outage stands in `health`."""


def _closed() -> StoreUnavailable:
    return StoreUnavailable("the store is closed; open it again")
