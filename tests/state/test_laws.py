"""Laws of values, overlays, patches and replay, searched for counterexamples."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.drawn import (
    WHO,
    Value,
    changes,
    commands,
    committed,
    planes,
    search,
    searching,
    states,
    values,
)
from stateward_engine.errors import RequestError
from stateward_engine.json_value import canonical, equal, in_order, utf16_length
from stateward_engine.state.commands import ImportState, PatchState
from stateward_engine.state.decide import decide
from stateward_engine.state.draft import Draft
from stateward_engine.state.overlay import effective
from stateward_engine.state.patch import apply, net, parse_patch
from stateward_engine.state.paths import NAME
from stateward_engine.state.read import ReadRequest, read
from stateward_engine.state.transition import Repeat, from_entry
from stateward_engine.state.view import PLANES, SCOPES, Identity, Scope, View
from stateward_engine.state.whole_state import parse_scopes

if TYPE_CHECKING:
    from collections.abc import Mapping


pytestmark = pytest.mark.property


def merged(target: Value, patch: Value) -> Value:
    """Return what the pseudo-code of RFC 7396, section 2, makes of its arguments."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


class TestMergeLaws:
    """RFC 7396, section 1: what a merge patch does.

    "If the provided merge patch contains members that do not appear within the target, those members are added. If the
    target does contain the member, the value is replaced. Null values in the merge patch are given special meaning to
    indicate the removal of existing values in the target." (SF-161, SF-162, SF-163, SF-164)
    """

    @searching
    @given(changes(addressing=False))
    def test_a_patch_without_selectors_is_an_rfc_7396_patch(self, change: tuple[Value, Value]) -> None:
        before, patch = change

        assert equal(apply(before, patch), merged(before, patch))

    @searching
    @given(changes())
    def test_merging_twice_is_merging_once(self, change: tuple[Value, Value]) -> None:
        before, patch = change
        once = apply(before, patch)

        assert apply(once, patch) is once

    @searching
    @given(changes())
    def test_nothing_changed_is_the_same_object(self, change: tuple[Value, Value]) -> None:
        before, patch = change
        after = apply(before, patch)

        assert (after is before) == equal(after, before)

    def test_an_equal_value_is_no_change(self) -> None:
        """Neither an array that is sent again, nor an empty object over an object."""
        before: Value = {"tactics": {"l": [1, {"k": 1}], "o": {"k": 1}}}

        assert apply(before, {"tactics": {"l": [1.0, {"k": 1}], "o": {}}}) is before

    @searching
    @given(changes())
    def test_arguments_are_never_changed(self, change: tuple[Value, Value]) -> None:
        kept = copy.deepcopy(change)
        after = apply(*change)
        net(change[0], after, change[1])

        assert repr(change) == repr(kept)

    @searching
    @given(changes())
    def test_untouched_subtrees_are_the_same_objects(self, change: tuple[Value, Value]) -> None:
        before, patch = change

        check_shared(before, apply(before, patch), patch)

    @searching
    @given(changes())
    def test_null_is_never_kept(self, change: tuple[Value, Value]) -> None:
        assert "null" not in canonical(dict(apply(*change)))


