"""Subscriptions over the wire: told once of everything since, without a body, and never in anybody's way."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

import stateward
from stateward_daemon.subscriptions import PAUSE_S
from stateward_protocol.notices import StateChanged, TodosChanged
from wire import PATIENCE_S, Daemon, Refused, Wire

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def daemon(start: Callable[..., Daemon]) -> Daemon:
    return start()


def subscribed(daemon: Daemon, session: str | None = "s1", **more: Any) -> Wire:
    wire = daemon.agent(session, **more)
    assert wire.call("subscribe", {"topics": ["state"]}) == {"ok": True, "topics": ["state"]}
    return wire


def patch(wire: Wire, scope: str, n: int = 0) -> None:
    wire.call("patch_state", {"patch": {scope: {"tactics": {"n": n}}}})


def told_until(wire: Wire, revision: str) -> list[dict[str, Any]]:
    """Return the params of all notifications up to the one with that revision."""
    found: list[dict[str, Any]] = []
    while not found or found[-1]["revision"] != revision:
        message = wire.notifications.pop(0) if wire.notifications else wire.receive()
        assert message["method"] == "state_changed"
        found.append(message["params"])
    return found


def test_a_change_is_told_to_others_and_to_its_writer_without_a_body(daemon: Daemon) -> None:
    """NX-04: scopes and revision, and nothing of what changed."""
    with subscribed(daemon) as mine, subscribed(daemon, "s2") as other, daemon.agent("s1") as silent:
        mine.call("patch_state", {"patch": {"cwd": {"lazy": {"a": "body"}}, "session": {"lazy": {"a": 1}}}})

        assert told_until(mine, "G0/C1/S1") == [{"scopes": ["cwd", "session"], "revision": "G0/C1/S1"}]
        # The other one has the directory in common, not the session.
        assert told_until(other, "G0/C1/S0") == [{"scopes": ["cwd"], "revision": "G0/C1/S0"}]
        silent.call("ping")
        assert silent.notifications == []


def test_what_is_not_wanted_or_changes_nothing_is_not_told(daemon: Daemon) -> None:
    with subscribed(daemon, wanted=["session"]) as wire, daemon.agent() as writer:
        patch(writer, "cwd")
        patch(writer, "global")
        patch(writer, "session")
        patch(writer, "session")

        assert told_until(wire, "S1") == [{"scopes": ["session"], "revision": "S1"}]
        wire.call("ping")
        assert wire.notifications == []


def test_the_revision_is_the_one_that_guards_a_patch(daemon: Daemon) -> None:
    with subscribed(daemon) as wire:
        patch(wire, "cwd", 1)
        (told,) = told_until(wire, "G0/C1/S0")
        with pytest.raises(Refused, match="stale_basis"):
            wire.call("patch_state", {"patch": {"cwd": {"tactics": {"n": 2}}}, "if_revision": "G0/C0/S0"})
        wire.call("patch_state", {"patch": {"cwd": {"tactics": {"n": 2}}}, "if_revision": told["revision"]})


def test_a_fork_is_told_to_who_waits_for_its_child(daemon: Daemon) -> None:
    with subscribed(daemon, "child") as wire, daemon.agent("parent") as parent:
        patch(parent, "session")
        parent.call("fork_session", {"parent": "parent", "child": "child"})

        assert told_until(wire, "G0/C0/S0") == [{"scopes": ["session"], "revision": "G0/C0/S0"}]


@pytest.mark.parametrize("topics", [[], ["lunch"], "state"], ids=str)
def test_unknown_topics_are_refused(daemon: Daemon, topics: Any) -> None:
    with daemon.agent() as wire, pytest.raises(Refused) as refused:
        wire.call("subscribe", {"topics": topics})
    assert refused.value.category == "invalid_request"


def test_who_unsubscribed_is_told_no_more(daemon: Daemon) -> None:
    with subscribed(daemon) as wire:
        assert wire.call("unsubscribe", {"topics": ["state"]}) == {"ok": True, "topics": []}
        patch(wire, "cwd")
        time_for_one = subscribed(daemon, "s2")
        with time_for_one:
            patch(time_for_one, "cwd", 1)
            told_until(time_for_one, "G0/C2/S0")
        wire.call("ping")
        assert wire.notifications == []


def test_a_burst_is_told_in_a_few_and_its_end_always(daemon: Daemon) -> None:
    """1,000 changes: at most one notification in each pause, and the last revision comes."""
    with subscribed(daemon) as wire, daemon.agent() as writer:
        began = time.monotonic()
        for request in [writer.request("patch_state", {"patch": {"cwd": {"tactics": {"n": n}}}}) for n in range(1_000)]:
            writer.answer(request)
        told = told_until(wire, "G0/C1000/S0")
        took_s = time.monotonic() - began

    assert len(told) <= took_s / PAUSE_S + 2
    assert all(change["scopes"] == ["cwd"] for change in told)
    revisions = [int(change["revision"].split("/C")[1].split("/")[0]) for change in told]
    assert revisions == sorted(set(revisions))


def test_a_subscriber_that_does_not_read_is_told_once_when_it_reads(daemon: Daemon) -> None:
    """While its answers wait in the daemon, nothing is put behind them, however much changes."""
    with subscribed(daemon) as wire, daemon.agent() as writer:
        text = "x" * 900_000
        writer.call("patch_state", {"patch": {"cwd": {"lazy": {"big": text}}}})
        told_until(wire, "G0/C1/S0")
        # More than the socket holds, and less than what pauses the connection.
        unread = wire.request("read_state", {"path": "cwd.lazy.big"})
        with subscribed(daemon, "s2") as witness:
            for n in range(50):
                patch(writer, "cwd", n)
            told_until(witness, "G0/C51/S0")
        assert wire.answer(unread) == {"value": text}
        assert wire.notifications == []

        assert told_until(wire, "G0/C51/S0") == [{"scopes": ["cwd"], "revision": "G0/C51/S0"}]


def test_a_subscription_ends_with_its_connection_and_holds_nothing(daemon: Daemon) -> None:
    with daemon.agent() as writer:
        for _ in range(3):
            subscribed(daemon).close()
        patch(writer, "cwd")
        while len(writer.call("sessions")["connections"]) > 1:
            pass
        patch(writer, "cwd", 1)
        assert writer.call("state_status")["revision"] == "G0/C2/S0"


def connect(daemon: Daemon, **how: Any) -> stateward.Client:
    return stateward.connect(daemon.cwd, "s1", store=daemon.store, start="never", **how)


class TestClients:
    """protocol.md, section 5: one client library, and what it is told."""

    def test_the_synchronous_client_waits_for_changes(self, daemon: Daemon) -> None:
        with connect(daemon) as client, daemon.agent() as writer:
            client.subscribe()
            assert list(client.changes(timeout_s=0.01)) == []
            patch(writer, "cwd")
            assert next(client.changes(timeout_s=PATIENCE_S)) == StateChanged(scopes=["cwd"], revision="G0/C1/S0")
            # What comes with the answer of a call is kept.
            client.patch_state({"session": {"tactics": {"n": 1}}})
            assert next(client.changes(timeout_s=PATIENCE_S)) == StateChanged(scopes=["session"], revision="G0/C1/S1")
            client.unsubscribe()
            patch(writer, "cwd", 1)
            assert list(client.changes(timeout_s=0.01)) == []

    def test_a_lost_connection_is_told_and_what_was_missed_may_be_anything(self, daemon: Daemon) -> None:
        with connect(daemon) as client:
            client.subscribe()
            daemon.kill()
            with pytest.raises(stateward.StatewardError) as lost:
                next(client.changes(timeout_s=PATIENCE_S))
            assert lost.value.data["reason_code"] == "connection_lost"
            daemon.start()
            with daemon.agent() as writer:
                patch(writer, "cwd")
            anything = StateChanged(scopes=["global", "cwd", "session"], revision="G0/C1/S0")
            assert next(client.changes(timeout_s=PATIENCE_S)) == anything
            with daemon.agent() as writer:
                patch(writer, "cwd", 1)
            assert next(client.changes(timeout_s=PATIENCE_S)) == StateChanged(scopes=["cwd"], revision="G0/C2/S0")

    async def test_the_asynchronous_client_iterates_while_it_calls(self, daemon: Daemon) -> None:
        async with stateward.AsyncClient.connect(daemon.cwd, "s1", store=daemon.store, start="never") as client:
            await client.subscribe()
            assert [change async for change in client.changes(timeout_s=0.01)] == []
            changes = client.changes(timeout_s=PATIENCE_S)
            waiting = asyncio.ensure_future(anext(changes))
            await client.patch_state({"cwd": {"tactics": {"n": 1}}})
            assert await waiting == StateChanged(scopes=["cwd"], revision="G0/C1/S0")

            daemon.kill()
            with pytest.raises(stateward.StatewardError):
                await anext(changes)
            daemon.start()
            anything = StateChanged(scopes=["global", "cwd", "session"], revision="G0/C1/S0")
            assert await anext(client.changes(timeout_s=PATIENCE_S)) == anything

    def test_the_client_in_process_is_told_of_its_own(self, tmp_path: Path) -> None:
        with stateward.connect(tmp_path, "s1", store=tmp_path / "store", start="embedded") as client:
            client.subscribe()
            client.patch_state({"cwd": {"tactics": {"n": 1}}})
            client.patch_state({"cwd": {"tactics": {"n": 1}}})
            assert list(client.changes()) == [StateChanged(scopes=["cwd"], revision="G0/C1/S0")]
            client.unsubscribe()
            client.patch_state({"cwd": {"tactics": {"n": 2}}})
            assert list(client.changes()) == []


class TestCommandLine:
    """`stateward watch`."""

    def test_a_line_comes_with_each_change(self, daemon: Daemon) -> None:
        with daemon.agent() as writer, contextlib.ExitStack() as ending:
            watch = subprocess.Popen(
                daemon.command("watch", "--session", "s1", "--count", "1"),
                env=daemon.environment,
                cwd=daemon.cwd,
                stdout=subprocess.PIPE,
                text=True,
            )
            ending.enter_context(watch)
            for n in itertools.count():
                # It does not say when it has begun; a later change tells it as well.
                patch(writer, "cwd", n)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    watch.wait(0.1)
                    break
            assert watch.stdout is not None
            assert watch.stdout.read().startswith("cwd changed, revision G0/C")
            assert watch.returncode == 0

    @pytest.mark.parametrize("arguments", [[], ["--count", "1"]])
    def test_without_a_daemon_there_is_nothing_to_wait_for(
        self, tmp_path: Path, daemon: Daemon, arguments: list[str]
    ) -> None:
        nowhere = str(tmp_path / ("x" * 200))
        done = daemon.run("watch", "--store", str(tmp_path / "other"), "--socket", nowhere, *arguments)

        assert done.returncode == 3
        assert "changes are told by a daemon" in done.stderr

    def test_no_change_is_nothing_to_wait_for(self, daemon: Daemon) -> None:
        done = daemon.run("watch", "--count", "0")

        assert done.returncode == 2
        assert "from 1" in done.stderr


GOAL = """\
---
status: active
---
# Goal

