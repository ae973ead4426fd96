"""State in memory for an editor: what a store would hold of the global scope."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from stateward_engine.state.draft import Draft
from stateward_engine.state.transition import Transition
from stateward_engine.state.view import Identity

if TYPE_CHECKING:
    from editor import Editor
    from stateward_engine.store.store import Store


def change_state(editor: Editor, lazy: dict[str, Any]) -> None:
    """Let the store of an editor's host have this under `lazy` of the global scope, and tell who follows it."""
    host = editor.caller.host
    view = host.store.view
    draft = Draft(view)
    transition = Transition(None, None, {}, patches={Identity("global"): {"lazy": lazy}})
    draft.apply(transition, at="2026-12-01T12:00:00.000000Z", sequence=view.sequence + 1)
    after = draft.finish()
    host.store = cast("Store", SimpleNamespace(view=after, provider="embedded", outage=None))
    host.subscriptions.published(after)
