"""Reading todos: lists for people and agents, bounded; and one todo exactly, with all of its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stateward_engine.authority.readiness import Situation
from stateward_engine.authority.refusals import refused
from stateward_engine.goals.compact import clip
from stateward_engine.goals.contract import SCHEMAS
from stateward_engine.goals.digests import values_sha256
from stateward_engine.goals.records import ROLES
from stateward_engine.goals.render import INDEX_WITHOUT_PLACE
from stateward_engine.goals.todos import TEXT_CHARACTERS_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stateward_engine.authority.goal import Members

ARCHIVE: Final = "archive"
# In the order in which a document shows them.
SECTIONS: Final = (*ROLES, ARCHIVE)

# Of each schema a record without anything, its fields in canonical order.
_NULLS: Final = {version: dict.fromkeys(sorted(schema.fields)) for version, schema in SCHEMAS.items()}


def list_todos(
    records: Iterable[Members],
    *,
    role: str | None = None,
    status: str | None = None,
    todo_id: str | None = None,
    agent_id: str | None = None,
    ready: bool | None = None,
    limit: int | None = None,
    leases: Mapping[str, Members] | None = None,
    now: str,
) -> dict[str, Any]:
    """Return todos in the order in which a document shows them, their texts bounded.

    Args:
        records: All of the goal, archived ones included.
        role: `user`, `agent` or `archive`; `None` is both of the first. The archive is listed when it is asked for.
        status: Of those alone that have it.
        todo_id: Read this one exactly, archived or not.
        agent_id: Who asks: of the todos that are claimed or bound, his alone.
        ready: `True` is what can be worked on now, `False` the rest.
        limit: At most so many.
        leases: The last lease of each todo, by its id.
        now: The time to judge by, in UTC.

    Returns:
        `todos`, `todo_count` (before the limit) and `returned_count`; of an exact read also `todo`, `relations`,
        `ready` and `full_text`. A todo has `text` of at most 500 code points, `text_truncated` and `text_length`.

    Raises:
        Refused: `todo_not_found`.

    Source: authority.md section 6, `todo_list`.
    """
    situation = Situation(records, now, leases or {})
    if todo_id is not None:
        return _exact(situation, todo_id, agent_id)
    found = [
        todo
        for todo in in_render_order(situation.todos)
        if _section(todo) in ((role,) if role else ROLES)
        and status in (None, todo["status"])
        and (agent_id is None or _is_for(todo, agent_id) or situation.is_given_up(todo))
        and ready in (None, situation.is_ready(todo, agent_id))
    ]
    shown = [bounded(todo) for todo in found[:limit]]
    return {"todos": shown, "todo_count": len(found), "returned_count": len(shown)}


def in_render_order(records: Iterable[Members]) -> list[Members]:
    """Return records as a document shows them: those of the user, of agents, and the archive.

    Source: goal-documents 4.2.
    """
    return sorted(records, key=_render_order)


def records_sha256(records: Iterable[Members]) -> str:
    """Return the digest of all records of a goal, each with every field of its contract, null where it has none.

    Source: goal-documents 4.2, last sentence.
    """
    return values_sha256({**_NULLS[record["schema_version"]], **record} for record in in_render_order(records))


def summary_of(records: Iterable[Members]) -> dict[str, Any]:
    """Return how many todos of each role there are in the goal, by status, and how many are in the archive.

    >>> summary_of([])["agent"]
    {'total_count': 0, 'open_count': 0, 'blocked_count': 0, 'deferred_count': 0, 'done_count': 0}
    """
    groups: dict[str, list[Members]] = {section: [] for section in SECTIONS}
    for record in records:
        groups[_section(record)].append(record)
    summary: dict[str, Any] = {}
    for role in ROLES:
        statuses = [record["status"] for record in groups[role]]
        counts = {f"{status}_count": statuses.count(status) for status in ("open", "blocked", "deferred", "done")}
        summary[role] = {"total_count": len(statuses), **counts}
    return {**summary, "archived_count": len(groups[ARCHIVE])}


def bounded(todo: Members) -> dict[str, Any]:
    """Return a todo as lists show it, which must not come back as what it says."""
    text = todo["text"]
    title = {"title": clip(todo["title"], TEXT_CHARACTERS_MAX)} if "title" in todo else {}
    return {
        **todo,
        **title,
        "text": clip(text, TEXT_CHARACTERS_MAX),
        "text_truncated": len(text) > TEXT_CHARACTERS_MAX,
        "text_length": len(text),
    }


def _exact(situation: Situation, todo_id: str, agent_id: str | None) -> dict[str, Any]:
    todo = situation.records.get(todo_id)
    if todo is None:
        raise refused(
            "todo_not_found",
            "the goal has no todo of that id; a list without todo_id shows those that it has",
            member="todo_id",
            got=todo_id,
        )
    shown = bounded(todo)
    return {
        "todos": [shown],
        "todo_count": 1,
        "returned_count": 1,
        "todo": shown,
        "full_text": todo["text"],
        "ready": situation.is_ready(todo, agent_id),
        "relations": situation.relations_of(todo, agent_id),
    }


def _section(todo: Members) -> str:
    return ARCHIVE if todo["archive_state"] == ARCHIVE else str(todo["role"])


def _is_for(todo: Members, agent_id: str) -> bool:
    """Tell whether a todo is an agent's own, or for anybody."""
    owners = {todo.get(name) for name in ("claimed_by", "bound_agent", "blocks_agent")} - {None}
    return agent_id in owners or not owners


def _render_order(todo: Members) -> tuple[int, int, str]:
    return SECTIONS.index(_section(todo)), todo.get("index", INDEX_WITHOUT_PLACE), todo["todo_id"]
