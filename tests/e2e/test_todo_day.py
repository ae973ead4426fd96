"""A day of one goal over the wire: two agents, one editor, and one person with a text editor of another make.

The parts of the day are methods of `Day`, in order; each says what it promises, and begins with what the one before
left. Rows LX-047, LX-054, LX-059, LX-060, LX-107, LX-124, LX-143, LX-146.
"""

from __future__ import annotations

import re
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, Self

from wire import PATIENCE_S, Daemon, Refused

if TYPE_CHECKING:
    from pathlib import Path

    from wire import Wire

GOAL: Final = "seed-library"
AGENTS: Final = ("cedar", "willow")
RACERS: Final = 32
DOCUMENT: Final = """\
---
status: active
owner_mode: goal
objective: "Keep the seed library catalogue correct, one shelf at a time."
updated_at: 2026-10-02T08:14:09+08:00
---

# Active Goal State

## Objective

> Keep the seed library catalogue correct, one shelf at a time.

## Operating Contract

- One shelf per segment; a half shelf is not a result.

```sh
- [ ] this is an example of `shelf recount`, and no todo
```

## User Todo

- [ ] [P0] Say whether the weekly recount may run by itself.
  <!-- loopx:todo todo_id=todo_1c9f20aa71d3 status=open task_class=user_gate action_kind=onboarding_decision -->

## Agent Todo

- [ ] [P1] Label the shelves that have no label.
  <!-- loopx:todo todo_id=todo_77ab03e9c410 status=open task_class=advancement_task note=see%20docs -->
- [x] [P2] 给每个抽屉拍照
  <!-- loopx:todo todo_id=todo_9d00c2b81f55 status=done completed_at=2026-10-01T09:00:00Z -->

## Next Action

- Ask whether the recount may run, then label the first shelf.

## Progress Ledger

- 2026-10-02: file made.
"""
# Everything outside of the todo sections, in order.
NARRATIVE: Final = (
    DOCUMENT[: DOCUMENT.index("## User Todo")],
    DOCUMENT[DOCUMENT.index("## Next Action") :],
)

# A daemon that dies, when it is told to, after the commit and before the display.
DYING: Final = """\
import os, signal, sys
from pathlib import Path
from stateward_engine.store import publish_file as module

order, publish = Path(os.environ["ORDER_TO_DIE"]), module.publish_file

def dying(*arguments, **options):
    if order.exists():
        order.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return publish(*arguments, **options)

# Before anybody has taken it from there.
module.publish_file = dying
from stateward_daemon.__main__ import main
sys.exit(main())
"""


