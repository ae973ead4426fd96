"""Laws of the cascade, searched for counterexamples."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.drawn import WHO, committed, searching
from stateward_engine.errors import RequestError
from stateward_engine.json_value import equal
from stateward_engine.state.commands import PatchState
from stateward_engine.state.decide import decide, revision_of
from stateward_engine.state.history import transitions
from stateward_engine.state.patch import apply, parse_patch
from stateward_engine.state.read import ReadRequest, read
from stateward_engine.state.transition import Transition
from stateward_engine.state.view import SCOPES, Scope, Selection, View

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stateward_engine.state.transition import Repeat

pytestmark = pytest.mark.property

OTHER: Final = Selection(WHO.cwd, "evening", SCOPES)
PLANES: Final = ("lazy", "strategy", "tactics")
names = st.sampled_from(["a", "b", "c"])
addresses = st.builds(
    lambda plane, keys, tail: ".".join(["cwd", plane, *keys]) + tail,
    st.sampled_from(PLANES),
    st.lists(names, max_size=2),
    st.sampled_from(["", "", "", "[0]"]),
)
intents = st.dictionaries(names, st.lists(addresses.map(lambda text: {"$ref": text}), max_size=3), max_size=3)
strings = ["lazy.a", "cwd.lazy", "cwd.lazy.a", "session.lazy.a", "cwd.lazy.a[0]", "cwd[0].lazy.a", "cwd..", "two words"]
junk = st.lists(st.sampled_from([1, "cwd.lazy.a", [{"$ref": {"$ref": "cwd.lazy.a"}}], *({"$ref": s} for s in strings)]))
targets = st.dictionaries(names, st.dictionaries(names, st.integers(0, 2), max_size=2) | st.just([1]), max_size=3)


@st.composite
def deletions(draw: st.DrawFn) -> tuple[Any, Any]:
    """Return the planes of a scope, and a patch that deletes some of its intents and writes into its planes."""
    before = {"intents": draw(intents), **{plane: draw(targets) for plane in PLANES}}
    deleted = dict.fromkeys(draw(st.sets(names, min_size=1)))
    written = draw(st.dictionaries(st.sampled_from(PLANES), targets.filter(bool), max_size=2))
    return before, {"intents": draw(intents) | deleted, **written}


def shuffled(value: Any, chance: random.Random) -> Any:
    """Return `value` with the keys of every object in another order."""
    if isinstance(value, list):
        return [shuffled(element, chance) for element in value]
    if not isinstance(value, dict):
        return value
    return {key: shuffled(value[key], chance) for key in chance.sample(sorted(value), len(value))}


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
    @given(deletions(), st.integers(0, 999))
    def test_the_order_of_keys_is_irrelevant(self, change: tuple[Any, Any], seed: int) -> None:
        """SF-069, SF-089: neither that of planes nor that of intents, in the request or in the store."""
        before, patch = change
        chance = random.Random(seed)

        assert decided(before, patch) == decided(shuffled(before, chance), shuffled(patch, chance))

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

    @searching
    @given(st.dictionaries(names, junk, min_size=1), targets)
    def test_whatever_an_intent_refers_to_it_can_be_deleted(self, before: Any, lazy: Any) -> None:
        """SF-085, SF-097: the cascade validates nothing, warns of nothing, and knows no other scope."""
        decision = decided({"intents": before, "lazy": lazy}, {"intents": dict.fromkeys(before)})

        assert isinstance(decision, Transition)
        assert decision.receipt["changed"] == ["cwd"]
        updates: Any = decision.receipt["state_updates"]
        assert updates.keys() <= {"cascaded", "effective", "lazy_navigation"}
        assert all(path.split(".")[:2] == ["cwd", "lazy"] for path in updates.get("cascaded", []))


class TestCohort:
    """state.md, section 9: per changed scope, in one transition; and "the cascade never runs on replay"."""

    def test_a_deletion_is_one_transition_with_one_revision_for_each_scope(self) -> None:
        """SF-072, SF-089: what is cleared is in the same record as the deletion, in both scopes."""
        owner: Any = {"x": {"$ref": "global.lazy.p"}}, {"x": {"$ref": "cwd.lazy.p"}}
        planes: Any = {
            scope: {"intents": intents, "lazy": {"p": 1}}
            for scope, intents in zip(("global", "cwd"), owner, strict=True)
        }
        view = committed(View(), PatchState(WHO, parse_patch(planes, SCOPES)))
        deletion: Any = {scope: {"intents": {"x": None}} for scope in ("cwd", "global")}

        after = committed(view, PatchState(WHO, parse_patch(deletion, SCOPES)))

        assert (after.sequence, revision_of(after, WHO)) == (2, "G2/C2/S0")
        assert transitions(after, WHO) == [2, 1]
        for scope in ("global", "cwd"):
            record = read(after, WHO, ReadRequest((scope,), projection="patch"))["patch"]
            assert record == {"intents": {"x": None}, "lazy": {"p": None}}

    def test_accepted_history_keeps_what_a_later_deletion_clears(self) -> None:
        """SF-096: records and boundaries before stay as they were; the old reference owns from now on only."""
        planes: Any = {"cwd": {"intents": {"x": {"$ref": "cwd.lazy.p"}}, "lazy": {"p": 1}}}
        view = committed(View(), PatchState(WHO, parse_patch(planes, SCOPES)))
        view = committed(view, PatchState(WHO, parse_patch({"cwd": {"tactics": {"t": 1}}}, SCOPES)))
        after = committed(view, PatchState(WHO, parse_patch({"cwd": {"intents": {"x": None}}}, SCOPES)))

        assert read(after, WHO, ReadRequest(("cwd[0].lazy", "cwd[1].lazy.p"), batch=True))["value"] == [{}, 1]
        assert read(after, WHO, ReadRequest(("cwd[2]",), projection="patch")) == read(
            view, WHO, ReadRequest(("cwd[1]",), projection="patch")
        )

    def test_a_late_write_to_a_deleted_intent_makes_a_part_of_one(self) -> None:
        """SF-094: the last accepted call wins, on what is there then."""
        planes: Any = {"cwd": {"intents": {"x": {"goal": 1, "step": 1}}}}
        view = committed(View(), PatchState(WHO, parse_patch(planes, SCOPES)))
        view = committed(view, PatchState(WHO, parse_patch({"cwd": {"intents": {"x": None}}}, SCOPES)))

        after = committed(view, PatchState(OTHER, parse_patch({"cwd": {"intents": {"x": {"step": 2}}}}, SCOPES)))

        assert read(after, WHO, ReadRequest(("cwd.intents",)))["value"] == {"x": {"step": 2}}
