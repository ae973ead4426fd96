"""Commands: what clients ask the one writer to change, already checked as far as no state is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from stateward_engine.errors import InvalidRequest
from stateward_engine.json_value import PARAMS, Place, unstorable
from stateward_engine.state.storable import unwanted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.state.patch import ScopedPatch
    from stateward_engine.state.view import Identity, Planes, ScopeName, Selection


class PatchState(NamedTuple):
    """Apply an authored patch to what is current (state.md section 8).

    Attributes:
        selection: Who asks.
        patch: The patch, already parsed against `selection.wanted`.
        idempotency_key: The same key and patch again is answered from the kept receipt.
        if_revision: What `revision_of` said to the client; refuse when a wanted scope has moved on.
    """

    selection: Selection
    patch: ScopedPatch
    idempotency_key: str | None = None
    if_revision: str | None = None


class ImportState(NamedTuple):
    """Set whole states of scopes that never had any, with a new origin.

    Attributes:
        selection: Who asks.
        scopes: The states, already parsed against `selection.wanted`.
    """

    selection: Selection
    scopes: Mapping[ScopeName, Planes]


class Configure(NamedTuple):
    """Set the store's durable history limit: 0 to 100 transitions, as the message of the wire keeps it."""

    history_limit: int


class Respond(NamedTuple):
    """Keep an answer in the session; `parse_answer` says who may (state.md section 8.5).

    Attributes:
        selection: Who answers.
        text: The answer. An empty one counts as absent everywhere, so it removes the one that is there.
    """

    selection: Selection
    text: str


class ForkSession(NamedTuple):
    """Begin a session with the current state of another one of the same directory (state.md section 12.1).

    Attributes:
        cwd: Real path of the directory.
        parent: Id of a session that is known there.
        child: Id of one that is not.
    """

    cwd: str
    parent: str
    child: str


class ResetScope(NamedTuple):
    """Give up all that a scope holds, its past and its damaged bytes included; it begins anew and empty.

    Source: store.md section 4.
    """

    identity: Identity


Command: TypeAlias = PatchState | ImportState | Configure | Respond | ForkSession | ResetScope


def parse_answer(selection: Selection, text: str, *, active: bool) -> Respond:
    """Return the command that keeps an answer.

    Raises:
        InvalidRequest: The client is not in mode active, or the text cannot be stored.
        UnwantedOwner: It has no session, or does not work with it.

    Source: state.md section 8.5.
    """
    place = Place(PARAMS, "text")
    if not active:
        raise InvalidRequest(
            "answers are kept in mode active alone; change the mode of this connection first",
            wanted="mode active",
            example='{"mode": "active"}',
        )
    if "session" not in selection.wanted:
        raise unwanted("session", selection.wanted, path=str(place), example='{"text": "the tests pass"}')
    if problem := unstorable(text):
        raise InvalidRequest(f"{place} is {problem}; send text that UTF-8 can hold", path=str(place), got=problem)
    return Respond(selection, text)


def parse_fork(selection: Selection, parent: str, child: str) -> ForkSession:
    """Return the command that forks a session of the client's directory.

    Raises:
        InvalidRequest: The client has no directory.

    Source: state.md section 12.1.
    """
    if selection.cwd is None:
        raise InvalidRequest("sessions belong to a directory; attach with a cwd first", wanted="an attached cwd")
    return ForkSession(selection.cwd, parent, child)
