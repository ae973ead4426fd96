"""Laws of history: every readable boundary is exactly what was, whatever came between."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state.drawn import commands, committed, searching
from stateward_engine.errors import HistoryUnavailable
from stateward_engine.json_value import equal
from stateward_engine.state.history import transitions
from stateward_engine.state.overlay import effective
from stateward_engine.state.patch import apply
from stateward_engine.state.read import ReadRequest, read
from stateward_engine.state.view import SCOPES, Identity, Selection, View

if TYPE_CHECKING:
    from stateward_engine.state.view import Planes

pytestmark = pytest.mark.property

READERS: Final = [
    Selection("/home/ada/project", "morning", SCOPES),
    Selection("/home/ada/project", "evening", SCOPES),
    Selection("/home/ada/project", "noon", SCOPES),
    Selection("/home/ada/project", None, ("global", "cwd")),
    Selection(None, None, ("global",)),
]


@dataclass
class Chronicle:
    """All views that ever were, one per ledger sequence: history without any window."""

    views: list[View] = field(default_factory=lambda: [View()])
    limits: set[int] = field(default_factory=set)

    def run(self, data: st.DataObject, length: int) -> None:
        # Small windows, so that most runs fold.
        self.views[0] = View(history_limit=data.draw(st.integers(0, 3)))
        for _ in range(length):
            self.limits.add(self.views[-1].history_limit)
            view = committed(self.views[-1], data.draw(commands(self.views[-1])))
            if view is not self.views[-1]:
                self.views.append(view)
        self.limits.add(self.views[-1].history_limit)

    def lineage(self, who: Selection) -> list[int]:
        """Return the sequences at which a member changed since the origin, newest first, as section 7.1 says it."""
        origin = 0
        if who.session is not None:
            known = [at for at, view in enumerate(self.views) if who.session in view.sessions.get(who.cwd or "", {})]
            origin = known[0] - 1 if known else len(self.views)
        return [at for at in range(len(self.views) - 1, max(origin, 0), -1) if self.changed(at, who)]

    def changed(self, at: int, who: Selection) -> bool:
        return any(self.revision(at, member) != self.revision(at - 1, member) for member in who.members())

    def revision(self, at: int, member: Identity) -> int:
        return self.views[at].scope(member).revision

    def planes(self, at: int, who: Selection) -> dict[Any, Planes]:
        return self.views[at].planes(who)


class TestBoundaryLaws:
    """state.md, section 7.1: "every readable offset stays exact, also for scopes that change rarely".

    "With T transitions since the origin, `value` and `keys` are available at offsets 0..min(L,T), the `patch`
    projection at 0..min(L,T)-1" (SF-127, SF-151, SF-178).
    """

    @settings(searching, max_examples=20)
    @given(st.data(), st.sampled_from(READERS))
    def test_every_offset_is_the_view_that_was(self, data: st.DataObject, who: Selection) -> None:
        chronicle = Chronicle()
        chronicle.run(data, 6)
        view, lineage = chronicle.views[-1], chronicle.lineage(who)
        kept = transitions(view, who)

        assert kept == lineage[: len(kept)]
        assert len(kept) == min(*chronicle.limits, len(lineage)) or len(chronicle.limits) > 1
        for offset in range(len(kept) + 1):
            at = len(chronicle.views) - 1 if offset == 0 else lineage[offset - 1] - 1
            planes = chronicle.planes(at, who)
            for scope in who.wanted:
                answer = read(view, who, ReadRequest((f"{scope}[{offset}]",)))
                assert equal(answer["value"], planes[scope])
            assert equal(read(view, who, ReadRequest((f"effective[{offset}]",)))["value"], effective(planes.values()))
        for projection in ("value", "keys"):
            with pytest.raises(HistoryUnavailable):
                read(view, who, ReadRequest((f"effective[{len(kept) + 1}]",), projection=projection))
        with pytest.raises(HistoryUnavailable):
            read(view, who, ReadRequest((f"effective[{len(kept)}]",), projection="patch"))

    @settings(searching, max_examples=20)
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
