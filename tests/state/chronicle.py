"""History without any window: every view that ever was, and what a reader of the newest one must find in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import strategies as st

from state.drawn import commands, committed
from stateward_engine.errors import HistoryUnavailable
from stateward_engine.json_value import equal
from stateward_engine.state.commands import Configure
from stateward_engine.state.history import transitions
from stateward_engine.state.overlay import effective
from stateward_engine.state.read import ReadRequest, read
from stateward_engine.state.view import SCOPES, Identity, Selection, View

if TYPE_CHECKING:
    from stateward_engine.state.commands import Command
    from stateward_engine.state.view import Planes

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
        self.follow(Configure(data.draw(st.integers(0, 3))))
        self.limits.clear()
        for _ in range(length):
            self.follow(data.draw(commands(self.views[-1])))
        self.limits.add(self.views[-1].history_limit)

    def follow(self, command: Command) -> None:
        self.limits.add(self.views[-1].history_limit)
        view = committed(self.views[-1], command)
        if view is not self.views[-1]:
            self.views.append(view)

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

    def check(self, view: View, who: Selection) -> None:
        """Fail unless every offset that `view` keeps is the view that was, and every other one is refused."""
        lineage, kept = self.lineage(who), transitions(view, who)
        assert kept == lineage[: len(kept)]
        assert len(kept) == min(*self.limits, len(lineage)) or len(self.limits) > 1
        for offset in range(len(kept) + 1):
            planes = self.planes(len(self.views) - 1 if offset == 0 else lineage[offset - 1] - 1, who)
            for scope in who.wanted:
                assert equal(read(view, who, ReadRequest((f"{scope}[{offset}]",)))["value"], planes[scope])
            assert equal(read(view, who, ReadRequest((f"effective[{offset}]",)))["value"], effective(planes.values()))
        for projection in ("value", "keys"):
            with pytest.raises(HistoryUnavailable):
                read(view, who, ReadRequest((f"effective[{len(kept) + 1}]",), projection=projection))
        with pytest.raises(HistoryUnavailable):
            read(view, who, ReadRequest((f"effective[{len(kept)}]",), projection="patch"))
