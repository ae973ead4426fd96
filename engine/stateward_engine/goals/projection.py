"""The projection: the typed, read-only form in which a goal document is handed out, with its five diagnostics."""

from __future__ import annotations

from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from stateward_engine.goals.placed_rows import PlacedRows, Section
    from stateward_engine.goals.regions import Role
    from stateward_engine.goals.sections import NextAction
    from stateward_engine.json_value import Json

SOURCE_REF_DEFAULT: Final = "ACTIVE_GOAL_STATE.md"
ACTIVE_ROLES: Final[tuple[Role, ...]] = ("user", "agent")
RECOMMENDATION: Final = "give every row an indented metadata line with a todo_id of its own"


def project(
    frontmatter: Mapping[str, str],
    next_action: NextAction,
    sections: Sequence[Section],
    diagnostics: dict[str, Json],
) -> dict[str, Json]:
    """Return the projection object, ready for JSON; archived rows never appear.

    Args:
        frontmatter: Keys and values in front.
        next_action: What is to be done next.
        sections: The rows of all regions, archived ones included.
        diagnostics: What `diagnose` gives for the same.

    Source: goal-documents 1.9.
    """
    users, agents = (_rows_of(role, sections) for role in ACTIVE_ROLES)
    entries = list(next_action.entries)
    projection: dict[str, Json] = {
        "schema_version": "active_state_structured_projection_v0",
        "source": "markdown_active_state",
        "source_ref": SOURCE_REF_DEFAULT,
        "frontmatter": dict(frontmatter),
        "next_action": {"count": len(entries), "first": entries[0] if entries else None, "entries": entries},
        "todos": {"user": _group(users), "agent": _group(agents)},
        "diagnostics": diagnostics,
    }
    return projection


def named(projection: Mapping[str, Json], *, goal_id: str | None, source_ref: str) -> dict[str, Json]:
    """Return the projection object under the names that a reader gives it; an empty goal id names nothing."""
    return {**projection, "source_ref": source_ref, **({"goal_id": goal_id} if goal_id else {})}


def _group(placed: Sequence[PlacedRows]) -> dict[str, Json]:
    return {
        "total_count": sum(len(rows.ids) for rows in placed),
        # Blocked rows are in neither count, deferred ones in the second.
        "open_count": sum(rows.passage.open_count for rows in placed),
        "done_count": sum(rows.passage.done_count for rows in placed),
        "implicit_todo_id_count": _implicit_count(placed),
        "items": list(chain.from_iterable(rows.items for rows in placed)),
    }


def diagnose(
    frontmatter: Mapping[str, str], next_action: NextAction, sections: Sequence[Section], repeated: Collection[str]
) -> dict[str, Json]:
    """Return the diagnostics of a projection.

    Args:
        frontmatter: Keys and values in front.
        next_action: What is to be done next.
        sections: The rows of all regions, archived ones included.
        repeated: The ids that several of them have.

    Source: goal-documents 1.10.
    """
    active = [rows for role in ACTIVE_ROLES for rows in _rows_of(role, sections)]
    implicit = _implicit_count(active)
    duplicates = _duplicate_ids(active, repeated) if repeated else []
    has_rows = any(rows.ids for rows in active)
    missing = {
        "missing_frontmatter": not frontmatter,
        "missing_next_action": not next_action.entries,
        "missing_todo_sections": not has_rows,
    }
    warnings: list[Json] = [{"kind": kind} for kind, is_missing in missing.items() if is_missing]
    if implicit:
        warnings.append({"kind": "implicit_todo_ids", "count": implicit, "recommendation": RECOMMENDATION})
    errors: list[Json] = [{"kind": "duplicate_todo_ids", "todo_ids": duplicates}] if duplicates else []
    return {
        "schema_version": "active_state_projection_diagnostics_v0",
        "parseable": not errors,
        "migration_ready": has_rows and not errors and not implicit,
        "warning_count": len(warnings),
        "error_count": len(errors),
        "warnings": warnings,
        "errors": errors,
    }


def _rows_of(role: Role, sections: Iterable[Section]) -> list[PlacedRows]:
    return [rows for section in sections if section.region.role == role for rows in section.rows]


def _implicit_count(placed: Iterable[PlacedRows]) -> int:
    return sum(map(attrgetter("implicit_count"), placed))


def _duplicate_ids(placed: Iterable[PlacedRows], repeated: Collection[str]) -> list[str]:
    """Return the ids that stand on several active rows, in the order in which their second rows are met."""
    seen: set[str] = set()
    # A dict keeps the order of first insertion, which is that of the second row.
    found: dict[str, None] = {}
    for todo_id in chain.from_iterable(rows.ids for rows in placed):
        if todo_id in repeated:
            if todo_id in seen:
                found[todo_id] = None
            seen.add(todo_id)
    return list(found)