class MortalDaemon(Daemon):
    """A daemon that `order` kills between commit and display."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        super().__init__(folder, **settings)
        self.order = folder / "die"
        self.environment["ORDER_TO_DIE"] = str(self.order)

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-c", DYING, *arguments]


class Day:
    """The goal and those who work on it."""

    def __init__(self, daemon: MortalDaemon, *, catches_up: bool = False) -> None:
        """Begin the day.

        Args:
            daemon: Serves it.
            catches_up: Whether it delivers unasked what was committed while it did not run, as on a shared store.
        """
        self.daemon, self.catches_up = daemon, catches_up
        self.path = daemon.cwd / "ACTIVE_GOAL_STATE.md"
        self.path.write_text(DOCUMENT, encoding="utf-8")
        self.agents: dict[str, Wire] = {}
        # Of every mutation that was answered, by its operation id.
        self.receipts: dict[str, dict[str, Any]] = {}
        self.connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        for wire in self.agents.values():
            wire.close()

    def connect(self) -> None:
        self.disconnect()
        self.agents = {name: self.daemon.agent(name) for name in AGENTS}

    def call(self, agent: str, method: str, **params: Any) -> dict[str, Any]:
        """Let an agent change something, and keep the receipt."""
        operation_id = f"day-{len(self.receipts)}-{method}"
        params = {"goal_id": GOAL, "operation_id": operation_id, "agent_id": agent, **params}
        answer: dict[str, Any] = self.agents[agent].call(method, params)
        self.receipts[params["operation_id"]] = answer["original_receipt"]
        return answer

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.agents["cedar"].call(method, {"goal_id": GOAL, **params})
        return answer

    def record(self, todo_id: str) -> dict[str, Any]:
        todo: dict[str, Any] = self.ask("todo_list", todo_id=todo_id)["todo"]
        return todo

    def text(self) -> str:
        return self.path.read_bytes().decode()

    def demand_shown(self) -> None:
        """The document shows the newest revision, and its narrative is what it was."""
        status = self.ask("goal_status")
        assert status["display"]["state"] == "current", status
        text = self.text()
        assert re.findall(r"provider_revision=(\S+)", text) == [status["provider_revision"]] * text.count("begin -->")
        assert text.startswith(NARRATIVE[0])
        assert NARRATIVE[1] in text

    # -- the parts of the day ----------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Nothing is promoted by being registered; promotion keeps every byte that is no todo."""
        self.ask("goal_register", path=str(self.path), agents=[*AGENTS, "person"])
        assert self.text() == DOCUMENT
        listed = self.ask("todo_list")
        assert (listed["source"], listed["todo_count"]) == ("markdown_active_state", 3)

        self.call("cedar", "authority_shadow_bootstrap")
        report = self.ask("authority_shadow_qualify")
        assert (report["qualified"], report["refusals"]) == (True, [])
        assert self.text() == DOCUMENT
        promoted = self.call("cedar", "authority_promote", handoff_mode="hard_lease")
        assert promoted["projection_delivery"] == "delivered"
        assert self.ask("goal_status")["promoted"] is True
        self.demand_shown()

    def add(self) -> str:
        """A todo is there for everybody once its answer is, and its row once its delivery is."""
        scopes = ["docs/four.md"]
        added = self.call("willow", "todo_add", role="agent", text="Recount shelf 4", required_write_scopes=scopes)
        assert added["projection_delivery"] == "delivered"
        assert f"- [ ] [P1] Recount shelf 4\n  <!-- loopx:todo todo_id={added['todo_id']} " in self.text()
        self.demand_shown()
        return str(added["todo_id"])

    def race(self, todo_id: str) -> str:
        """32 claim at once: one has it, and 31 are told who."""
        self.ask("goal_configure", agents=[])

        def claim(number: int) -> dict[str, Any] | Refused:
            wire = self.daemon.agent(f"racer{number}")
            with wire:
                params = {
                    "goal_id": GOAL,
                    "operation_id": f"claim-{number}",
                    "todo_id": todo_id,
                    "claimed_by": f"racer-{number}",
                    "agent_id": f"racer-{number}",
                    "lease": {"idempotency_key": f"lease-{number}", "expected_version": 0},
                }
                outcome: dict[str, Any] | Refused = wire.outcome(wire.request("todo_claim", params))
                return outcome

        with ThreadPoolExecutor(RACERS) as pool:
            outcomes = list(pool.map(claim, range(RACERS)))
        won = [outcome for outcome in outcomes if isinstance(outcome, dict)]
        lost = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
        assert (len(won), len(lost)) == (1, RACERS - 1)
        holder = won[0]["claimed_by"]
        assert {refused.data["claimed_by"] for refused in lost} == {holder}
        assert not any(refused.data.get("retryable") for refused in lost)
        self.receipts[won[0]["operation_id"]] = won[0]["original_receipt"]
        assert self.record(todo_id)["claimed_by"] == holder
        assert self.ask("lease_inspect", todo_id=todo_id)["active"] is True
        return str(holder)

    def work(self, todo_id: str, holder: str) -> str:
        """Who holds the todo works on it; who does not is refused; a completion brings its successor."""
        lease = {"idempotency_key": holder.replace("racer-", "lease-"), "expected_version": 1}
        refused = self.agents["willow"].outcome(
            self.agents["willow"].request(
                "todo_complete", {"goal_id": GOAL, "todo_id": todo_id, "agent_id": "willow", "evidence": "none"}
            )
        )
        assert isinstance(refused, Refused)
        assert refused.data["reason_code"] == "claim_owner_mismatch"

        self.call("cedar", "todo_update", agent_id=holder, todo_id=todo_id, note="half of it is done", lease=lease)
        done = self.call(
            "cedar",
            "todo_complete",
            agent_id=holder,
            todo_id=todo_id,
            evidence="docs/four.md has 112 labels",
            lease=lease,
            next={"role": "agent", "text": "[P2] Photograph shelf 4"},
        )
        assert (done["status"], done["completion_continuation"]) == ("done", "successor")
        successor = done["generated_successors"][0]["todo_id"]
        assert self.record(todo_id)["successor_todo_ids"] == [successor]
        assert self.ask("lease_inspect", todo_id=todo_id)["active"] is False
        self.demand_shown()
        return str(successor)

    def archive(self) -> None:
        """Finished todos leave the list and keep their ids."""
        preview = self.ask("todo_archive_completed", max_active_done=0)
        assert preview["moved_count"] == 2
        moved = self.call("cedar", "todo_archive_completed", max_active_done=0, execute=True)
        assert set(moved["moved_todo_ids"]) == set(preview["moved_todo_ids"])
        assert "## Completed Work Archive" in self.text()
        self.demand_shown()

    def die_between_commit_and_display(self, todo_id: str) -> None:
        """A commit survives the death of the daemon, is not repeated, and is shown by the next delivery."""
        before = self.text()
        lease = {"idempotency_key": "cedar-1", "expected_version": 0}
        self.call("cedar", "todo_claim", todo_id=todo_id, claimed_by="cedar", lease=lease)
        before = self.text()
        self.daemon.order.touch()
        params = {
            "goal_id": GOAL,
            "operation_id": "day-last-words",
            "agent_id": "cedar",
            "todo_id": todo_id,
            "evidence": "photos/4.jpg",
            "lease": {"idempotency_key": "cedar-1", "expected_version": 1},
        }
        identifier = self.agents["cedar"].request("todo_complete", params)
        try:
            self.agents["cedar"].answer(identifier)
        except (ConnectionError, OSError):
            pass
        else:
            raise AssertionError("the daemon answered and lives")
        assert self.daemon.process is not None
        assert self.daemon.process.wait(PATIENCE_S) == -signal.SIGKILL
        assert self.text() == before

        self.daemon.start()
        self.connect()
        if not self.catches_up:
            assert self.ask("goal_status")["display"]["state"] == "behind"
        assert self.record(todo_id)["status"] == "done"
        again = self.agents["cedar"].call("todo_complete", params)
        assert (again["status"], again["changed"]) == ("replayed", False)
        assert again["projection_delivery"] in ("delivered", *(["current"] if self.catches_up else []))
        self.receipts["day-last-words"] = again["original_receipt"]
        self.demand_shown()

    def lose_the_file(self) -> None:
        """A lost document is rebuilt as far as the ledger knows it, and says so; the old one may be put back."""
        whole = self.path.read_bytes()
        self.path.unlink()
        assert self.ask("goal_status")["display"]["state"] == "missing"
        rebuilt = self.agents["cedar"].call("project_markdown", {"goal_id": GOAL, "execute": True})
        assert rebuilt["status"] == "delivered"
        assert (rebuilt["recovery_scope"], rebuilt["narrative_preserved"]) == ("todo_sections_only", False)
        assert self.path.stat().st_mode & 0o777 == 0o600
        assert "Operating Contract" not in self.text()

        self.path.write_bytes(whole)
        shown = self.agents["cedar"].call("project_markdown", {"goal_id": GOAL, "execute": True})
        assert shown["status"] == "current"
        self.demand_shown()

    def edit_in_the_editor(self) -> None:
        """Nothing is written under unsaved changes; once they are saved, both are there. Field case 38."""
        typed = "Anna says the ferns are dry."
        buffer = self.text().replace("## Next Action", f"{typed}\n\n## Next Action")
        document = {"uri": self.path.as_uri(), "languageId": "markdown", "version": 1, "text": self.text()}
        with self.daemon.connect() as editor:
            editor.call("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
            editor.tell("initialized")
            editor.tell("textDocument/didOpen", textDocument=document)
            changed = {"uri": document["uri"], "version": 2}
            editor.tell("textDocument/didChange", textDocument=changed, contentChanges=[{"text": buffer}])
            # Whatever came before it is handled by then.
            editor.call("ping")

            before = self.text()
            added = self.call("cedar", "todo_add", role="agent", text="Order new labels")
            assert (added["status"], added["projection_delivery"]) == ("applied", "pending")
            assert added["projection_outbox"]["reason_code"] == "todo_projection_buffer_dirty"
            assert self.text() == before
            assert self.ask("goal_status")["display"]["state"] == "buffer_dirty"

            self.path.write_text(buffer, encoding="utf-8")
            editor.tell("textDocument/didSave", textDocument={"uri": document["uri"]})
            editor.call("ping")
            self.wait_until_shown()
        assert typed in self.text()
        assert "Order new labels" in self.text()
        self.path.write_text(self.text().replace(f"{typed}\n\n", ""), encoding="utf-8")

    def wait_until_shown(self) -> None:
        """Ask until the display is current: what settles it answers nobody."""
        latest = time.monotonic() + PATIENCE_S
        while self.ask("goal_status")["display"]["state"] != "current":
            assert time.monotonic() < latest

    def edit_inside_a_region(self) -> None:
        """What a person typed into a section is never dropped: nothing is written until it stands elsewhere."""
        typed = "- [ ] [P2] also water the ferns\n"
        end = "<!-- loopx:todo-region-v0 role=agent end -->"
        edited = self.text().replace(end, typed + end)
        self.path.write_text(edited, encoding="utf-8")
        added = self.call("willow", "todo_add", role="agent", text="Sweep the floor")
        assert (added["status"], added["projection_delivery"]) == ("applied", "pending")
        assert added["projection_outbox"]["reason_code"] == "todo_projection_region_edited"
        assert added["projection_outbox"]["retry_business_mutation"] is False
        assert self.text() == edited
        assert self.ask("goal_status")["display"]["state"] == "edited"

        self.path.write_text(edited.replace(typed, ""), encoding="utf-8")
        settled = self.agents["cedar"].call("project_markdown", {"goal_id": GOAL, "execute": True})
        assert settled["status"] == "delivered"
        self.demand_shown()

    def end(self) -> None:
        """Every receipt is there, each operation happened once, and the display is current."""
        for operation_id, receipt in self.receipts.items():
            found = self.ask("todo_receipt", operation_id=operation_id)
            assert (found["status"], found["receipts"]) == ("found", [receipt])
        revisions = [receipt["provider_revision"] for receipt in self.receipts.values()]
        assert len(set(revisions)) == len(revisions)
        texts = [todo["text"] for todo in self.ask("todo_list")["todos"]]
        assert len(set(texts)) == len(texts)
        self.demand_shown()


def live_through(day: Day) -> None:
    """Let the parts of a day come one after the other."""
    day.begin()
    todo_id = day.add()
    holder = day.race(todo_id)
    successor = day.work(todo_id, holder)
    day.archive()
    day.die_between_commit_and_display(successor)
    day.lose_the_file()
    day.edit_in_the_editor()
    day.edit_inside_a_region()
    day.end()


def test_a_day_of_a_goal(tmp_path: Path) -> None:
    with MortalDaemon(tmp_path) as daemon:
        assert isinstance(daemon, MortalDaemon)
        with Day(daemon) as day:
            live_through(day)
