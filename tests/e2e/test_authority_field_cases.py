"""Field cases about promoted goals: displays that people write into, displays that fail, races, leases, retries.

Each test or class is the list of what `expect.md` of its case says MUST be.
"""

from __future__ import annotations

import json
import re
import resource
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest
from field_goal import FIELD_CASES, FieldGoal, case_file, clean, demand_pending

import stateward
from stateward.location import Place
from stateward_daemon import embedded, opening
from stateward_daemon.handlers import lease_inspect, todo_list
from stateward_engine.store.store import open_store
from wire import PATIENCE_S, Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from field_goal import GoalOf

    from wire import Daemon, Wire

LENS: Final = {"todo_lens": "[P0] Pick a lens."}
GRIND: Final = {"todo_grind": "[P1] Grind it."}
RACERS: Final = 32


class TestNarrativeAfterTheList:
    """24: the first render owns what it generated and no line more. LX-060, LX-064, LX-065, LX-129, LX-144."""

    KEPT: Final = case_file("24")

    @pytest.fixture
    def goal(self, goal_of: GoalOf) -> FieldGoal:
        """The records of the case, and its document in the place of the one that they came from."""
        rope = {"todo_rope": "[P1] Order the rope.", "todo_bell": "[P2] Clean the bell."}
        goal = goal_of(clean({"todo_strike": "[P0] Choose the strike time."}, rope))
        goal.promote()
        goal.call("todo_complete", todo_id="todo_strike")
        goal.save(self.KEPT)
        return goal

    def test_a_preview_writes_nothing(self, goal: FieldGoal) -> None:
        preview = goal.project(provider_revision=goal.revision, execute=False)

        assert (preview["status"], preview["executed"]) == ("planned", False)
        assert "observed_provider_revision" not in preview
        assert goal.content == self.KEPT

    def test_only_generated_lines_are_owned(self, goal: FieldGoal) -> None:
        report = goal.project(provider_revision=goal.revision)

        shown, text = goal.content.decode(), self.KEPT.decode()
        kept = (
            text[: text.index("## User Todo")],
            text[text.index("The council wants") : text.index("## Agent Todo")],
            text[text.index("PS:") :],
        )
        assert [shown.count(each) for each in kept] == [1, 1, 1]
        assert shown.startswith(kept[0])
        assert shown.endswith(kept[2])
        assert kept[2].endswith("\n" * 4)
        assert (report["status"], report["narrative_preserved"]) == ("delivered", True)
        for role in ("user", "agent"):
            assert f"<!-- loopx:todo-region-v0 role={role} begin -->" in shown
            assert f"<!-- loopx:todo-region-v0 role={role} end -->" in shown
            digest = report["section_record_sha256"][role]
            assert f"role={role} provider_revision={goal.revision} records_sha256={digest} -->" in shown
        assert "- [x] [P0] Choose the strike time." in shown
        assert "- [ ] [P2] Clean the bell." in shown

    def test_the_row_in_the_narrative_is_told(self, goal: FieldGoal) -> None:
        goal.project()
        line = goal.content.decode().splitlines().index("- [ ] looks like a todo but sits after narrative")

        assert line in [at for _, at in goal.told_at()]
        assert "looks like a todo" not in str(goal.todos())

    def test_a_second_one_is_current(self, goal: FieldGoal) -> None:
        goal.project()
        shown, revision = goal.content, goal.revision

        assert goal.project(provider_revision=revision)["status"] == "current"
        assert (goal.content, goal.revision) == (shown, revision)


class TestDamagedMarkers:
    """25: a damaged region is neither rendered onto nor read as an unmarked one. LX-068, LX-148."""

    FILES: Final = sorted(path.stem for path in next(FIELD_CASES.glob("25-*")).glob("*.md") if path.stem != "expect")
    # The line of the marker that is named, from 1.
    DAMAGED: Final = sorted({*FILES} - {"ok"})

    @staticmethod
    def shown_as(goal_of: GoalOf, file: str) -> FieldGoal:
        content = case_file("25", file)
        goal = goal_of(case_file("25", "ok"))
        goal.promote()
        goal.save(content)
        return goal

    def test_a_whole_one_is_rendered(self, goal_of: GoalOf) -> None:
        assert self.shown_as(goal_of, "ok").project()["status"] == "delivered"

    @pytest.mark.parametrize("file", DAMAGED)
    def test_it_fails_closed(self, goal_of: GoalOf, file: str) -> None:
        goal = self.shown_as(goal_of, file)
        todo_id = next(todo["todo_id"] for todo in goal.todos(role="agent").values() if todo["status"] == "open")

        answer = goal.call("todo_complete", todo_id=todo_id)

        report = demand_pending(answer, "todo_projection_render_rejected")
        [line] = report["lines"]
        assert "loopx:todo-region" in case_file("25", file).decode().splitlines()[line - 1]
        assert re.search("agent|user", report["recommended_action"])
        assert goal.content == case_file("25", file)
        assert goal.todos()[todo_id]["status"] == "done"

    @pytest.mark.parametrize("file", DAMAGED)
    def test_the_editor_is_shown_the_marker(self, goal_of: GoalOf, file: str) -> None:
        goal = self.shown_as(goal_of, file)
        [reported] = goal.project()["lines"]
        errors = {problem["range"]["start"]["line"] for problem in goal.problems() if problem["severity"] == "error"}

        assert reported - 1 in errors


