"""The writer's private successor of a view: where transitions take effect, when committed and when replayed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from stateward_engine.state.history import folded
from stateward_engine.state.patch import apply
from stateward_engine.state.view import EMPTY_SCOPE, Change, Identity, KeptReceipt, ReceiptKey, Scope, View
from stateward_engine.state.whole_state import begun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.state.transition import Transition
    from stateward_engine.state.view import Planes

# Every kept receipt stays in memory and in each checkpoint; a client that repeats a call does so within minutes.
RECEIPTS_KEPT_MAX: Final = 4_096


class Draft:
    """A view in the making, owned by one writer (or by recovery) until `finish`.

    It is itself the basis that `decide` looks at, so that a group of commands copies nothing between them. Each
    top-level mapping of the view is copied once per draft, not once per transition.

    Invariant: `apply` is the only way in which a transition takes effect. Recovery calls it as the writer does, so a
    replayed store cannot differ from the committed one.

    Attributes:
        sequence: The ledger sequence of the last applied transition.
        scopes: Every scope that a transition ever changed, and that of every known session.
        sessions: For each cwd, its session ids and when each was last changed.
        receipts: The kept answers of keyed mutations, oldest first.
        history_limit: The store's setting.
    """

    __slots__ = ("_finished", "_own_sessions", "history_limit", "receipts", "scopes", "sequence", "sessions")

    def __init__(self, view: View) -> None:
        self.sequence = view.sequence
        self.history_limit = view.history_limit
        self.scopes: dict[Identity, Scope] = dict(view.scopes)
        self.receipts: dict[ReceiptKey, KeptReceipt] = dict(view.receipts)
        self.sessions: dict[str, Mapping[str, str]] = dict(view.sessions)
        # By cwd, those inner mappings that this draft has copied and may change.
        self._own_sessions: dict[str, dict[str, str]] = {}
        self._finished = False

    def scope(self, identity: Identity) -> Scope:
        """Return the scope of that identity; one that was never changed is empty."""
        return self.scopes.get(identity, EMPTY_SCOPE)

    def apply(self, transition: Transition, *, at: str, sequence: int) -> None:
        """Let `transition` take effect.

        Args:
            transition: Decided on this draft, or read from the journal in order.
            at: When it was accepted (RFC 3339, UTC).
            sequence: Its place in the ledger.

        Raises:
            RuntimeError: The draft is finished; its mappings belong to a published view.
        """
        if self._finished:
            raise RuntimeError("a finished draft takes no transition; make a new one from the view")
        if transition.cwd is not None and transition.session is not None:
            self._name_session(transition.cwd, transition.session, at, sequence)
        for identity, patch in transition.patches.items():
            self.scopes[identity] = self._advanced(self.scope(identity), patch, sequence)
        for identity, state in transition.states.items():
            # A fork is an origin like an import, and its child has not changed since.
            revision = self.scope(identity).revision + (0 if transition.parent is not None else 1)
            self.scopes[identity] = begun(state, revision=revision, since=sequence)
        if transition.receipt_key is not None and transition.digest is not None:
            self._keep_receipt(transition.receipt_key, KeptReceipt(transition.digest, transition.receipt))
        if transition.history_limit is not None:
            self._limit_history(transition.history_limit)
        self.sequence = sequence

    def finish(self) -> View:
        """Return the view with every applied transition; the draft takes no more of them."""
        self._finished = True
        return View(self.sequence, self.scopes, self.sessions, self.receipts, self.history_limit)

    def _advanced(self, scope: Scope, patch: Planes, sequence: int) -> Scope:
        """Return the scope after a transition changed it, with the change kept."""
        kept = (*scope.changes, Change(sequence, patch, scope.planes))
        after = replace(scope, planes=apply(scope.planes, patch), revision=scope.revision + 1, changes=kept)
        return folded(after, self.history_limit)

    def _limit_history(self, limit: int) -> None:
        """Take the new setting; a lower one folds at once (state.md section 7.1)."""
        if limit < self.history_limit:
            for identity, scope in self.scopes.items():
                self.scopes[identity] = folded(scope, limit)
        self.history_limit = limit

    def _name_session(self, cwd: str, session: str, at: str, sequence: int) -> None:
        """Note when a session was last changed.

        Its first transition makes it known, and the boundary before is its origin (state.md section 7.1).
        """
        self.scopes.setdefault(Identity("session", cwd, session), Scope(since=sequence - 1))
        own = self._own_sessions.get(cwd)
        if own is None:
            own = self._own_sessions[cwd] = dict(self.sessions.get(cwd, {}))
            self.sessions[cwd] = own
        own[session] = at

    def _keep_receipt(self, key: ReceiptKey, kept: KeptReceipt) -> None:
        self.receipts[key] = kept
        if len(self.receipts) > RECEIPTS_KEPT_MAX:
            del self.receipts[next(iter(self.receipts))]
