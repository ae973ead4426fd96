"""`state_status`: revisions and health of the wanted scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import convert
from stateward_engine.state.decide import revision_of
from stateward_engine.state.history import transitions
from stateward_protocol import messages as m

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_engine.state.view import Damage


def handle(caller: Caller, _params: m.NoParams) -> m.StateStatusResult:
    """Tell the revision word that `if_revision` takes."""
    store, selection = caller.host.store, caller.bound().selection
    return m.StateStatusResult(
        revision=revision_of(store.view, selection),
        boundaries=len(transitions(store.view, selection)) + 1,
        scopes={scope: _health(store.view.damaged.get(selection.identity(scope))) for scope in selection.wanted},
        writer=convert.writer_health(store),
    )


def _health(damage: Damage | None) -> m.ScopeHealth:
    return m.ScopeHealth(ok=damage is None, reason=None if damage is None else damage.reason)
