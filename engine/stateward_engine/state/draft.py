"""The writer's private successor of a view: where transitions take effect, when committed and when replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stateward_engine.state.history import folded
from stateward_engine.state.patch import apply
from stateward_engine.state.view import EMPTY_SCOPE, Basis, Change, Identity, KeptReceipt, ReceiptKey, Scope, View
from stateward_engine.state.whole_state import begun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.state.transition import Transition
    from stateward_engine.state.view import Damage

# Every kept receipt stays in memory and in each checkpoint; a client that repeats a call does so within minutes.
RECEIPTS_KEPT_MAX: Final = 4_096


class Draft(Basis):
    """A view in the making, owned by one writer (or by recovery) until `finish`.

    It is itself the basis that `decide` looks at, so that a group of commands copies nothing between them. Each
    top-level mapping of the view is copied once per draft, not once per transition.

    Invariant: `apply` is the only way in which a transition takes effect. Recovery calls it as the writer does; what
    the writer's decision has worked out already is what the recorded patch leads to, so a replayed store cannot differ
    from the committed one.

    Attributes:
        sequence: The ledger sequence of the last applied transition.
        scopes: Every scope that an entry ever touched.
        sessions: For each cwd, its session ids and when each was last changed.
        receipts: The kept answers of keyed mutations, oldest first.
        history_limit: The store's setting.
        damaged: The streams that cannot be trusted, and that nothing but a reset changes.
    """

    __slots__ = (
        "_finished",
        "_own_sessions",
        "damaged",
        "history_limit",
        "receipts",
        "scopes",
        "sequence",
        "sessions",
    )

    def __init__(self, view: View) -> None:
        self.sequence = view.sequence
        self.history_limit = view.history_limit
        self.scopes: dict[Identity, Scope] = dict(view.scopes)
        self.receipts: dict[ReceiptKey, KeptReceipt] = dict(view.receipts)
        self.sessions: dict[str, Mapping[str, str]] = dict(view.sessions)
        self.damaged: dict[Identity, Damage] = dict(view.damaged)
        # By cwd, those inner mappings that this draft has copied and may change.
        self._own_sessions: dict[str, dict[str, str]] = {}
        self._finished = False

    def apply(self, transition: Transition, *, at: str, sequence: int) -> None:
        """Let `transition` take effect, except on streams that are damaged or include it already.

        Args:
            transition: Decided on this draft, or read from the journal in order.
            at: When it was accepted (RFC 3339, UTC).
            sequence: Its place in the ledger.

        Raises:
            RuntimeError: The draft is finished; its mappings belong to a published view.
        """
        if self._finished:
            raise RuntimeError("a finished draft takes no transition; make a new one from the view")
        for identity in transition.streams():
            if transition.reset:
                self.damaged.pop(identity, None)
            scope = self.scopes.get(identity)
            if identity not in self.damaged and (scope is None or scope.touched < sequence):
                self.scopes[identity] = self._advanced(identity, scope, transition, sequence)
        if transition.cwd is not None and transition.session is not None:
            self._name_session(transition.cwd, transition.session, at)
        if transition.receipt_key is not None and transition.digest is not None:
            # A keyed mutation has changed something, and changes are in precedence order.
            home = [*transition.patches][-1]
            kept = KeptReceipt(transition.digest, transition.receipt, sequence, home)
            self._keep_receipt(transition.receipt_key, kept)
        if transition.history_limit is not None:
            self._limit_history(transition.history_limit, sequence)
        self.sequence = sequence

    def finish(self) -> View:
        """Return the view with every applied transition; the draft takes no more of them."""
        self._finished = True
        return View(self.sequence, self.scopes, self.sessions, self.receipts, self.history_limit, self.damaged)

    def _advanced(self, identity: Identity, before: Scope | None, transition: Transition, sequence: int) -> Scope:
        """Return the scope of a stream that the transition touches, after it; `before` is `None` for a new one."""
        # The boundary before the first transition of a session is its origin (state.md section 7.1).
        scope = before or EMPTY_SCOPE._replace(since=sequence - 1 if identity.kind == "session" else 0)
        if identity in transition.states:
            return begun(transition.states[identity], revision=_revision(scope, transition, sequence), since=sequence)
        patch = transition.patches.get(identity)
        if patch is None:
            return scope._replace(touched=sequence)
        kept = (*scope.changes, Change(sequence, patch, scope.planes))
        planes = transition.results.get(identity) or apply(scope.planes, patch)
        after = scope._replace(planes=planes, revision=scope.revision + 1, touched=sequence, changes=kept)
        return folded(after, self.history_limit)

    def _limit_history(self, limit: int, sequence: int) -> None:
        """Take the new setting; a lower one folds at once (state.md section 7.1)."""
        if limit < self.history_limit:
            for identity, scope in self.scopes.items():
                if scope.touched < sequence and len(scope.changes) > limit:
                    self.scopes[identity] = folded(scope, limit)._replace(touched=sequence)
        self.history_limit = limit

    def _name_session(self, cwd: str, session: str, at: str) -> None:
        """Note when a session was last changed, unless nothing is known of it."""
        if Identity("session", cwd, session) in self.damaged:
            return
        own = self._own_sessions.get(cwd)
        if own is None:
            own = self._own_sessions[cwd] = dict(self.sessions.get(cwd, {}))
            self.sessions[cwd] = own
        own[session] = at

    def _keep_receipt(self, key: ReceiptKey, kept: KeptReceipt) -> None:
        if kept.home in self.damaged:
            return
        self.receipts[key] = kept
        if len(self.receipts) > RECEIPTS_KEPT_MAX:
            del self.receipts[next(iter(self.receipts))]


def _revision(scope: Scope, transition: Transition, sequence: int) -> int:
    """Return the revision of a scope that begins with a whole state."""
    if transition.reset:
        # What it was may be lost. No revision ever passes the ledger, so this one was never told before.
        return sequence
    # A fork is an origin like an import, and its child has not changed since.
    return scope.revision + (0 if transition.parent is not None else 1)
