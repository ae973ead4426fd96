"""Laws of receipts: with its own patch and the receipt, a writer knows the hot effective view."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.drawn import WHO, changes, searching, states
from stateward_engine.errors import RequestError
from stateward_engine.json_value import equal, in_order
from stateward_engine.state import receipt
from stateward_engine.state.commands import PatchState
from stateward_engine.state.decide import decide
from stateward_engine.state.draft import Draft
from stateward_engine.state.overlay import effective
from stateward_engine.state.patch import parse_patch
from stateward_engine.state.transition import Transition
from stateward_engine.state.view import HOT_PLANES, SCOPES, Scope, Selection, View

pytestmark = pytest.mark.property


def hot(view: View) -> Any:
    shown: Any = effective(view.planes(WHO).values())
    return {plane: value for plane, value in shown.items() if plane in HOT_PLANES}


def at(value: Any, path: list[Any]) -> Any:
    """Return what is at a path, `None` where there is nothing."""
    for segment in path:
        try:
            value = value[segment]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def places(before: Any, after: Any, path: list[Any]) -> list[list[Any]]:
    """Return the smallest places at which two values differ, as section 10 says it."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            p for key in before.keys() | after.keys() for p in places(before.get(key), after.get(key), [*path, key])
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [p for n in range(len(before)) for p in places(before[n], after[n], [*path, n])]
    return [] if equal(before, after) else [path]


@searching
@given(changes(), st.sampled_from(SCOPES), states)
def test_what_stands_alone_has_nothing_to_tell(change: tuple[Any, Any], scope: Any, others: Any) -> None:
    """The short cut says what the long way finds."""
    planes, patch = change
    owners: Any = {name: in_order(planes if name == scope else others) for name in SCOPES}
    basis = View(scopes={WHO.identity(name): Scope(owner, 1) for name, owner in owners.items()})
    try:
        command = PatchState(WHO, parse_patch({scope: patch}, SCOPES))
        quick = decide(basis, command).receipt
    except RequestError:
        return
    with pytest.MonkeyPatch.context() as long_way:
        long_way.setattr(receipt, "stands_alone", lambda _: False)
        assert decide(basis, command).receipt == quick


class TestReceiptLaws:
    """state.md, section 10: "how the hot effective view now differs from what the writer can predict"."""

    @searching
    @given(st.data(), states, states)
    def test_what_is_not_told_is_what_was_sent(self, data: st.DataObject, lower: Any, upper: Any) -> None:
        planes, patch = data.draw(changes())
        owners: list[Any] = [in_order(lower), in_order(planes), in_order(upper)]
        scopes: Any = {WHO.identity(scope): Scope(owner, 1) for scope, owner in zip(SCOPES, owners, strict=True)}
        view = View(scopes=scopes)
        try:
            decision = decide(view, PatchState(WHO, parse_patch({"cwd": patch}, SCOPES)))
        except RequestError:
            return
        draft = Draft(view)
        if isinstance(decision, Transition):
            draft.apply(decision, at="", sequence=1)
        before, after = hot(view), hot(draft.finish())
        updates: Any = decision.receipt.get("state_updates", {})
        told = {str(entry["path"]): entry for entry in updates.get("effective", [])}

        for entry in told.values():
            assert equal(at(after, entry["path"]), None if "deleted" in entry else entry["value"])
        for place in places(before, after, []):
            sent: Any = patch
            for segment in place:
                key = segment if isinstance(segment, str) or isinstance(sent, list) else f"[{segment}]"
                sent = at(sent, [key])
            assert str(place) in told or equal(sent, at(after, place))

    @searching
    @given(changes())
    def test_a_sole_owner_is_told_of_deletions_alone(self, change: tuple[Any, Any]) -> None:
        """SF-090, SF-092: what it wrote shows as it was written, for nothing lies over or under it."""
        before, patch = change
        who = Selection(WHO.cwd, WHO.session, ("cwd",))
        view = View(scopes={who.identity("cwd"): Scope(in_order(before), 1)})  # type: ignore[arg-type]  # an object
        try:
            decision = decide(view, PatchState(who, parse_patch(patch, ("cwd",))))
        except RequestError:
            return
        updates: Any = decision.receipt.get("state_updates", {})

        assert all(entry.keys() == {"path", "deleted"} for entry in updates.get("effective", []))