def check_shared(before: Value, after: Value, patch: Value) -> None:
    """Fail unless everything that `patch` does not name is shared between `before` and `after`."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if key not in patch:
                assert after[key] is before[key]
            elif isinstance(patch[key], dict) and patch[key]:
                check_shared(before[key], after[key], patch[key])
    elif isinstance(before, list) and isinstance(after, list):
        for at, (old, new) in enumerate(zip(before, after, strict=True)):
            assert f"[{at}]" in patch or new is old


class TestNetLaws:
    """state.md, section 7.2: what is recorded of a change.

    "The record is the *net* merge patch N from the state before (A) to the state after (B), so that
    `apply(A, N) = B` by the ordinary patch rules."
    """

    @searching
    @given(changes())
    def test_the_record_leads_to_the_same_state(self, change: tuple[Value, Value]) -> None:
        before, patch = change
        after = apply(before, patch)

        assert equal(apply(before, net(before, after, patch)), after)

    @searching
    @given(states, states)
    def test_without_a_form_any_two_states_have_a_record(self, before: Value, after: Value) -> None:
        assert equal(apply(before, net(before, after, None)), after)

    @searching
    @given(changes(addressing=False))
    def test_without_addressed_elements_the_form_never_matters(self, change: tuple[Value, Value]) -> None:
        before, patch = change
        after = apply(before, patch)

        assert repr(net(before, after, patch)) == repr(net(before, after, None))

    @searching
    @given(changes())
    def test_the_record_is_in_canonical_order(self, change: tuple[Value, Value]) -> None:
        before, patch = change
        record = net(before, apply(before, patch), patch)

        assert list(record) == sorted(record)

    def test_an_addressed_array_of_another_length_is_recorded_whole(self) -> None:
        assert net({"l": [1]}, {"l": [2, 3]}, {"l": {"[0]": 2}}) == {"l": [2, 3]}

    @searching
    @given(changes())
    def test_equal_states_have_no_record(self, change: tuple[Value, Value]) -> None:
        before, patch = change

        assert net(before, copy.deepcopy(before), patch) == {}

    @searching
    @given(changes())
    def test_recording_a_record_gives_the_record(self, change: tuple[Value, Value]) -> None:
        before, patch = change
        after = apply(before, patch)
        record = net(before, after, patch)

        assert equal(net(before, apply(before, record), record), record)


class TestValueLaws:
    """state.md, section 2.5: "Equality is by JSON value and type"; key order is irrelevant."""

    @searching
    @given(values)
    def test_a_value_equals_its_canonical_text_read_back(self, value: Value) -> None:
        assert equal(value, json.loads(canonical(value)))

    @searching
    @given(values)
    def test_a_value_has_one_canonical_text(self, value: Value) -> None:
        """Whatever the order of its keys; they go by code point."""
        assert canonical(value) == canonical(reversed_keys(value))
        assert list(json.loads(canonical({"é": 1, "a": value, "Z": 2}))) == ["Z", "a", "é"]

    @searching
    @given(values, values)
    def test_equal_is_symmetric_and_sees_kinds(self, one: Value, other: Value) -> None:
        assert equal(one, other) == equal(other, one) == (marked(one) == marked(other))

    @searching
    @given(st.text())
    def test_length_counts_what_utf_16_needs(self, text: str) -> None:
        assert utf16_length(text) == sum(2 if ord(character) > 0xFFFF else 1 for character in text)


def reversed_keys(value: Value) -> Value:
    if isinstance(value, list):
        return [reversed_keys(element) for element in value]
    return {key: reversed_keys(value[key]) for key in reversed(value)} if isinstance(value, dict) else value


def marked(value: Value) -> Value:
    """Return `value` in a form in which Python's own equality is that of JSON."""
    if isinstance(value, bool):
        return ("boolean", str(value))
    if isinstance(value, list):
        return [marked(element) for element in value]
    return {key: marked(member) for key, member in value.items()} if isinstance(value, dict) else value


three_states = st.tuples(states, states, states)


def view_of(owners: tuple[Value, Value, Value]) -> View:
    return View(scopes={WHO.identity(scope): Scope(owner, 1) for scope, owner in zip(SCOPES, owners, strict=True)})


def laid_over(lower: Value, upper: Value) -> Value:
    """Return the fold of section 2.3 as it is written there."""
    if not (isinstance(lower, dict) and isinstance(upper, dict)):
        return upper
    return lower | {key: laid_over(lower[key], value) if key in lower else value for key, value in upper.items()}


def without_empty_response(owner: Mapping[str, Value]) -> Value:
    return {name: plane for name, plane in owner.items() if plane != ""}


