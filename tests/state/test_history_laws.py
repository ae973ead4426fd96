"""Laws of history: every readable boundary is exactly what was, whatever came between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.chronicle import READERS, Chronicle
from state.drawn import search, searching
from stateward_engine.json_value import equal
from stateward_engine.state.history import transitions
from stateward_engine.state.patch import apply
from stateward_engine.state.read import ReadRequest, read

if TYPE_CHECKING:
    from stateward_engine.state.view import Selection

pytestmark = pytest.mark.property


class TestBoundaryLaws:
    """state.md, section 7.1: "every readable offset stays exact, also for scopes that change rarely".

    "With T transitions since the origin, `value` and `keys` are available at offsets 0..min(L,T), the `patch`
    projection at 0..min(L,T)-1" (SF-127, SF-151, SF-178).
    """

    @search(20)
    @given(st.data(), st.sampled_from(READERS))
    def test_every_offset_is_the_view_that_was(self, data: st.DataObject, who: Selection) -> None:
        chronicle = Chronicle()
        chronicle.run(data, 6)

        chronicle.check(chronicle.views[-1], who)

    @search(20)
    @given(st.data(), st.sampled_from(READERS))
    def test_every_record_leads_from_its_boundary_to_the_next(self, data: st.DataObject, who: Selection) -> None:
        """SF-146: the patch projection is the change at the boundary, for every owner and for the effective view."""
        chronicle = Chronicle()
        chronicle.run(data, 6)
        view = chronicle.views[-1]
        for offset in range(len(transitions(view, who))):
            for root in ("effective", *who.wanted):
                record: Any = read(view, who, ReadRequest((f"{root}[{offset}]",), projection="patch"))["patch"]
                before: Any = read(view, who, ReadRequest((f"{root}[{offset + 1}]",)))["value"]
                after: Any = read(view, who, ReadRequest((f"{root}[{offset}]",)))["value"]
                assert equal(apply(before, record), after)
                assert (record == {}) == equal(before, after)

    @searching
    @given(st.data())
    def test_a_change_shares_all_that_it_does_not_touch(self, data: st.DataObject) -> None:
        chronicle = Chronicle()
        chronicle.run(data, 5)
        for scope in chronicle.views[-1].scopes.values():
            moments = [*(change.before for change in scope.changes), scope.planes]
            for change, after in zip(scope.changes, moments[1:], strict=True):
                for plane in change.before.keys() - change.patch.keys():
                    assert after[plane] is change.before[plane]
