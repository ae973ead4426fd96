"""Steps that cannot be taken: their handler is told, because what came before them may be committed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from editor import Channel
from stateward.location import Place
from stateward_daemon import dispatch, lanes
from stateward_daemon.exchange import Exchange
from stateward_daemon.handlers import attach
from stateward_daemon.host import Host
from stateward_daemon.settings import Settings
from stateward_daemon.steps import OnLane
from stateward_engine.authority.commands import ConfigureGoal
from stateward_engine.errors import Busy, StoreUnavailable
from stateward_engine.state.view import View

if TYPE_CHECKING:
    from stateward_daemon.steps import Steps
    from stateward_engine.store.store import Store

LATER = "try again later"
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "goal_new",
    "params": {"goal_id": "g", "path": "/w/ACTIVE_GOAL_STATE.md", "objective": "o"},
}


class FullStore:
    """Takes nothing."""

    view = View()
    provider = "embedded"
    outage = None

    def submit(self, *_: object) -> None:
        raise StoreUnavailable(f"the store is full; {LATER}")


@pytest.mark.parametrize("step", [OnLane("g", lambda: None), ConfigureGoal("g")], ids=["lane", "command"])
@pytest.mark.parametrize("catches", [True, False])
async def test_the_handler_is_told(monkeypatch: pytest.MonkeyPatch, step: Any, catches: bool) -> None:
    def handle(*_: object) -> Steps:
        try:
            yield step
        except (Busy, StoreUnavailable) as error:
            if not catches:
                raise
            return {"told": str(error)}

    monkeypatch.setattr(dispatch, "handler_of", lambda method: attach.handle if method.name == "attach" else handle)
    monkeypatch.setattr(lanes, "LANE_LENGTH_MAX", 0)
    host = Host(store=cast("Store", FullStore()), place=Place(Path("/s")), settings=Settings())
    channel = Channel()
    exchange = Exchange(host.admit(0, channel), channel)
    exchange.receive({**CALL, "id": 0, "method": "attach", "params": {"client": {"name": "t"}, "protocol": 1}})
    assert "result" in channel.sent[0], channel.sent
    exchange.receive(CALL)

    answer = channel.sent[-1]
    assert answer["id"] == 1
    if catches:
        assert answer["result"]["told"].endswith(LATER)
    else:
        assert answer["error"]["message"].endswith(LATER)
    assert exchange.settled
