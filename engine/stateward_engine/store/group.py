"""One group while it is gathered: what its commands are answered, and the entries that make it true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import msgspec

from stateward_engine.errors import TooLarge
from stateward_engine.state.draft import Draft
from stateward_engine.state.transition import Repeat, Transition
from stateward_engine.store.record import ENTRY_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from stateward_engine.json_value import Json
    from stateward_engine.state.view import Basis, View
    from stateward_engine.store.decide import Command

    Decide: TypeAlias = Callable[[Basis, Command, str], Transition | Repeat]

# Every caller of a group waits for all of it, and its record is held in memory whole.
GROUP_BYTES_MAX: Final = 16 * 2**20


class Committed(NamedTuple):
    """The command changed the state, and that is durable.

    Attributes:
        transition: What happened.
        sequence: Its ledger sequence.
        at: When, as RFC 3339 text in UTC.
    """

    transition: Transition
    sequence: int
    at: str

    @property
    def receipt(self) -> Mapping[str, Json]:
        """What the caller is answered, as from a `Repeat`."""
        return self.transition.receipt


class Rejected(NamedTuple):
    """The command changed nothing, or nobody can know whether it did (`StoreUnavailable` with outcome `unknown`).

    An error that is no `EngineError` is a mistake of ours, in deciding this one command.
    """

    error: Exception


class Compacted(NamedTuple):
    """The ledger was compacted; the state is what it was.

    Attributes:
        streams_written: How many checkpoints were written.
    """

    streams_written: int

    @property
    def receipt(self) -> Mapping[str, Json]:
        """What the caller is answered."""
        return {"streams_written": self.streams_written}


class Followed(NamedTuple):
    """The view is where the ledger is."""

    @property
    def receipt(self) -> Mapping[str, Json]:
        """What the caller is answered."""
        return {}


Outcome: TypeAlias = Committed | Repeat | Compacted | Followed | Rejected


class Group:
    """Commands decided one after the other, each on what the ones before it left.

    Attributes:
        entries: The JSON texts to append, in order.
    """

    def __init__(self, view: View, *, at: str, decide: Decide) -> None:
        self.entries: list[bytes] = []
        self._view = view
        self._first_sequence = view.sequence + 1
        self._at = at
        self._decide = decide
        self._draft = Draft(view)
        self._transitions: list[Transition] = []
        self._bytes = len(b"[")

    def add(self, command: Command) -> Outcome | None:
        """Decide a command and take it in, and return what to answer once the group is durable.

        Whatever goes wrong with it is its own answer and touches no other command.

        Returns:
            `None` when its entry would make the payload longer than `GROUP_BYTES_MAX`: it opens the next group.
        """
        try:
            decision = self._decide(self._draft, command, self._at)
            if isinstance(decision, Repeat):
                return decision
            entry = _encode(decision, self._at)
            if self.entries and self._bytes + len(entry) + len(b"]") > GROUP_BYTES_MAX:
                return None
            return self._take(decision, entry)
        except Exception as error:  # noqa: BLE001 - a mistake of ours must not harm the commands beside it
            return Rejected(error)

    def finish(self) -> View:
        """Return the view that the group leads to."""
        return self._draft.finish()

    def _take(self, transition: Transition, entry: bytes) -> Committed:
        sequence = self._first_sequence + len(self.entries)
        try:
            self._draft.apply(transition, at=self._at, sequence=sequence)
        except Exception:
            self._redraw()
            raise
        self._transitions.append(transition)
        self.entries.append(entry)
        self._bytes += len(entry) + len(b",")
        return Committed(transition, sequence, self._at)

    def _redraw(self) -> None:
        """Replace a draft that may have taken in half of a transition."""
        self._draft = Draft(self._view)
        for sequence, transition in enumerate(self._transitions, self._first_sequence):
            self._draft.apply(transition, at=self._at, sequence=sequence)


def _encode(transition: Transition, at: str) -> bytes:
    entry = msgspec.json.encode(transition.to_entry(at))
    if len(entry) > ENTRY_BYTES_MAX:
        raise TooLarge("the change is larger than one entry; split it", limit="max_entry_bytes")
    return entry
