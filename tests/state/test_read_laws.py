"""Laws of reads and of what is never in an answer, searched for counterexamples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.chronicle import READERS, Chronicle
from state.drawn import WHO, committed, planes, search, searching, states, values
from stateward_engine.errors import OutOfBounds, RequestError
from stateward_engine.json_value import equal, in_order
from stateward_engine.state.baseline import baseline
from stateward_engine.state.commands import PatchState
from stateward_engine.state.decide import decide
from stateward_engine.state.overlay import effective
from stateward_engine.state.patch import parse_patch
from stateward_engine.state.read import PROJECTIONS, Projection, ReadRequest, read
from stateward_engine.state.view import SCOPES, Scope, Selection, View

if TYPE_CHECKING:
    from stateward_engine.json_value import Json

pytestmark = pytest.mark.property

MEMBERS: Final[dict[Projection, list[str]]] = {"value": ["value"], "keys": ["meta", "keys"], "patch": ["patch"]}
WORDS: Final = {"object", "array", "string", "number", "boolean"}
PATHS: Final = [
    f"{root}{rest}"
    for root in ("effective", "global", "cwd", "session", "session[0]", "cwd[1]", "effective[2]", "lazy", "tactics")
    for rest in ("", ".lazy", ".a", ".lazy.a", ".lazy.a[0]", ".lazy.b[0:1]", ".artifacts.c.a", "[0:1][0]")
    if not (root in ("lazy", "tactics") and rest.startswith(".lazy"))
]


def view_of(*owners: Any) -> View:
    given_ = zip(SCOPES, owners, strict=True)
    return View(scopes={WHO.identity(scope): Scope(in_order(owner), 1) for scope, owner in given_})  # type: ignore[arg-type]  # objects


def outcome(view: View, who: Selection, request: ReadRequest) -> Any:
    """Return an answer, or the category of its refusal."""
    try:
        return read(view, who, request)
    except RequestError as error:
        return error.category


class TestBatchLaws:
    """state.md, section 4: "All paths of one call are evaluated against one captured view", in request order.

    SF-010, SF-108, SF-109, SF-110, SF-111, SF-113, SF-118, SF-137, SF-145, SF-184.
    """

    @search(20)
    @given(st.data(), st.sampled_from(READERS), st.sampled_from(PROJECTIONS))
    def test_a_batch_is_its_parts_on_one_view(self, data: st.DataObject, who: Selection, projection: Any) -> None:
        chronicle = Chronicle()
        chronicle.run(data, 3)
        view = chronicle.views[-1]
        parts = {path: outcome(view, who, ReadRequest((path,), projection=projection)) for path in PATHS}
        good = [path for path, part in parts.items() if not isinstance(part, str) and "hint" not in part]
        # Duplicates stay. Where nothing can be answered, only the refusals are left to compare.
        paths = tuple(data.draw(st.lists(st.sampled_from(good), min_size=1, max_size=5))) if good else ()

        if paths:
            answer = read(view, who, ReadRequest(paths, batch=True, projection=projection))
            assert answer == {name: [parts[path][name] for path in paths] for name in MEMBERS[projection]}
        for bad in parts.keys() - set(good):
            if isinstance(parts[bad], str):
                mixed = ReadRequest((*paths, bad, "cwd.nosuch"), batch=True, projection=projection)
                assert outcome(view, who, mixed) == parts[bad]


class TestAnswerShapeLaws:
    """state.md, section 4: "No other member ever appears, except `hint`".

    SF-011, SF-012, SF-019, SF-115, SF-116, SF-117, SF-120, SF-142, SF-143, SF-144.
    """

    @search(20)
    @given(st.data(), st.sampled_from(READERS))
    def test_an_answer_has_its_members_in_their_order_and_no_more(self, data: st.DataObject, who: Selection) -> None:
        chronicle = Chronicle()
        chronicle.run(data, 3)
        for projection in PROJECTIONS:
            for path in PATHS:
                answer = outcome(chronicle.views[-1], who, ReadRequest((path,), projection=projection))
                if isinstance(answer, str):
                    continue
                assert [name for name in answer if name != "hint"] == MEMBERS[projection]
                if projection == "keys":
                    check_outline(**answer)

    @searching
    @given(st.data())
    def test_a_baseline_has_three_members_and_no_machinery(self, data: st.DataObject) -> None:
        """SF-019, SF-037, SF-152, SF-153, SF-189: no revision, sequence or hash, and no lazy body."""
        chronicle = Chronicle()
        chronicle.run(data, 4)
        answer: Any = baseline(chronicle.views[-1], WHO, answers=data.draw(st.booleans()))

        assert answer.keys() <= {"state", "lazy_navigation", "recent_transitions"}
        assert "lazy" not in answer["state"]
        assert {"available", "path"} <= answer["lazy_navigation"].keys() <= {"available", "path", "keys"}
        assert set(answer["lazy_navigation"].get("keys", {}).values()) <= WORDS
        for transition in answer.get("recent_transitions", ()):
            assert transition.keys() == {"offset", "patches"}
            assert set(SCOPES) >= transition["patches"].keys() > set()
            assert all(record and "lazy" not in record for record in transition["patches"].values())


def check_outline(meta: Any, keys: Any) -> None:
    match meta["type"]:
        case "object":
            assert meta == {"type": "object", "size": len(keys)}
            assert set(keys.values()) <= WORDS
        case "array" | "string":
            assert meta.keys() == {"type", "length"}
            assert keys == []
        case _:
            assert meta.keys() == {"type"}
            assert keys == []


class TestExactnessLaws:
    """state.md, section 1: "Every read is exact or an error. There is no paging, no truncation, no partial batch"."""

    @searching
    @given(st.lists(values, max_size=6), st.integers(0, 8), st.integers(0, 8), st.sampled_from([":", ".."]))
    def test_a_range_is_its_elements_or_out_of_bounds(self, array: Any, start: int, end: int, dots: str) -> None:
        """SF-018, SF-129, SF-130, SF-132, SF-133."""
        view, request = view_of({}, {"lazy": {"m": array}}, {}), ReadRequest((f"cwd.lazy.m[{start}{dots}{end}]",))

        if start <= end <= len(array):
            assert equal(read(view, WHO, request)["value"], array[start:end])
        else:
            with pytest.raises(OutOfBounds):
                read(view, WHO, request)

    @searching
    @given(st.dictionaries(st.sampled_from(["a", "b", "é", "0"]), values, min_size=1), st.sampled_from(SCOPES))
    def test_what_comes_back_is_what_was_sent(self, body: Any, scope: Any) -> None:
        """SF-001, SF-007, SF-016, SF-021, SF-036, SF-065: JSON of any kind, with nothing wrapped, added or cut."""
        view = committed(View(), PatchState(WHO, parse_patch({scope: {"lazy": body}}, SCOPES)))

        answer: Any = read(view, WHO, ReadRequest((f"{scope}.lazy",)))["value"]
        assert equal(answer, body)
        assert repr(answer) == repr(in_order(body))

    @pytest.mark.parametrize("digits", ["9" * 19, "1" + "0" * 400, "9" * 100_000])
    def test_a_number_may_have_any_length(self, digits: str) -> None:
        """SF-128, SF-132, SF-151: beyond every array, and before every history; it is never converted blindly."""
        view = view_of({}, {"lazy": {"m": [1]}}, {})
        asked = {
            path: outcome(view, WHO, ReadRequest((path,)))
            for path in (f"cwd.lazy.m[{digits}]", f"cwd.lazy.m[0:{digits}]", f"cwd.lazy.m[{digits}..{digits}]")
        }

        assert set(asked.values()) == {"out_of_bounds"}
        assert outcome(view, WHO, ReadRequest((f"cwd[{digits}].lazy",))) == "history_unavailable"
        with pytest.raises(OutOfBounds):
            committed_strictly(view, {"cwd": {"lazy": {"m": {f"[{digits}]": 2}}}})


def committed_strictly(view: View, patch: Json) -> None:
    decide(view, PatchState(WHO, parse_patch(patch, SCOPES)))


triples = st.tuples(states, states, states)


def laid(*owners: Any) -> Any:
    return effective(owners)


class TestOverlayLaws:
    """state.md, section 2.3: "There is no tombstone: deleting a key in an upper scope shows the lower value again"."""

    @searching
    @given(triples)
    def test_the_order_of_folding_is_irrelevant(self, owners: tuple[Any, Any, Any]) -> None:
        """SF-098: wherever the kinds agree, the overlay is associative.

        An object over something else hides what that hid; a partial fold has forgotten it, so the kinds must agree.
        """
        low, middle, high = owners
        if same_kinds(low, middle) and same_kinds(middle, high) and same_kinds(low, high):
            assert equal(laid(laid(low, middle), high), laid(low, laid(middle, high)))

    @searching
    @given(triples)
    def test_folding_from_below_is_folding_at_once(self, owners: tuple[Any, Any, Any]) -> None:
        low, middle, high = owners

        assert equal(laid(laid(low, middle), high), laid(low, middle, high))

    @searching
    @given(planes.filter(bool), planes.filter(bool), st.data())
    def test_a_deletion_reveals_and_never_hides(self, low: Any, high: Any, data: st.DataObject) -> None:
        """SF-103, SF-104, SF-177: nulls in an upper scope show the lower values, also where there was nothing."""
        scope: Any = data.draw(st.sampled_from(["cwd", "session"]))
        plane = data.draw(st.sampled_from(sorted(low)))
        names = sorted(low[plane].keys() | high.get(plane, {}).keys())
        view = view_of(low, high if scope == "cwd" else {}, high if scope == "session" else {})

        deletion: Json = {scope: {plane: dict.fromkeys(names)}}
        after = committed(view, PatchState(WHO, parse_patch(deletion, SCOPES)))

        assert equal(read(after, WHO, ReadRequest((f"effective.{plane}",)))["value"], low[plane])


def same_kinds(one: Any, other: Any) -> bool:
    """Tell whether nothing of one value lies under another kind of the other."""
    if isinstance(one, dict) and isinstance(other, dict):
        return all(same_kinds(one[key], other[key]) for key in one.keys() & other.keys())
    return isinstance(one, dict) == isinstance(other, dict)


class TestBaselineLaws:
    """state.md, section 11: lazy state costs a baseline its navigation, and that is bounded."""

    @pytest.mark.parametrize("count", [1, 100, 100_000])
    def test_its_size_does_not_grow_with_lazy_state(self, count: int) -> None:
        """SF-009, SF-015, SF-100: from a kilobyte to a hundred megabytes the answer is the same."""
        body = ["x" * 1_000] * count
        view = committed(View(), PatchState(WHO, parse_patch({"cwd": {"lazy": {"big": [0]}}}, SCOPES)))
        small = baseline(view, WHO, answers=True)

        view = committed(view, PatchState(WHO, parse_patch({"cwd": {"lazy": {"big": body}}}, SCOPES)))

        assert len(repr(read(view, WHO, ReadRequest(("cwd.lazy.big",))))) > 1_000 * count
        assert baseline(view, WHO, answers=True) == small

    def test_names_of_several_owners_are_told_whole_or_not_at_all(self) -> None:
        """SF-035, SF-154, SF-155, SF-156: what counts is what shows, never a part of it, and all of it can be read."""
        names = [f"k{number:02}" for number in range(40)]
        low: Any = {"lazy": dict.fromkeys(names[:20], 1)}
        few, many = ({"lazy": dict.fromkeys(names[start : start + 20], "x")} for start in (12, 13))

        told: Any = baseline(view_of(low, {}, few), WHO, answers=True)["lazy_navigation"]
        assert told["keys"] == {name: "number" if name < "k12" else "string" for name in names[:32]}
        assert baseline(view_of(low, {}, many), WHO, answers=True)["lazy_navigation"] == {
            "available": True,
            "path": "effective.lazy",
        }
        whole: Any = read(view_of(low, {}, many), WHO, ReadRequest(("effective.lazy",)))["value"]
        assert list(whole) == names[:33]

    def test_reading_promotes_nothing_and_a_hot_patch_does(self) -> None:
        """SF-025, SF-157, SF-158."""
        view = committed(View(), PatchState(WHO, parse_patch({"cwd": {"lazy": {"plan": "body"}}}, SCOPES)))
        before = baseline(view, WHO, answers=True)
        body = read(view, WHO, ReadRequest(("cwd.lazy.plan",)))["value"]
        assert baseline(view, WHO, answers=True) == before
        assert "body" not in repr(before)

        view = committed(view, PatchState(WHO, parse_patch({"cwd": {"tactics": {"plan": body}}}, SCOPES)))

        assert baseline(view, WHO, answers=True)["state"] == {"tactics": {"plan": "body"}}
        assert read(view, WHO, ReadRequest(("cwd.lazy.plan",)))["value"] == body