class TestTypedIntoTheRegion:
    """26: what a human wrote into a section is never dropped. LX-069."""

    @pytest.fixture
    def goal(self, goal_of: GoalOf) -> FieldGoal:
        goal = goal_of(case_file("27"))
        goal.promote()
        goal.save(case_file("26"))
        return goal

    def test_the_commit_stands_and_the_text_too(self, goal: FieldGoal) -> None:
        answer = goal.call("todo_complete", todo_id="todo_grind")

        assert demand_pending(answer, "todo_projection_region_edited")["lines"] == [12, 19]
        assert goal.display == {"state": "edited", "reason_code": "todo_projection_region_edited", "lines": [12, 19]}
        assert goal.content == case_file("26")
        assert goal.todos()["todo_grind"]["status"] == "done"

    def test_both_lines_are_shown_with_a_fix(self, goal: FieldGoal, daemon: Daemon) -> None:
        document = {"uri": goal.path.as_uri()}
        with daemon.connect() as editor:
            capabilities = {
                "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
                "textDocument": {
                    "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}}
                },
            }
            editor.call("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
            editor.tell("initialized")
            opened = {**document, "languageId": "markdown", "version": 1, "text": case_file("26").decode()}
            editor.tell("textDocument/didOpen", textDocument=opened)
            shown = editor.call("textDocument/diagnostic", {"textDocument": document})["items"]
            offered = [
                action["title"]
                for line in (11, 18)
                for action in editor.call(
                    "textDocument/codeAction",
                    {
                        "textDocument": document,
                        "range": {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}},
                        "context": {"diagnostics": [each for each in shown if each["range"]["start"]["line"] == line]},
                    },
                )
            ]

        assert {diagnostic["range"]["start"]["line"] for diagnostic in shown} >= {11, 18}
        assert offered == ["Move the line below the end marker", "Take this row as a todo"]

    def test_moved_out_it_survives_the_next_render(self, goal: FieldGoal) -> None:
        goal.call("todo_complete", todo_id="todo_grind")
        note, row = "Anna says the 50 mm one, see photo.\n", "- [ ] [P2] also clean the bench (typed by a human)\n"
        goal.save(case_file("26").decode().replace(note, "").replace(row, "") + f"\n## Notes\n\n{note}{row}")

        assert goal.project()["status"] == "delivered"
        assert goal.content.decode().endswith(f"\n## Notes\n\n{note}{row}")