class TestOverlayLaws:
    """state.md, section 2.3: "object over object merges by key, recursively; anything else replaces" (SF-098)."""

    @searching
    @given(planes)
    def test_one_owner_alone_is_its_own_view(self, owner: Value) -> None:
        assert effective([owner]) is owner
        assert effective([{}, owner, {}]) is owner or owner == {}

    @searching
    @given(three_states)
    def test_the_view_is_the_fold_of_the_owners(self, owners: tuple[Value, Value, Value]) -> None:
        lowest, middle, highest = map(without_empty_response, owners)

        assert equal(effective(owners), laid_over(laid_over(lowest, middle), highest))

    @searching
    @given(three_states)
    def test_every_path_reads_the_same_part_as_the_whole_view_has(self, owners: tuple[Value, Value, Value]) -> None:
        view, whole = view_of(owners), effective(owners)
        for path, value in parts("effective", whole):
            assert equal(read(view, WHO, ReadRequest((path,)))["value"], value)

    @searching
    @given(three_states)
    def test_keys_are_those_of_the_value_with_their_kinds(self, owners: tuple[Value, Value, Value]) -> None:
        view = view_of(owners)
        for path, value in parts("effective", effective(owners)):
            answer: Value = read(view, WHO, ReadRequest((path,), projection="keys"))
            assert list(answer) == ["meta", "keys"]
            if isinstance(value, dict):
                assert answer["meta"] == {"type": "object", "size": len(value)}
                assert answer["keys"].keys() == value.keys()
            elif not isinstance(value, bool | int | float):
                assert answer["meta"]["length"] >= len(value)


def parts(path: str, value: Value) -> list[tuple[str, Value]]:
    """Return every path below `path` that the grammar can spell, with its value."""
    found = [(path, value)]
    if isinstance(value, dict):
        for key in value:
            found += parts(f"{path}.{key}", value[key]) if NAME.fullmatch(key) else []
    elif isinstance(value, list):
        for at, element in enumerate(value):
            found += parts(f"{path}[{at}]", element)
    return found


class TestAnswerLaws:
    """state.md, section 2.5: "Answers list plane keys in the table order above and other keys in canonical order"."""

    @searching
    @given(states)
    def test_what_was_imported_is_answered_in_order(self, owner: Value) -> None:
        view = committed(View(), ImportState(WHO, parse_scopes({"global": owner}, SCOPES)))
        answer: Value = read(view, WHO, ReadRequest(("global",)))["value"]

        assert equal(answer, without_empty_response(owner))
        check_in_order(answer)

    @searching
    @given(st.data())
    def test_what_was_patched_is_answered_in_order(self, data: st.DataObject) -> None:
        view = View()
        for _ in range(3):
            view = committed(view, data.draw(commands(view)))

        check_in_order(read(view, WHO, ReadRequest(("effective",)))["value"])

    @searching
    @given(planes.map(in_order))
    def test_what_is_in_order_is_answered_without_a_copy(self, owner: Value) -> None:
        answer: Value = read(view_of(({}, owner, {})), WHO, ReadRequest(("cwd",)))["value"]

        assert all(answer[plane] is owner[plane] for plane in owner)


def check_in_order(answer: Value) -> None:
    assert list(answer) == [plane for plane in PLANES if plane in answer]
    assert all(json.dumps(plane) == json.dumps(plane, sort_keys=True) for plane in answer.values())


class TestReplayLaws:
    """store.md, section 2: "replay never re-runs a decision (no cascade, no clock)"."""

    @search(20)
    @given(st.data())
    def test_a_replayed_store_is_the_committed_one(self, data: st.DataObject) -> None:
        view, journal = View(), []
        for step in range(data.draw(st.integers(0, 6))):
            draft, kept = Draft(view), repr(view)
            at = f"2026-01-01T00:00:0{step}Z"
            try:
                decision = decide(draft, data.draw(commands(view)))
            except RequestError:
                continue
            if not isinstance(decision, Repeat):
                journal.append(json.dumps(decision.to_entry(at)))
                draft.apply(decision, at=at, sequence=len(journal))
            view, before = draft.finish(), view
            assert repr(before) == kept, "a draft changed the view it came from"

        replayed = Draft(View())
        for sequence, text in enumerate(journal, 1):
            entry = json.loads(text)
            replayed.apply(from_entry(entry), at=entry["at"], sequence=sequence)

        # Down to the order of keys and the spelling of numbers: a restart changes no byte of an answer.
        assert repr(replayed.finish()) == repr(view)


def test_an_entry_names_its_scopes_by_word_alone() -> None:
    decision = decide(View(), PatchState(WHO, parse_patch({"session": {"lazy": {"a": 1}}}, SCOPES)))

    assert not isinstance(decision, Repeat)
    assert decision.to_entry("2026-01-01T00:00:00Z")["patches"] == {"session": {"lazy": {"a": 1}}}
    assert list(decision.patches) == [Identity("session", WHO.cwd, WHO.session)]
