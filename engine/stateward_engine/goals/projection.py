"""The projection: the typed, read-only form in which a goal document is handed out, with its five diagnostics."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from stateward_engine.goals.todos import DONE_STATUSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stateward_engine.goals.sections import NextAction
    from stateward_engine.goals.todos import Todo
    from stateward_engine.json_value import Json

SOURCE_REF_DEFAULT: Final = "ACTIVE_GOAL_STATE.md"
RECOMMENDATION: Final = "give every row an indented metadata line with a todo_id of its own"

# The metadata that an item shows, in this order; what is not listed is read and kept, and not shown. Source: 1.8.
SHOWN_FIELDS: Final = (
    "action_kind",
    "task_domain",
    "capability_binding_ref",
    "task_repository",
    "continuation_policy",
    "required_write_scopes",
    "required_capabilities",
    "target_capabilities",
    "decision_scope",
    "required_decision_scopes",
    "claimed_by",
    "bound_agent",
    "goal_bound",
    "blocks_agent",
    "excluded_agents",
    "global_gate",
    "unblocks_todo_id",
    "successor_todo_ids",
    "completion_continuation",
    "completion_recovery",
    "resume_when",
    "no_followup",
    "target_key",
    "cadence",
    "next_due_at",
    "last_checked_at",
    "result_hash",
    "consecutive_no_change",
    "material_change",
    "max_no_change_before_replan",
    "note",
    "evidence",
    "reason",
    "completed_at",
    "updated_at",
    "superseded_by",
)
_PLACE_OF_FIELD: Final = {key: place for place, key in enumerate(SHOWN_FIELDS)}


def project(
    frontmatter: Mapping[str, str],
    next_action: NextAction,
    todos: Iterable[Todo],
) -> dict[str, Json]:
    """Return the projection object, ready for JSON; archived rows never appear.

    Source: goal-documents 1.9.
    """
    active = [todo for todo in todos if not todo.archived]
    users = [todo for todo in active if todo.role == "user"]
    agents = [todo for todo in active if todo.role == "agent"]
    entries = list(next_action.entries)
    projection: dict[str, Json] = {
        "schema_version": "active_state_structured_projection_v0",
        "source": "markdown_active_state",
        "source_ref": SOURCE_REF_DEFAULT,
        "frontmatter": dict(frontmatter),
        "next_action": {"count": len(entries), "first": entries[0] if entries else None, "entries": entries},
        "todos": {"user": _group(users), "agent": _group(agents)},
        "diagnostics": _diagnostics(frontmatter, entries, [*users, *agents]),
    }
    return projection


def named(projection: Mapping[str, Json], *, goal_id: str | None, source_ref: str) -> dict[str, Json]:
    """Return the projection object under the names that a reader gives it; an empty goal id names nothing."""
    return {**projection, "source_ref": source_ref, **({"goal_id": goal_id} if goal_id else {})}


def _group(todos: Sequence[Todo]) -> dict[str, Json]:
    statuses = Counter(todo.status for todo in todos)
    return {
        "total_count": len(todos),
        # Blocked rows are in neither count, deferred ones in the second.
        "open_count": statuses["open"],
        "done_count": sum(statuses[status] for status in DONE_STATUSES),
        "implicit_todo_id_count": _implicit_count(todos),
        "items": [_item(todo) for todo in todos],
    }


def _item(todo: Todo) -> dict[str, Json]:
    item: dict[str, Json] = {
        "schema_version": "todo_item_v0",
        "todo_id": todo.todo_id,
        "todo_id_source": todo.todo_id_source,
        "role": todo.role,
        "source_section": todo.source_section,
        "index": todo.ordinal,
        "status": todo.status,
        "done": todo.done,
        "text": todo.text,
        "task_class": todo.task_class,
    }
    if priority := todo.priority:
        item["priority"], item["title"] = priority
    shown = [key for key in todo.fields if key in _PLACE_OF_FIELD]
    for key in sorted(shown, key=_PLACE_OF_FIELD.__getitem__):
        item[key] = todo.fields[key]
    return item


def _diagnostics(frontmatter: Mapping[str, str], entries: Sequence[str], todos: Sequence[Todo]) -> dict[str, Json]:
    implicit = _implicit_count(todos)
    duplicates = _duplicate_ids(todos)
    missing = {
        "missing_frontmatter": not frontmatter,
        "missing_next_action": not entries,
        "missing_todo_sections": not todos,
    }
    warnings: list[Json] = [{"kind": kind} for kind, is_missing in missing.items() if is_missing]
    if implicit:
        warnings.append({"kind": "implicit_todo_ids", "count": implicit, "recommendation": RECOMMENDATION})
    errors: list[Json] = [{"kind": "duplicate_todo_ids", "todo_ids": duplicates}] if duplicates else []
    return {
        "schema_version": "active_state_projection_diagnostics_v0",
        "parseable": not errors,
        "migration_ready": bool(todos) and not errors and not implicit,
        "warning_count": len(warnings),
        "error_count": len(errors),
        "warnings": warnings,
        "errors": errors,
    }


def _implicit_count(todos: Iterable[Todo]) -> int:
    return sum(todo.id_line is None for todo in todos)


def _duplicate_ids(todos: Iterable[Todo]) -> list[str]:
    """Return the ids that stand on several rows, in the order in which their second rows are met."""
    seen: set[str] = set()
    # A dict keeps the order of first insertion, which is that of the second row.
    repeated: dict[str, None] = {}
    for todo in todos:
        if todo.todo_id in seen:
            repeated[todo.todo_id] = None
        seen.add(todo.todo_id)
    return list(repeated)
