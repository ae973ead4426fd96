"""The engine's verb for change: `decide` looks at a basis and a command and says what must be stored.

It is pure: it neither changes its basis nor knows clock, disk or queue. The one writer decides on its own draft, so
that each command of a group meets what the commands before it did.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from stateward_engine.errors import CorruptStore, IdempotencyConflict, InvalidRequest, Refused, StaleBasis
from stateward_engine.json_value import PARAMS, Json, Place, canonical, preview
from stateward_engine.state.patch import ScopedPatch, apply, net
from stateward_engine.state.view import (
    HISTORY_LIMIT_MAX,
    SCOPES,
    Identity,
    KeptReceipt,
    Planes,
    ReceiptKey,
    Scope,
    ScopeName,
    Selection,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

# A journal outlives the program that wrote it; a reader that meets another number must not guess.
ENTRY_VERSION: Final = 1


class Basis(Protocol):
    """What a decision looks at: a published `View`, or the writer's `Draft` without a copy for each command."""

    @property
    def scopes(self) -> Mapping[Identity, Scope]:
        """Return every scope that a transition ever changed, and that of every known session."""

    @property
    def receipts(self) -> Mapping[ReceiptKey, KeptReceipt]:
        """Return the kept answers of keyed mutations."""

    @property
    def history_limit(self) -> int:
        """Return the store's setting."""

    def scope(self, identity: Identity) -> Scope:
        """Return the scope of that identity; one that was never changed is empty."""


@dataclass(frozen=True, slots=True)
class PatchState:
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


@dataclass(frozen=True, slots=True)
class ImportState:
    """Set whole states of scopes that never had any, with a new origin.

    Attributes:
        selection: Who asks.
        scopes: The states, already parsed against `selection.wanted`.
    """

    selection: Selection
    scopes: Mapping[ScopeName, Planes]


@dataclass(frozen=True, slots=True)
class Configure:
    """Set the store's durable history limit; `parse_history_limit` makes it from what a client sent."""

    history_limit: int


Command: TypeAlias = PatchState | ImportState | Configure


@dataclass(frozen=True, slots=True)
class Repeat:
    """Nothing is to be stored: the state is so already, or a kept receipt answers."""

    receipt: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Transition:
    """What one accepted command stores, complete: replaying it never decides anything again.

    Attributes:
        cwd: The directory of the client that made it, or `None`.
        session: Its session, or `None`.
        patches: The net patch of each changed scope.
        states: The whole new state of each scope that begins here.
        receipt: What the client is answered.
        receipt_key: Under which the receipt is kept, or `None`.
        digest: SHA-256 of the authored patch, hexadecimal; set with `receipt_key`.
        history_limit: The new setting, or `None`.

    Invariant: every scope belongs to `cwd` and `session`, so an entry names scopes by their word alone.
    """

    cwd: str | None
    session: str | None
    receipt: Mapping[str, Json]
    patches: Mapping[Identity, Planes] = field(default_factory=dict)
    states: Mapping[Identity, Planes] = field(default_factory=dict)
    receipt_key: ReceiptKey | None = None
    digest: str | None = None
    history_limit: int | None = None

    def to_entry(self, at: str) -> dict[str, Json]:
        """Return the journal entry: a self-contained JSON object.

        Args:
            at: When it was accepted (RFC 3339, UTC).
        """
        return {
            "type": "state",
            "version": ENTRY_VERSION,
            "at": at,
            "cwd": self.cwd,
            "session": self.session,
            "patches": {identity.kind: patch for identity, patch in self.patches.items()},
            "states": {identity.kind: state for identity, state in self.states.items()},
            "receipt": self.receipt,
            "key": self.receipt_key.key if self.receipt_key else None,
            "digest": self.digest,
            "history_limit": self.history_limit,
        }


def from_entry(entry: Mapping[str, Any]) -> Transition:
    """Return the transition of a journal entry; its time stands in the member `at`.

    Raises:
        CorruptStore: Another program's version of the entry.
    """
    if entry["version"] != ENTRY_VERSION:
        raise CorruptStore(
            "a journal entry has an unknown version; open the store with the program that wrote it",
            got=f"version {entry['version']}",
            wanted=f"version {ENTRY_VERSION}",
        )
    cwd, session, key = entry["cwd"], entry["session"], entry["key"]
    owner = Selection(cwd, session, SCOPES)
    return Transition(
        cwd=cwd,
        session=session,
        patches={owner.identity(scope): patch for scope, patch in entry["patches"].items()},
        states={owner.identity(scope): state for scope, state in entry["states"].items()},
        receipt=entry["receipt"],
        receipt_key=None if key is None else ReceiptKey(cwd, session, key),
        digest=entry["digest"],
        history_limit=entry["history_limit"],
    )


