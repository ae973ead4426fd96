"""Readiness: which todos can be worked on now, and what the others wait for."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from stateward_engine.authority.leases import has_run_out
from stateward_engine.goals.encode import written
from stateward_engine.goals.todos import references_in, waiting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stateward_engine.authority.goal import Members


class Situation:
    """All todos of a goal at one time, looked at for what they mean to each other.

    Attributes:
        todos: All of them, as they were given. A document can have several with one id.
        records: One of each id.
    """

    def __init__(self, records: Iterable[Members], now: str, leases: Mapping[str, Members]) -> None:
        """Take every record, archived ones included, the time in UTC, and the last lease of each todo by its id."""
        self.todos = tuple(records)
        self.records: Mapping[str, Members] = {record["todo_id"]: record for record in self.todos}
        self._now = now
        self._leases = leases
        pending = [record for record in self.todos if _is_pending(record)]
        self._blockers: dict[str, list[str]] = {}
        for record in pending:
            if target := record.get("unblocks_todo_id"):
                self._blockers.setdefault(target, []).append(record["todo_id"])
        # A gate that names the todo that it holds up holds up no other.
        gates = [record for record in pending if "unblocks_todo_id" not in record]
        self._approved = {
            written(record["decision_scope"])
            for record in self.records.values()
            if record.get("decision_outcome") == "approve" and "decision_scope" in record
        }
        self._for_all = [gate["todo_id"] for gate in gates if gate.get("global_gate")]
        self._for_agent: dict[str, list[str]] = {}
        for gate in gates:
            if agent := gate.get("blocks_agent"):
                self._for_agent.setdefault(agent, []).append(gate["todo_id"])

    def is_ready(self, todo: Members, agent_id: str | None) -> bool:
        """Tell whether an agent could begin: the todo is open, its own or nobody's, not held up, and may be resumed.

        What a user has to do is not for an agent, so it is ready only where no agent asks.

        Source: authority.md section 6, `todo_list`.
        """
        return (
            todo["status"] == "open"
            and todo["archive_state"] == "active"
            and (todo.get("claimed_by") in (None, agent_id) or self.is_given_up(todo))
            and (agent_id is None or todo["role"] == "agent")
            and (todo["role"] != "agent" or todo.get("bound_agent") in (None, agent_id))
            and agent_id not in todo.get("excluded_agents", ())
            and not self.blockers_of(todo, agent_id)
            and self.is_decided(todo)
            and self.may_resume(todo)
        )

    def is_given_up(self, todo: Members) -> bool:
        """Tell whether the claim of a todo has lapsed, because the lease that it came with has run out."""
        claimed_by = todo.get("claimed_by")
        return claimed_by is not None and has_run_out(self._leases.get(todo["todo_id"]), claimed_by, self._now)

    def is_decided(self, todo: Members) -> bool:
        """Tell whether the user has approved every decision that a todo requires."""
        return all(written(scope) in self._approved for scope in todo.get("required_decision_scopes", ()))

    def blockers_of(self, todo: Members, agent_id: str | None) -> list[str]:
        """Return the ids of the todos that hold a todo up, for an agent also those that hold up the agent.

        A gate holds up agents, and not the user who decides it.
        """
        named = self._blockers.get(todo["todo_id"], [])
        if todo["role"] != "agent":
            return named
        for_agent = self._for_agent.get(agent_id or todo.get("claimed_by", ""), [])
        others = (todo_id for todo_id in (*named, *self._for_all, *for_agent) if todo_id != todo["todo_id"])
        return list(dict.fromkeys(others))

    def may_resume(self, todo: Members) -> bool:
        """Tell whether the condition that a todo waits for is met; what only others can know, they tell the record."""
        condition = todo.get("resume_when")
        if condition is None or todo.get("resume_ready"):
            return True
        kind, _, subject = condition.partition(":")
        other = self.records.get(subject)
        match kind:
            case "resume_at":
                return datetime.fromisoformat(self._now) >= datetime.fromisoformat(subject)
            case "todo_done":
                return other is not None and other["status"] == "done"
            case "monitor_changed":
                seen = todo.get("resume_monitor_generation", 0)
                return other is not None and other.get("material_change_generation", 0) > seen
        return False

    def relations_of(self, todo: Members, agent_id: str | None) -> dict[str, list[dict[str, str]]]:
        """Return the todos that a todo has to do with: each with its id and status, where the goal has it.

        `waits_for` are those that have to be done first, `blocks` those that wait for this one, `successors` and
        `predecessors` what comes after and came before it, `superseded_by` and `supersedes` what replaces what.
        """
        todo_id = todo["todo_id"]
        found: dict[str, list[str]] = {name: [] for name in _RELATIONS}
        found["waits_for"] += self.blockers_of(todo, agent_id)
        for record in self.records.values():
            for key, target in references_in(record):
                if todo_id in (record["todo_id"], target):
                    self._relate(found, todo_id, record["todo_id"], key, target)
        return {name: [self._named(each) for each in dict.fromkeys(ids)] for name, ids in found.items()}

    @staticmethod
    def _relate(found: dict[str, list[str]], todo_id: str, source: str, key: str, target: str) -> None:
        if pair := waiting(source, key, target):
            (waiter, waited) = pair
            found["waits_for" if waiter == todo_id else "blocks"].append(waited if waiter == todo_id else waiter)
        else:
            mine, theirs = _DIRECTED[key]
            found[mine if source == todo_id else theirs].append(target if source == todo_id else source)

    def _named(self, todo_id: str) -> dict[str, str]:
        record = self.records.get(todo_id)
        return {"todo_id": todo_id} if record is None else {"todo_id": todo_id, "status": record["status"]}


# What the todo that refers has of the other, and the other way round.
_DIRECTED: Final = {
    "successor_todo_ids": ("successors", "predecessors"),
    "superseded_by": ("superseded_by", "supersedes"),
}
_RELATIONS: Final = ("waits_for", "blocks", "successors", "predecessors", "superseded_by", "supersedes")


def _is_pending(record: Members) -> bool:
    """Tell whether a todo still holds up what waits for it; what was archived undone was given up."""
    return bool(record["status"] != "done" and record["archive_state"] == "active")
