"""The engine's verb for change: `decide` looks at a basis and a command and says what must be stored.

It is pure: it neither changes its basis nor knows clock, disk or queue. The one writer decides on its own draft, so
that each command of a group meets what the commands before it did.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from stateward_engine.errors import IdempotencyConflict, Refused, StaleBasis
from stateward_engine.json_value import PARAMS, Json, Place, canonical
from stateward_engine.state.commands import (
    Command,
    Configure,
    ForkSession,
    ImportState,
    PatchState,
    ResetScope,
    Respond,
)
from stateward_engine.state.ownership import cascade, removal
from stateward_engine.state.patch import ScopedPatch, apply, net
from stateward_engine.state.receipt import Stage, patch_receipt
from stateward_engine.state.transition import Repeat, Transition
from stateward_engine.state.view import (
    Identity,
    KeptReceipt,
    Planes,
    ReceiptKey,
    Scope,
    ScopeName,
    Selection,
    in_table_order,
)
from stateward_engine.state.whole_state import exported

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stateward_engine.state.view import Basis


def decide(basis: Basis, command: Command) -> Transition | Repeat:
    """Return what `command` stores on top of `basis`, or the answer when it stores nothing.

    Raises:
        RequestError: `basis` does not take the command; nothing was changed.
        CorruptStore: It depends on a damaged stream.
    """
    match command:
        case PatchState():
            return _decide_patch(basis, command)
        case ImportState():
            return _decide_import(basis, command)
        case Configure():
            return _decide_limit(basis, command)
        case Respond():
            return _decide_answer(basis, command)
        case ForkSession():
            return _decide_fork(basis, command)
        case ResetScope():
            return _decide_reset(basis, command)


def revision_of(basis: Basis, selection: Selection) -> str:
    """Return the revision vector of the wanted scopes, for example `G15/C8/S31`; `?` is that of a damaged one."""
    identities = {scope[0].upper(): selection.identity(scope) for scope in selection.wanted}
    return "/".join(
        f"{letter}{'?' if identity in basis.damaged else basis.scope(identity).revision}"
        for letter, identity in identities.items()
    )


def _decide_patch(basis: Basis, command: PatchState) -> Transition | Repeat:
    selection, patch = command.selection, command.patch
    key, digest = _receipt_key(command), None
    if key is not None:
        digest = _digest(patch)
        # Looked up before `if_revision`: a repeat must be answered although its own first run moved the revision.
        if kept := basis.receipts.get(key):
            return _repeat(kept, digest)
    if command.if_revision is not None:
        _check_revision(basis, selection, command.if_revision)
    stages = {scope: _stage(scope, basis.scope(selection.identity(scope)).planes, patch) for scope in selection.wanted}
    receipt = patch_receipt(selection, stages)
    changed = {selection.identity(scope): stage for scope, stage in stages.items() if stage.record}
    if not changed:
        return Repeat(receipt)
    return Transition(
        selection.cwd,
        selection.session,
        receipt,
        patches={identity: stage.record for identity, stage in changed.items()},
        receipt_key=key,
        digest=digest,
        # What a cascade cleared and the patch wrote again may be equal and spelled otherwise, and is then not recorded.
        results={identity: stage.after for identity, stage in changed.items() if not stage.cascaded},
    )


def _stage(scope: ScopeName, before: Planes, patch: ScopedPatch) -> Stage:
    """Apply the part of a patch for one scope: intents, then what their deletion takes along, then the other planes.

    Source: state.md section 9.
    """
    authored = patch.scopes.get(scope)
    if authored is None:
        # Most patches are for one scope: what they say nothing of stays as it is.
        return Stage(before, before, {}, {}, ())
    place = patch.place(scope)
    if "intents" not in authored:
        # And most of them delete no intent, so nothing is taken along.
        after = apply(before, authored, place)
        return Stage(before, after, authored, net(before, after, authored), ())
    intents = {name: part for name, part in authored.items() if name == "intents"}
    others = {name: part for name, part in authored.items() if name != "intents"}
    after = apply(before, intents, place)
    cascaded = cascade(scope, before, after, authored)
    cleared = removal(cascaded)
    after = apply(apply(after, cleared), others, place)
    return Stage(before, after, authored, net(before, after, authored, cleared), cascaded)


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


def _decide_answer(basis: Basis, command: Respond) -> Transition | Repeat:
    selection = command.selection
    identity = selection.identity("session")
    if basis.scope(identity).planes.get("response", "") == command.text:
        return Repeat(_changed([]))
    patches: dict[Identity, Planes] = {identity: {"response": command.text or None}}
    return Transition(selection.cwd, selection.session, _changed(patches), patches=patches)


def _decide_fork(basis: Basis, command: ForkSession) -> Transition:
    parent, child = (Identity("session", command.cwd, session) for session in (command.parent, command.child))
    # Nothing is known of a damaged session, so whether there is one is asked of its scope.
    origin = basis.scope(parent)
    basis.scope(child)
    known = basis.sessions.get(command.cwd, {})
    if command.parent not in known:
        raise Refused(
            "parent is no session of this directory; sessions begin with their first change",
            reason_code="unknown_parent",
            path=str(Place(PARAMS, "parent")),
            got=command.parent,
        )
    if command.child in known:
        raise Refused(
            "child is a session already; choose an id that this directory does not know",
            reason_code="session_exists",
            path=str(Place(PARAMS, "child")),
            got=command.child,
        )
    return Transition(
        command.cwd, command.child, _changed([child]), states={child: exported(origin)}, parent=command.parent
    )


def _decide_reset(basis: Basis, command: ResetScope) -> Transition | Repeat:
    identity = command.identity
    if identity not in basis.damaged and not _is_occupied(basis.scope(identity)):
        return Repeat(_changed([]))
    if damage := basis.damaged.get(identity):
        gone: dict[str, Json] = {"file": damage.file, "reason": damage.reason}
    else:
        scope = basis.scope(identity)
        gone = {"revision": scope.revision, "planes": [*in_table_order(scope.planes)]}
    receipt = {**_changed([identity]), "gone": gone}
    return Transition(identity.cwd, identity.session, receipt, states={identity: {}}, reset=True, goal=identity.goal)


def _receipt_key(command: PatchState) -> ReceiptKey | None:
    if command.idempotency_key is None:
        return None
    return ReceiptKey(command.selection.cwd, command.selection.session, command.idempotency_key)


def _digest(patch: ScopedPatch) -> str:
    """Return what tells one patch from another: `1` and `1.0` are one value, however a client's encoder spells it."""
    scopes: dict[str, Json] = dict(patch.scopes.items())
    text = canonical(scopes)
    # Nothing else that a number may be spelled as equals an integer within bounds, and few patches have any.
    if ".0" in text:
        text = canonical(_with_integers(scopes))
    return hashlib.sha256(text.encode()).hexdigest()


def _with_integers(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _with_integers(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_with_integers(element) for element in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


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


def _changed(identities: Iterable[Identity]) -> dict[str, Json]:
    """Return the receipt of section 10: changed scopes in precedence order, as commands hold them."""
    return {"changed": [identity.kind for identity in identities]}