class TestDisplayFails:
    """27: the commit worked, the file write did not. LX-084, LX-107, LX-123, LX-124, LX-128."""

    def check(
        self, goal: FieldGoal, reason_code: str, break_it: Callable[[], object], mend_it: Callable[[], object]
    ) -> None:
        goal.promote()
        before = goal.content
        break_it()
        done = {"todo_id": "todo_grind", "operation_id": "c1", "evidence": "0.3 mm"}

        answer = goal.call("todo_complete", **done)
        assert answer["status"] == "done"
        report = demand_pending(answer, reason_code)
        assert report["trigger_provider_revision"] == answer["provider_revision"]
        assert goal.todos()["todo_grind"]["status"] == "done"

        again = goal.call("todo_complete", **done)
        assert (again["status"], again["changed"], again["projection_delivery"]) == ("replayed", False, "pending")
        assert again["original_receipt"] == answer["original_receipt"]
        assert goal.revision == answer["provider_revision"]

        mend_it()
        assert goal.content == before
        assert goal.project()["status"] == "delivered"
        assert b"- [x] [P1] Grind it." in goal.content
        assert goal.project()["status"] == "current"
        assert goal.revision == answer["provider_revision"]
        assert [each.name for each in goal.path.parent.iterdir()] == [goal.path.name]

    def test_a_write_that_the_kernel_fails_half_way(self, start: Callable[[], Daemon]) -> None:
        """The document is longer than what the daemon may write into one file by then; its journal is not."""
        daemon = start()
        limit, hard = 1 << 15, resource.getrlimit(resource.RLIMIT_FSIZE)[1]

        def set_limit(soft: int) -> None:
            resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (soft, hard))

        long = case_file("27") + b"\n## Notes\n\n" + b"A long line. " * (2 * limit // 13) + b"\n"
        with FieldGoal(daemon, long) as goal:
            self.check(goal, "todo_projection_write_unavailable", lambda: set_limit(limit), lambda: set_limit(hard))

    def test_a_directory_that_something_else_took_the_place_of(self, goal_of: GoalOf) -> None:
        goal = goal_of(case_file("27"))
        place, aside = goal.path.parent, goal.path.parent.with_name("aside")

        def replace() -> None:
            place.rename(aside)
            place.touch()

        def put_back() -> None:
            place.unlink()
            aside.rename(place)

        self.check(goal, "todo_projection_target_unavailable", replace, put_back)


class TestRace:
    """28: one of 32 has the todo, and the others know who; 32 adds are 32 todos. LX-055."""

    def all_at_once(self, daemon: Daemon, method: str, params: Callable[[int], dict[str, Any]]) -> list[Any]:
        """Send from so many connections at once, and return what each is answered."""
        wires = [daemon.agent(f"racer{number}") for number in range(RACERS)]
        together = threading.Barrier(RACERS)

        def one(number: int) -> Any:
            together.wait(PATIENCE_S)
            with wires[number] as wire:
                return wire.outcome(wire.request(method, params(number)))

        with ThreadPoolExecutor(RACERS) as pool:
            return list(pool.map(one, range(RACERS)))

    @pytest.mark.parametrize("authority", ["markdown", "soft_claim", "hard_lease"])
    def test_claims_and_adds(self, goal_of: GoalOf, daemon: Daemon, authority: str) -> None:
        goal = goal_of(case_file("28"))
        if authority != "markdown":
            goal.promote(handoff_mode=authority)

        def claim(number: int) -> dict[str, Any]:
            lease = {"lease": {"idempotency_key": f"l{number}", "expected_version": 0}}
            return {
                "goal_id": goal.goal_id,
                "todo_id": "todo_grind",
                "claimed_by": f"agent-{number}",
                "agent_id": f"agent-{number}",
                "operation_id": f"{goal.goal_id}-claim-{number}",
                **(lease if authority == "hard_lease" else {}),
            }

        answers = self.all_at_once(daemon, "todo_claim", claim)

        [winner] = [number for number, answer in enumerate(answers) if isinstance(answer, dict)]
        lost = [answer for answer in answers if isinstance(answer, Refused)]
        assert {(each.category, each.data["claimed_by"]) for each in lost} == {("refused", f"agent-{winner}")}
        assert {each.data["reason_code"] for each in lost} == {"claim_owner_mismatch"}
        assert not any(each.data.get("retryable") for each in lost)
        again = goal.call("todo_claim", **claim(winner))
        assert (again["status"], again["original_receipt"]) == ("replayed", answers[winner]["original_receipt"])
        other = {**claim(winner), "operation_id": f"{goal.goal_id}-again"}
        if authority == "hard_lease":
            other["lease"] = {"idempotency_key": f"l{winner}", "expected_version": 1}
        told = goal.call("todo_claim", **other)
        assert (told["already_claimed_by_you"], told["claimed_by"]) == (True, f"agent-{winner}")

        added = self.all_at_once(
            daemon,
            "todo_add",
            lambda number: {
                "goal_id": goal.goal_id,
                "role": "agent",
                "text": f"job {number}",
                "operation_id": f"{goal.goal_id}-add-{number}",
            },
        )

        assert len({answer["todo_id"] for answer in added}) == RACERS
        listed = [todo_id for todo_id in goal.todos(role="agent") if todo_id != "todo_grind"]
        assert {*listed} == {answer["todo_id"] for answer in added}
        shown = re.findall(r"todo_id=(todo_[0-9a-f]{24}) ", goal.content.decode())
        assert shown == listed

    def test_who_finds_the_store_taken_is_told_by_whom(self, start: Callable[[], Daemon]) -> None:
        """Nothing else is waited for: a lane and the queue have their bounds (`busy`, `tests/daemon/test_lanes.py`)."""
        daemon = start()

        with pytest.raises(stateward.StatewardError) as refused:
            stateward.connect(store=daemon.store, start="embedded")
        assert refused.value.data["pid"] == daemon.pid


class Clock:
    """A clock that a test sets, in seconds from noon on."""

    seconds = 0

    def __call__(self) -> str:
        minutes, seconds = divmod(self.seconds, 60)
        return f"2026-10-02T12:{minutes:02}:{seconds:02}Z"


class Desk:
    """The goal of case 29, without a daemon."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self.open()

    def open(self) -> None:
        self.transport = embedded.open_transport(Place(self._store))
        self.transport.call("attach", {"client": {"name": "test"}, "protocol": 1})

    def call(self, method: str, **params: Any) -> Any:
        """Return the answer, or why there is none."""
        try:
            return self.transport.call(method, {"goal_id": "optics", **params})
        except stateward.StatewardError as refused:
            return refused.data["reason_code"]

    def lease(self, verb: str, owner: str | None = None, key: str | None = None, **params: Any) -> Any:
        who = {} if owner is None else {"owner": owner, "idempotency_key": key}
        return self.call(f"lease_{verb}", todo_id="todo_grind", **who, **params)

    def complete(self, agent_id: str, key: str, version: int) -> Any:
        proof = {"idempotency_key": key, "expected_version": version}
        return self.call("todo_complete", todo_id="todo_grind", agent_id=agent_id, lease=proof)


class TestLateHolder:
    """29: who lost its lease completes nothing, frees nothing, and is told; a clock set back revives nothing."""

    def test_over_the_wire(self, start: Callable[[], Daemon]) -> None:
        with FieldGoal(start(), case_file("29")) as goal:
            goal.promote(handoff_mode="hard_lease")
            of = {"todo_id": "todo_grind"}
            first = {**of, "owner": "agent-a", "idempotency_key": "la"}
            acquired = goal.call("lease_acquire", **first, ttl_seconds=1)
            # Its time has to pass, and the daemon says when that is.
            until = time.monotonic() + PATIENCE_S
            while (seen := goal.call("lease_inspect", **of))["active"]:
                assert time.monotonic() < until
            assert (seen["reason"], seen["lease"]["owner"]) == ("lease_expired", "agent-a")
            assert seen["since"] == acquired["lease"]["expires_at"]

            second = goal.call("lease_acquire", **of, owner="agent-b", idempotency_key="lb")
            assert second["lease"]["version"] == acquired["lease"]["version"] + 1

            late = goal.refusal(
                "todo_complete",
                **of,
                agent_id="agent-a",
                lease={"idempotency_key": "la", "expected_version": 1},
            )
            assert late["reason_code"] == "lease_owner_mismatch"
            assert (late["lease_owner"], late["acquired_at"]) == ("agent-b", second["lease"]["acquired_at"])
            assert goal.todos()["todo_grind"]["status"] == "open"
            assert goal.refusal("lease_renew", **first, expected_version=1)["reason_code"] == "version_mismatch"
            assert goal.refusal("lease_release", **first, expected_version=1)["reason_code"] == "version_mismatch"
            seen = goal.call("lease_inspect", **of)
            assert (seen["active"], seen["lease"]["owner"]) == (True, "agent-b")

            goal.restart()
            done = goal.call(
                "todo_complete", **of, agent_id="agent-b", lease={"idempotency_key": "lb", "expected_version": 2}
            )
            assert done["status"] == "done"

    def test_with_a_clock_of_our_own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The seconds of the case, on a real store in this process; at the end the clock goes back behind them all."""
        clock = Clock()
        monkeypatch.setattr(opening, "open_store", partial(open_store, now=clock))
        for module in (lease_inspect, todo_list):
            monkeypatch.setattr(module, "utc_now", clock)
        document = tmp_path / "ACTIVE_GOAL_STATE.md"
        document.write_bytes(case_file("29"))
        desk = Desk(tmp_path / "store")
        desk.call("goal_register", path=str(document))
        desk.call("authority_shadow_bootstrap")
        desk.call("authority_promote", handoff_mode="hard_lease")

        first = desk.lease("acquire", "agent-a", "la", ttl_seconds=60)["lease"]
        clock.seconds = 61
        seen = desk.lease("inspect")
        assert (seen["active"], seen["reason"], seen["lease"]["owner"]) == (False, "lease_expired", "agent-a")
        clock.seconds = 62
        second = desk.lease("acquire", "agent-b", "lb", ttl_seconds=60)["lease"]
        assert second["version"] > first["version"]
        for clock.seconds in (63, 5):
            assert desk.complete("agent-a", "la", first["version"]) == "lease_owner_mismatch"
            assert desk.call("todo_list", todo_id="todo_grind")["todo"]["status"] == "open"
            assert desk.lease("renew", "agent-a", "la", expected_version=1) == "version_mismatch"
            assert desk.lease("release", "agent-a", "la", expected_version=1) == "version_mismatch"
            seen = desk.lease("inspect")
            assert (seen["active"], seen["lease"]["owner"]) == (True, "agent-b")
        clock.seconds = 70
        desk.transport.close()
        desk.open()
        clock.seconds = 71
        assert desk.complete("agent-b", "lb", second["version"])["status"] == "done"
        desk.transport.close()


class TestLostAnswer:
    """30: who asks again with the same id gets the same todo; without one there are two. LX-111."""

    POLISH: Final = {"role": "agent", "text": "[P1] Polish the rim."}

    @pytest.mark.parametrize("promoted", [False, True])
    def test_the_calls_of_the_case(self, start: Callable[[], Daemon], promoted: bool) -> None:
        with FieldGoal(start(), case_file("30")) as goal:
            if promoted:
                goal.promote()
            # Sent, and gone before the answer.
            goal.wire.request("todo_add", {"goal_id": goal.goal_id, **self.POLISH, "operation_id": "k-77"})
            goal.reconnect()

            second = goal.call("todo_add", **self.POLISH, operation_id="k-77")
            goal.restart()
            third = goal.call("todo_add", **self.POLISH, operation_id="k-77")
            assert (third["status"], third["changed"]) == ("replayed", False)
            assert (third["todo_id"], third["original_receipt"]) == (second["todo_id"], second["original_receipt"])
            before = (goal.revision, goal.content)

            conflict = goal.refusal("todo_add", role="agent", text="[P1] Polish the edge.", operation_id="k-77")
            assert conflict["reason_code"] == "coordination_operation_identity_mismatch"
            assert second["todo_id"] in json.dumps(conflict)
            assert (goal.revision, goal.content) == before

            without = [goal.call("todo_add", **self.POLISH) for _ in range(2)]
            assert [answer["operation_id_given"] for answer in without] == [False, False]
            same = [todo for todo in goal.todos().values() if todo["text"] == self.POLISH["text"]]
            assert {todo["todo_id"] for todo in same} == {second["todo_id"], *(each["todo_id"] for each in without)}
            assert len(same) == 3


class TestUnsavedBuffer:
    """38: an editor has unsaved text while an agent finishes the todo. LX-084, LX-087."""

    TYPED: Final = "Unsaved paragraph the human is typing right no"

    @pytest.mark.parametrize("end", ["saved", "closed"])
    def test_nothing_is_lost_and_nothing_is_reopened(self, goal_of: GoalOf, daemon: Daemon, end: str) -> None:
        goal = goal_of(case_file("38", "disk"))
        goal.promote()
        goal.save(case_file("38", "disk"))
        uri = goal.path.as_uri()
        with daemon.connect() as editor:
            editor.call("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
            editor.tell("initialized")
            opened = {"uri": uri, "languageId": "markdown", "version": 1, "text": case_file("38", "disk").decode()}
            editor.tell("textDocument/didOpen", textDocument=opened)
            buffer = case_file("38", "buffer")
            editor.tell(
                "textDocument/didChange",
                textDocument={"uri": uri, "version": 2},
                contentChanges=[{"text": buffer.decode()}],
            )
            self.demand_diagnostics_of_version(editor, uri, 2)
            revision = goal.revision

            answer = goal.call("todo_complete", todo_id="todo_grind", agent_id="agent-a")
            demand_pending(answer, "todo_projection_buffer_dirty")
            assert goal.display["state"] == "buffer_dirty"
            assert goal.content == case_file("38", "disk")

            if end == "saved":
                goal.save(buffer)
                editor.tell("textDocument/didSave", textDocument={"uri": uri})
            else:
                editor.tell("textDocument/didClose", textDocument={"uri": uri})
            until = time.monotonic() + PATIENCE_S
            while goal.display["state"] != "current":
                assert time.monotonic() < until
        assert b"- [x] [P1] Grind it." in goal.content
        assert (self.TYPED in goal.content.decode()) == (end == "saved")
        assert goal.todos()["todo_grind"]["status"] == "done"
        # Advanced exactly once.
        assert goal.revision == answer["provider_revision"]
        before, after = (int(each.rpartition(":")[2]) for each in (revision, goal.revision))
        assert after == before + 1
        assert goal.call("todo_receipt", operation_id=answer["operation_id"])["status"] == "found"

    @staticmethod
    def demand_diagnostics_of_version(editor: Wire, uri: str, version: int) -> None:
        """Wait for the diagnostics of a buffer."""
        while not any(
            told["method"] == "textDocument/publishDiagnostics"
            and told["params"]["uri"] == uri
            and told["params"].get("version") == version
            for told in editor.notifications
        ):
            editor.call("ping")
