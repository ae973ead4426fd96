"""The baseline: what is pushed into a context at the start of a run, without a body of lazy state.

Source: state.md section 11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stateward_engine.state.history import transitions
from stateward_engine.state.navigation import navigation
from stateward_engine.state.overlay import effective, present
from stateward_engine.state.references import relative
from stateward_engine.state.view import in_table_order

if TYPE_CHECKING:
    from collections.abc import Collection

    from stateward_engine.json_value import Json
    from stateward_engine.state.view import Planes, Selection, View

# However large the window is, a run does not start with all of it.
RECENT_MAX: Final = 7


def baseline(view: View, selection: Selection, *, answers: bool) -> dict[str, Json]:
    """Return `state`, `lazy_navigation` and, where there are any, `recent_transitions`.

    Args:
        view: Captured once by the caller.
        selection: Whose owners are shown; a sole owner's references are relative.
        answers: Whether the `response` is shown, as mode active does.
    """
    hidden = {"lazy"} if answers else {"lazy", "response"}
    owners = view.planes(selection)
    shown = effective(_without(hidden, present(planes)) for planes in owners.values())
    answer = {"state": _shown(shown, selection), "lazy_navigation": navigation(owners.values())}
    if recent := _recent(view, selection, hidden):
        answer["recent_transitions"] = recent
    return answer


def _recent(view: View, selection: Selection, hidden: Collection[str]) -> list[Json]:
    """Return the newest kept records, oldest first. What is hidden leaves a gap in the offsets and no trace."""
    found: list[Json] = []
    for offset, sequence in enumerate(transitions(view, selection)[:RECENT_MAX]):
        patches: dict[str, Json] = {}
        for scope in selection.wanted:
            record = _without(hidden, view.scope(selection.identity(scope)).recorded(sequence))
            if record:
                patches[scope] = _shown(record, selection)
        if patches:
            found.append({"offset": offset, "patches": patches})
    return found[::-1]


def _without(hidden: Collection[str], planes: Planes) -> Planes:
    return {name: plane for name, plane in planes.items() if name not in hidden}


def _shown(planes: Planes, selection: Selection) -> Json:
    ordered = in_table_order(planes)
    return relative(ordered, selection.wanted[0]) if len(selection.wanted) == 1 else ordered
