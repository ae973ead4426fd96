"""The wire: what pygls does to requests in flight, and what it must not."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest

from editor import Channel
from stateward_daemon.lsp import wire
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.wire import Wire

HOVER = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "textDocument/hover",
    "params": {"textDocument": {"uri": "file:///x"}, "position": {"line": 0, "character": 0}},
}


@pytest.fixture
def channel() -> Channel:
    return Channel()


@pytest.fixture
def open_(channel: Channel) -> Wire:
    return wire.open_wire(channel, "1", logging.getLogger("stateward"), lambda _method, _params: None)


def serve_slowly(open_: Wire) -> asyncio.Event:
    """Serve hover by a handler that waits for the event."""
    go_on = asyncio.Event()

    async def hover(_params: lsp.HoverParams) -> None:
        await go_on.wait()

    open_.serve("textDocument/hover", hover)
    return go_on


async def settled() -> None:
    """Let tasks and their callbacks run."""
    for _ in range(5):
        await asyncio.sleep(0)


class TestRequestsOfTheClient:
    """protocol.md section 1: every request is answered exactly once."""

    async def test_one_in_flight_can_be_cancelled(self, open_: Wire, channel: Channel) -> None:
        serve_slowly(open_)
        open_.receive(HOVER)
        await settled()
        open_.receive({"method": "$/cancelRequest", "params": {"id": 1}})
        await settled()

        assert [(m["id"], m["error"]["code"]) for m in channel.sent] == [(1, -32800)]
        assert channel.sent[0]["error"]["data"]["category"] == "cancelled"

    async def test_an_answer_with_its_id_does_not_settle_it(self, open_: Wire, channel: Channel) -> None:
        go_on = serve_slowly(open_)
        open_.receive(HOVER)
        await settled()
        open_.settle({"id": 1, "result": None})
        go_on.set()
        await settled()

        assert channel.sent == [{"jsonrpc": "2.0", "id": 1, "result": None}]

    async def test_its_id_cannot_be_used_twice_at_once(self, open_: Wire, channel: Channel) -> None:
        go_on = serve_slowly(open_)
        open_.receive(HOVER)
        open_.receive(HOVER)
        go_on.set()
        await settled()

        assert [m.get("error", {}).get("code") for m in channel.sent] == [-32600, None]

    async def test_the_end_of_the_connection_cancels_it(self, open_: Wire, channel: Channel) -> None:
        serve_slowly(open_)
        open_.receive(HOVER)
        await settled()
        open_.release()
        await settled()

        assert not open_._request_futures
        assert [m["error"]["code"] for m in channel.sent] == [-32800]

    async def test_a_result_that_cannot_be_sent_is_a_mistake_of_ours(self, open_: Wire, channel: Channel) -> None:
        open_.serve("textDocument/hover", lambda _params: object())
        open_.receive(HOVER)

        assert [m["error"]["data"]["category"] for m in channel.sent] == ["internal"]

    async def test_a_refusal_of_a_handler_is_the_answer(self, open_: Wire, channel: Channel) -> None:
        def hover(_params: lsp.HoverParams) -> None:
            raise WireError("too_large", "much", limit=1)

        open_.serve("textDocument/hover", hover)
        open_.receive(HOVER)

        assert channel.sent[0]["error"] == {
            "code": -32013,
            "message": "much",
            "data": {"category": "too_large", "limit": 1},
        }

    async def test_nothing_is_kept_of_notifications(self, open_: Wire) -> None:
        """By itself pygls keeps a future of every one that a generator handles, its own text sync among them."""
        open_.serve("textDocument/didClose", lambda _params: None)
        for _ in range(3):
            open_.receive({"method": "textDocument/didClose", "params": {"textDocument": {"uri": "file:///x"}}})
            open_.receive({"method": "$/cancelRequest", "params": {"id": "x"}})

        assert not open_._request_futures


class TestRequestsOfOurs:
    """daemon.md, P14 and P21: a late answer harms nobody, and a connection that is gone leaves nobody waiting."""

    async def test_the_answer_is_plain_json(self, open_: Wire, channel: Channel) -> None:
        future = open_.ask("workspace/diagnostic/refresh")
        assert channel.sent[0]["method"] == "workspace/diagnostic/refresh"
        open_.settle({"id": channel.sent[0]["id"], "result": {"jsonrpc": "2.0", "type_name": 1}})

        assert future.result() == {"jsonrpc": "2.0", "type_name": 1}

    @pytest.mark.parametrize("error", [{"code": -32601, "message": "no"}, "no"])
    async def test_a_refusal_is_raised(self, open_: Wire, channel: Channel, error: Any) -> None:
        future = open_.ask("workspace/diagnostic/refresh")
        open_.settle({"id": channel.sent[0]["id"], "error": error})

        with pytest.raises(WireError):
            future.result()
        assert not open_._result_types

    async def test_an_answer_after_the_waiting_was_given_up_is_dropped(self, open_: Wire, channel: Channel) -> None:
        future = open_.ask("workspace/diagnostic/refresh")
        future.cancel()
        open_.settle({"id": channel.sent[0]["id"], "result": None})

        assert future.cancelled()

    async def test_the_client_cannot_cancel_one(self, open_: Wire, channel: Channel) -> None:
        future = open_.ask("workspace/diagnostic/refresh")
        open_.receive({"method": "$/cancelRequest", "params": {"id": channel.sent[0]["id"]}})

        assert not future.done()

    async def test_the_end_of_the_connection_cancels_all(self, open_: Wire) -> None:
        futures = [open_.ask("workspace/diagnostic/refresh") for _ in range(3)]
        open_.release()

        assert all(future.cancelled() for future in futures)

    async def test_a_client_that_never_answers_costs_a_bounded_table(self, open_: Wire) -> None:
        futures = [open_.ask("workspace/diagnostic/refresh") for _ in range(wire.UNANSWERED_MAX + 3)]

        assert len(open_._request_futures) == len(open_._result_types) == wire.UNANSWERED_MAX
        assert [future.cancelled() for future in futures[:4]] == [True, True, True, False]


def test_no_body_reaches_the_log_of_pygls() -> None:
    assert not logging.getLogger("pygls.protocol.json_rpc").isEnabledFor(logging.INFO)
