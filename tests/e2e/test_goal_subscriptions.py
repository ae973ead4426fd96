"""The topic `goals` over the wire: the problems in the documents of goals, told when they change, whoever did it.

Source: protocol.md section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

import stateward
from stateward_protocol.notices import DiagnosticsChanged
from wire import PATIENCE_S, Daemon, Wire

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAD: Final = "---\nstatus: active\n---\n# Goal\n\n## Next Action\n\n- Go on.\n\n## Agent Todo\n\n"
ROW: Final = "- [ ] [P1] Rehearse\n  <!-- loopx:todo todo_id=todo_one -->\n"
UNNAMED: Final = "- [ ] [P1] Secret\n"


@pytest.fixture
def daemon(start: Callable[..., Daemon]) -> Daemon:
    return start()


@pytest.fixture
def document(daemon: Daemon) -> Path:
    """Register a goal whose document has no problems."""
    path = daemon.cwd / "GOAL.md"
    path.write_text(HEAD + ROW, encoding="utf-8")
    with daemon.agent() as wire:
        wire.call("goal_register", {"goal_id": "g1", "path": str(path)})
    return path


def subscribed(daemon: Daemon, session: str = "s1") -> Wire:
    wire = daemon.agent(session)
    assert wire.call("subscribe", {"topics": ["goals"]}) == {"ok": True, "topics": ["goals"]}
    return wire


def told(wire: Wire) -> dict[str, Any]:
    message = wire.notifications.pop(0) if wire.notifications else wire.receive()
    assert message["method"] == "diagnostics_changed"
    params: dict[str, Any] = message["params"]
    return params


def codes(params: dict[str, Any]) -> list[str]:
    return [item["code"] for item in params["items"]]


def told_until(wire: Wire, wanted: list[str] | None) -> dict[str, Any]:
    """Return the first notification of just these problems; what comes before may be of a file half written."""
    while True:
        params = told(wire)
        if (None if params["items"] is None else codes(params)) == wanted:
            return params


def test_an_edit_of_the_file_is_told_as_goal_diagnostics_answers_it(daemon: Daemon, document: Path) -> None:
    """DM-006, DM-007 for agents: without a save by anybody who is connected, and without the fixes."""
    with subscribed(daemon) as wire:
        document.write_text(HEAD + ROW + UNNAMED, encoding="utf-8")
        found = told_until(wire, ["implicit_todo_ids"])
        answer = wire.call("goal_diagnostics", {"goal_id": "g1"})

        assert {name: found[name] for name in ("goal", "uri", "problem_count")} == {
            "goal": "g1",
            "uri": document.as_uri(),
            "problem_count": 1,
        }
        assert found["projection_diagnostics"] == answer["projection_diagnostics"]
        assert answer["items"][0].pop("fix")
        assert found["items"] == answer["items"]
        # It is not told to those who did not ask, and not twice.
        wire.call("ping")
        assert wire.notifications == []


def test_a_document_that_goes_and_comes_is_told(daemon: Daemon, document: Path) -> None:
    """Where `items` is null, `goal_diagnostics` says why."""
    with subscribed(daemon) as wire:
        document.unlink()
        assert told_until(wire, None)["projection_diagnostics"] is None
        document.write_text(HEAD + ROW, encoding="utf-8")
        assert told_until(wire, [])["problem_count"] == 0


def test_a_mutation_is_told_to_all_that_are_subscribed(daemon: Daemon, document: Path) -> None:
    with subscribed(daemon) as mine, subscribed(daemon, "s2") as other:
        params = {"goal_id": "g1", "todo_id": "todo_one", "text": "[P1] Read $cwd.lazy.nowhere"}
        mine.call("todo_update", params)

        assert codes(told_until(mine, ["dangling_state_reference"])) == codes(
            told_until(other, ["dangling_state_reference"])
        )
        assert "$cwd.lazy.nowhere" in document.read_text(encoding="utf-8")


def test_what_is_registered_is_told_of(daemon: Daemon, document: Path) -> None:
    with subscribed(daemon) as wire:
        second = document.with_name("SECOND.md")
        second.write_text(HEAD + UNNAMED, encoding="utf-8")
        wire.call("goal_register", {"goal_id": "g2", "path": str(second)})
        assert told(wire)["goal"] == "g2"
        second.write_text(HEAD + ROW, encoding="utf-8")
        assert told_until(wire, [])["goal"] == "g2"


def test_a_reference_is_that_of_each_subscriber(daemon: Daemon, document: Path) -> None:
    with subscribed(daemon) as mine, subscribed(daemon, "s2") as other:
        document.write_text(HEAD.replace("Go on", "Read $session.tactics.plan") + ROW, encoding="utf-8")
        told_until(mine, ["dangling_state_reference"])
        told_until(other, ["dangling_state_reference"])
        mine.call("patch_state", {"patch": {"session": {"tactics": {"plan": 1}}}})
        told_until(mine, [])
        other.call("patch_state", {"patch": {"session": {"tactics": {"plan": 2}}}})
        told_until(other, [])
        mine.call("ping")
        assert mine.notifications == []


def test_who_does_not_read_is_told_once(daemon: Daemon, document: Path) -> None:
    """Nothing is queued behind answers that were not read."""
    with subscribed(daemon) as wire, daemon.agent() as writer:
        text = "x" * 900_000
        writer.call("patch_state", {"patch": {"cwd": {"lazy": {"big": text}}}})
        unread = wire.request("read_state", {"path": "cwd.lazy.big"})
        with subscribed(daemon, "s2") as witness:
            for count in range(1, 4):
                document.write_text(HEAD + ROW + UNNAMED * count, encoding="utf-8")
                told_until(witness, ["implicit_todo_ids"] * count)
        assert wire.answer(unread) == {"value": text}
        assert wire.notifications == []
        assert told(wire)["problem_count"] == 3


class TestClients:
    """The client library, and `stateward watch --topics goals`."""

    def test_a_client_is_told_and_after_a_restart_takes_it_that_anything_changed(
        self, daemon: Daemon, document: Path
    ) -> None:
        with stateward.connect(daemon.cwd, "s1", store=daemon.store, start="never") as client:
            client.subscribe(["goals"])
            document.write_text(HEAD + ROW + UNNAMED, encoding="utf-8")
            changes = client.changes(timeout_s=PATIENCE_S)
            first = next(change for change in changes if isinstance(change, DiagnosticsChanged) and change.items)
            assert (first.goal, [item.code for item in first.items or ()]) == ("g1", ["implicit_todo_ids"])
            daemon.kill()
            with pytest.raises(stateward.StatewardError):
                next(changes)
            daemon.start()

            anything = DiagnosticsChanged(goal="g1", uri=document.as_uri())
            assert next(client.changes(timeout_s=PATIENCE_S)) == anything

    @pytest.mark.usefixtures("document")
    async def test_the_asynchronous_client_is_told(self, daemon: Daemon) -> None:
        async with stateward.AsyncClient.connect(daemon.cwd, "s1", store=daemon.store, start="never") as client:
            await client.subscribe(["goals"])
            await client.todo_update("g1", "todo_one", text="[P1] Read $cwd.lazy.nowhere")
            change = await anext(client.changes(timeout_s=PATIENCE_S))

            assert isinstance(change, DiagnosticsChanged)
            assert [item.code for item in change.items or ()] == ["dangling_state_reference"]

    def test_in_process_one_is_told_of_his_own(self, tmp_path: Path) -> None:
        document = tmp_path / "GOAL.md"
        document.write_text(HEAD + ROW, encoding="utf-8")
        with stateward.connect(tmp_path, "s1", store=tmp_path / "store", start="embedded") as client:
            client.goal_register("g1", str(document))
            client.subscribe(["goals"])
            client.todo_update("g1", "todo_one", note="fine")
            client.todo_update("g1", "todo_one", text="[P1] Read $cwd.lazy.nowhere")
            (change,) = client.changes()

            assert isinstance(change, DiagnosticsChanged)
            assert change.problem_count == 1
