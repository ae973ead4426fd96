"""SIGKILL while agents work on the todos of a goal: what was answered has happened, once, and is shown.

Rows LX-056, LX-107, LX-121, LX-124, LX-155. Source: authority.md sections 1, 3 and 5.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest
from field_goal import FieldGoal, clean
from nothing_lost import Client, Crowd

from wire import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from wire import Daemon, Wire

# `make crash` asks for more of them. Each takes as long as ten under clients that only change state.
KILLS: Final = int(os.environ.get("STATEWARD_CRASH_KILLS", "30")) // 10
AGENTS: Final = 8
# Why an agent does not get a todo that another one has, or had and finished.
LOST: Final = {"claim_owner_mismatch", "todo_not_open", "todo_lease_conflict"}


# A method and its params.
Planned: TypeAlias = tuple[str, dict[str, Any]]


class Agent(Client):
    """Adds a todo, claims one that all others claim as well, and completes it if it is its own.

    Attributes:
        asked: Every operation that it sent, by its id: the method and its params.
        answers: What those were answered of which it knows.
    """

    def __init__(self, crowd: Crowd[Agent], name: str, daemon: int = 0, *, goal_id: str, board: list[str]) -> None:
        super().__init__(crowd, name, daemon)
        self._goal_id, self._board = goal_id, board
        self.asked: dict[str, Planned] = {}
        self.answers: dict[str, dict[str, Any] | Refused] = {}
        self._plan = self._planned()
        self._next = next(self._plan)

    def work(self, wire: Wire) -> None:
        method, params = self._next
        self.asked[params["operation_id"]] = self._next
        outcome = wire.outcome(wire.request(method, params))
        if isinstance(outcome, Refused) and (method != "todo_claim" or outcome.data.get("reason_code") not in LOST):
            raise outcome
        self.answers[params["operation_id"]] = outcome
        self.crowd.count()
        self._next = self._plan.send(outcome)

    def _planned(self) -> Generator[Planned, Any]:
        """Yield the operations, one after the other, and take what each is answered."""
        for number in count():
            added = yield self._operation("todo_add", number, role="agent", text=f"[P1] {self.name} {number}")
            self._board.append(added["todo_id"])
            lease = {"idempotency_key": f"{self.name}-{number}", "expected_version": 0}
            of = {"todo_id": self._board[number], "agent_id": self.name}
            claimed = yield self._operation("todo_claim", number, **of, claimed_by=self.name, lease=lease)
            if isinstance(claimed, dict):
                held = {**lease, "expected_version": claimed["lease"]["version"]}
                yield self._operation("todo_complete", number, **of, lease=held, evidence=f"{self.name} did")

    def _operation(self, method: str, number: int, **params: Any) -> Planned:
        operation_id = f"{self.name}-{method}-{number}"
        return method, {"goal_id": self._goal_id, "operation_id": operation_id, **params}


@pytest.mark.parametrize("authority", ["markdown", "ledger"])
def test_what_was_answered_about_todos_has_happened_once(start: Callable[[], Daemon], authority: str) -> None:
    """Every acknowledged operation has its receipt and its effect, and claims exclude each other."""
    daemon = start()
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # noqa: T201 - shown when it fails
    chance = random.Random(seed)
    with FieldGoal(daemon, clean(agent={"todo_first": "[P1] First"})) as goal:
        if authority == "ledger":
            goal.promote(handoff_mode="hard_lease")
        before = int(goal.call("goal_status")["cursor"])
        with Crowd([daemon], AGENTS, partial(Agent, goal_id=goal.goal_id, board=[])) as crowd:
            for _ in range(KILLS):
                # In the first operations of a daemon, and in the middle of its work.
                crowd.wait(chance.choice([1, 2, 10, 40]))
                crowd.kill_and_restart()
            crowd.wait(2 * AGENTS)
        crowd.demand_ended()
        goal.reconnect()
        check(goal, crowd.clients, before)
        if authority == "ledger":
            assert goal.project()["status"] in ("delivered", "current")
            assert goal.display == {"state": "current"}
        shown = re.findall(r"todo_id=(todo_[0-9a-f]{24}) ", goal.content.decode())
        assert shown == [todo_id for todo_id in goal.todos() if todo_id != "todo_first"]
        assert [each.name for each in goal.path.parent.iterdir()] == [goal.path.name]


def check(goal: FieldGoal, agents: list[Agent], before: int) -> None:
    """Compare what was asked and answered with what is there."""
    asked = {operation_id: operation for agent in agents for operation_id, operation in agent.asked.items()}
    answers = {operation_id: answer for agent in agents for operation_id, answer in agent.answers.items()}
    won = {operation_id: answer for operation_id, answer in answers.items() if isinstance(answer, dict)}
    todos = goal.todos()

    receipts = {
        operation_id: goal.call("todo_receipt", operation_id=operation_id)["receipts"] for operation_id in asked
    }
    for operation_id, answer in won.items():
        assert receipts[operation_id] == [answer["original_receipt"]]
    happened = {operation_id for operation_id, found in receipts.items() if found}
    # Each of them moved the goal by one revision, and nothing else did.
    assert int(goal.call("goal_status")["cursor"]) - before == len(happened)
    assert not happened & (answers.keys() - won.keys())

    texts = Counter(todo["text"] for todo in todos.values())
    for operation_id, (method, params) in asked.items():
        told = won.get(operation_id)
        if method == "todo_add":
            assert texts[params["text"]] == (operation_id in happened)
            assert told is None or todos[told["todo_id"]]["text"] == params["text"]
        elif method == "todo_complete" and told is not None:
            assert todos[params["todo_id"]]["completion_receipt_id"] == told["completion_receipt_id"]
    done = [asked[operation_id] for operation_id in happened]
    holders = [(params["todo_id"], params["claimed_by"]) for method, params in done if method == "todo_claim"]
    assert len(holders) == len({todo_id for todo_id, _ in holders})
    assert all(todos[todo_id]["claimed_by"] == holder for todo_id, holder in holders)
    assert {todo_id for todo_id, todo in todos.items() if todo["done"]} == {
        params["todo_id"] for method, params in done if method == "todo_complete"
    }