## Agent Todo
"""


class TestTodos:
    """The topic `todos`: which todos of which goal changed, at which revision, and nothing of what is in them."""

    @pytest.fixture(autouse=True)
    def goal(self, daemon: Daemon) -> None:
        """Register a goal with a document without todos."""
        (daemon.cwd / "GOAL.md").write_text(GOAL, encoding="utf-8")
        with daemon.agent() as wire:
            wire.call("goal_register", {"goal_id": "g1", "path": str(daemon.cwd / "GOAL.md")})

    def add(self, wire: Wire, operation_id: str) -> dict[str, Any]:
        params = {"goal_id": "g1", "role": "agent", "text": "Secret", "operation_id": operation_id}
        answer: dict[str, Any] = wire.call("todo_add", params)
        return answer

    def test_a_todo_is_told_by_its_id(self, daemon: Daemon) -> None:
        """NX-04 of todos: an id and a revision, and no text."""
        with daemon.agent() as wire, daemon.agent("s2") as silent:
            assert wire.call("subscribe", {"topics": ["todos"]}) == {"ok": True, "topics": ["todos"]}
            added = self.add(wire, "op-1")
            told = wire.notifications.pop(0) if wire.notifications else wire.receive()

            assert told["method"] == "todos_changed"
            assert told["params"] == {
                "goal_id": "g1",
                "provider_revision": added["provider_revision"],
                "todo_ids": [added["todo_id"]],
            }
            # A repeat changes nothing, and state is another topic.
            self.add(wire, "op-1")
            patch(wire, "cwd")
            wire.call("ping")
            assert wire.notifications == []
            assert silent.notifications == []

    def test_topics_come_and_go_one_by_one(self, daemon: Daemon) -> None:
        with daemon.agent() as wire:
            wire.call("subscribe", {"topics": ["todos"]})
            assert wire.call("subscribe", {"topics": ["state"]})["topics"] == ["state", "todos"]
            assert wire.call("unsubscribe", {"topics": ["todos"]})["topics"] == ["state"]
            self.add(wire, "op-1")
            patch(wire, "cwd")

            assert told_until(wire, "G0/C1/S0") == [{"scopes": ["cwd"], "revision": "G0/C1/S0"}]
            assert wire.call("unsubscribe", {"topics": ["state", "todos"]})["topics"] == []

    def test_a_burst_is_told_in_a_few_and_names_all(self, daemon: Daemon) -> None:
        with daemon.agent() as wire, daemon.agent("s2") as writer:
            wire.call("subscribe", {"topics": ["todos"]})
            added = {self.add(writer, f"op-{number}")["todo_id"] for number in range(20)}
            told: list[str] = []
            while set(told) != added:
                message = wire.notifications.pop(0) if wire.notifications else wire.receive()
                told += message["params"]["todo_ids"]

            assert len(told) == len(added)

    def test_a_client_that_was_cut_off_takes_it_that_anything_changed(self, daemon: Daemon) -> None:
        with connect(daemon) as client:
            client.subscribe(["todos"])
            added = client.todo_add("g1", "agent", "One")
            one = TodosChanged(goal_id="g1", provider_revision=added.provider_revision, todo_ids=[added.todo_id])
            assert next(client.changes(timeout_s=PATIENCE_S)) == one
            daemon.kill()
            with pytest.raises(stateward.StatewardError):
                next(client.changes(timeout_s=PATIENCE_S))
            daemon.start()

            anything = TodosChanged(goal_id="g1", provider_revision=added.provider_revision, todo_ids=None)
            assert next(client.changes(timeout_s=PATIENCE_S)) == anything
