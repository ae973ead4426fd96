"""Laws of the cascade, searched for counterexamples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.drawn import WHO, searching
from stateward_engine.errors import RequestError
from stateward_engine.json_value import equal
from stateward_engine.state.commands import PatchState
from stateward_engine.state.decide import decide
from stateward_engine.state.patch import apply, parse_patch
from stateward_engine.state.transition import Transition
from stateward_engine.state.view import SCOPES, Scope, View

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stateward_engine.state.transition import Repeat

pytestmark = pytest.mark.property

PLANES: Final = ("lazy", "strategy", "tactics")
names = st.sampled_from(["a", "b", "c"])
addresses = st.builds(
    lambda plane, keys, tail: ".".join(["cwd", plane, *keys]) + tail,
    st.sampled_from(PLANES),
    st.lists(names, max_size=2),
    st.sampled_from(["", "", "", "[0]"]),
)
intents = st.dictionaries(names, st.lists(addresses.map(lambda text: {"$ref": text}), max_size=3), max_size=3)
targets = st.dictionaries(names, st.dictionaries(names, st.integers(0, 2), max_size=2) | st.just([1]), max_size=3)


@st.composite
def deletions(draw: st.DrawFn) -> tuple[Any, Any]:
    """Return the planes of a scope, and a patch that deletes some of its intents and writes into its planes."""
    before = {"intents": draw(intents), **{plane: draw(targets) for plane in PLANES}}
    deleted = dict.fromkeys(draw(st.sets(names, min_size=1)))
    written = draw(st.dictionaries(st.sampled_from(PLANES), targets.filter(bool), max_size=2))
    return before, {"intents": draw(intents) | deleted, **written}


def decided(before: Any, patch: Any) -> Transition | Repeat | str:
    view = View(scopes={WHO.identity("cwd"): Scope(before, 1)})
    try:
        return decide(view, PatchState(WHO, parse_patch({"cwd": patch}, SCOPES)))
    except RequestError as error:
        return error.category


def cleared(before: Any, paths: Iterable[str]) -> Any:
    for path in paths:
        patch: Any = None
        for key in reversed(path.split(".")[1:]):
            patch = {key: patch}
        before = apply(before, patch)
    return before


class TestCascadeLaws:
    """state.md, section 9: intents first, then the cascade, then the remaining planes."""

    @searching
    @given(deletions())
    def test_the_order_of_keys_is_irrelevant(self, change: tuple[Any, Any]) -> None:
        """SF-069: JSON insertion order has no effect."""
        before, patch = change

        assert decided(before, patch) == decided(before, dict(reversed(patch.items())))

    @searching
    @given(deletions())
    def test_the_record_alone_leads_where_the_three_phases_lead(self, change: tuple[Any, Any]) -> None:
        """SF-095: the net patch is stored, so that replay never reruns the cascade."""
        before, patch = change
        decision = decided(before, patch)
        if not isinstance(decision, Transition):
            return
        updates: Any = decision.receipt.get("state_updates", {})
        rest = {name: part for name, part in patch.items() if name != "intents"}
        staged = cleared(apply(before, {"intents": patch["intents"]}), updates.get("cascaded", []))

        record = decision.patches[WHO.identity("cwd")]
        assert equal(apply(before, record), apply(staged, rest))

    @searching
    @given(deletions())
    def test_no_target_is_related_to_what_remains(self, change: tuple[Any, Any]) -> None:
        """SF-070, SF-071: what a remaining or new intent refers to survives, with all that is above and below it."""
        before, patch = change
        decision = decided(before, patch)
        if not isinstance(decision, Transition):
            return
        updates: Any = decision.receipt.get("state_updates", {})
        remaining = str(apply(before, {"intents": patch["intents"]}).get("intents"))
        for path in updates.get("cascaded", []):
            assert f"'{path}" not in remaining
            keys = path.split(".")
            assert not any(f"'{'.'.join(keys[:length])}'" in remaining for length in range(2, len(keys)))