def decide(basis: Basis, command: Command) -> Transition | Repeat:
    """Return what `command` stores on top of `basis`, or the answer when it stores nothing.

    Raises:
        RequestError: `basis` does not take the command; nothing was changed.
    """
    match command:
        case PatchState():
            return _decide_patch(basis, command)
        case ImportState():
            return _decide_import(basis, command)
        case Configure():
            return _decide_limit(basis, command)


def revision_of(basis: Basis, selection: Selection) -> str:
    """Return the revision vector of the wanted scopes, for example `G15/C8/S31`."""
    return "/".join(
        f"{scope[0].upper()}{basis.scope(selection.identity(scope)).revision}" for scope in selection.wanted
    )


def parse_history_limit(value: Json) -> int:
    """Return the history limit that a client sent.

    Raises:
        InvalidRequest: Not an integer from 0 to `HISTORY_LIMIT_MAX`.

    Source: state.md section 7.1.
    """
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= HISTORY_LIMIT_MAX:
        return value
    wanted = f"an integer from 0 to {HISTORY_LIMIT_MAX}"
    raise InvalidRequest(
        f"history_limit must be {wanted}",
        path=str(Place(PARAMS, "history_limit")),
        got=preview(value),
        wanted=wanted,
        example='{"history_limit": 7}',
    )


def _decide_patch(basis: Basis, command: PatchState) -> Transition | Repeat:
    selection, patch = command.selection, command.patch
    key, digest = _receipt_key(command), None
    if key is not None:
        digest = hashlib.sha256(canonical(dict(patch.scopes.items())).encode()).hexdigest()
        # Looked up before `if_revision`: a repeat must be answered although its own first run moved the revision.
        if kept := basis.receipts.get(key):
            return _repeat(kept, digest)
    if command.if_revision is not None:
        _check_revision(basis, selection, command.if_revision)
    patches: dict[Identity, Planes] = {}
    for scope, authored in patch.scopes.items():
        identity = selection.identity(scope)
        before = basis.scope(identity).planes
        after = apply(before, authored, patch.place(scope))
        if after is not before:
            patches[identity] = net(before, after, authored)
    receipt = _changed(patches)
    if not patches:
        return Repeat(receipt)
    return Transition(selection.cwd, selection.session, receipt, patches=patches, receipt_key=key, digest=digest)


def _decide_import(basis: Basis, command: ImportState) -> Transition | Repeat:
    selection = command.selection
    occupied = [scope for scope in command.scopes if _is_occupied(basis.scope(selection.identity(scope)))]
    if occupied:
        raise Refused(
            f"{' and '.join(occupied)} already had a transition; import only into scopes that never had one",
            reason_code="scope_not_empty",
            path=str(Place(Place(PARAMS, "scopes"), occupied[0])),
            wanted="scopes that no transition ever changed, such as those of a new session or another store",
        )
    states = {selection.identity(scope): planes for scope, planes in command.scopes.items() if planes}
    receipt = _changed(states)
    return Transition(selection.cwd, selection.session, receipt, states=states) if states else Repeat(receipt)


def _is_occupied(scope: Scope) -> bool:
    """Tell whether a scope has a past or a content that an import would bury. That a session is known is neither."""
    return scope.revision > 0 or bool(scope.planes)


def _decide_limit(basis: Basis, command: Configure) -> Transition | Repeat:
    receipt: dict[str, Json] = {"history_limit": command.history_limit}
    if command.history_limit == basis.history_limit:
        return Repeat(receipt)
    return Transition(None, None, receipt, history_limit=command.history_limit)


def _receipt_key(command: PatchState) -> ReceiptKey | None:
    if command.idempotency_key is None:
        return None
    return ReceiptKey(command.selection.cwd, command.selection.session, command.idempotency_key)


def _repeat(kept: KeptReceipt, digest: str) -> Repeat:
    if kept.digest != digest:
        raise IdempotencyConflict(
            "idempotency_key was used for another patch; take a new key for a new patch",
            path=str(Place(PARAMS, "idempotency_key")),
            wanted="the patch that this key was first used for, or a key that was never used",
        )
    return Repeat(kept.receipt)


def _check_revision(basis: Basis, selection: Selection, expected: str) -> None:
    current = revision_of(basis, selection)
    if expected != current:
        raise StaleBasis(
            "the state has moved on; read it again, then patch with the revision it has now",
            path=str(Place(PARAMS, "if_revision")),
            got=expected,
            wanted=current,
        )


def _changed(identities: Mapping[Identity, Planes]) -> dict[str, Json]:
    """Return the receipt of section 10: changed scopes in precedence order, as commands hold them."""
    return {"changed": [identity.kind for identity in identities]}
