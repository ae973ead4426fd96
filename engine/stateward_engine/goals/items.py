"""Items: the rows of a goal document as its projection shows them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from stateward_engine.goals.priority import read_priority
from stateward_engine.goals.todos import DONE_STATUSES, status_of, task_class_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stateward_engine.goals.todo_codec import Row
    from stateward_engine.json_value import Json

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
# Rows have few sets of keys, and as many orders of each as there are programs that write them.
KEPT_ORDERS_MAX: Final = 1024


def read_items(
    rows: Iterable[Row], ids: Iterable[str], role: str, section: str, first: int
) -> Iterator[dict[str, Json]]:
    """Yield rows as the projection shows them.

    Args:
        rows: Consecutive rows of one role.
        ids: The id of each, explicit or generated.
        role: Whose they are.
        section: Heading of the first region of that role.
        first: Position of the first row among all rows of that role, from 1.

    Source: goal-documents 1.8.
    """
    for index, (row, todo_id) in enumerate(zip(rows, ids, strict=True), start=first):
        fields, text, status = row.fields, text_of(row), status_of(row)
        item: dict[str, Json] = {
            "schema_version": "todo_item_v0",
            "todo_id": todo_id,
            "todo_id_source": "generated" if row.id_line is None else "metadata",
            "role": role,
            "source_section": section,
            "index": index,
            "status": status,
            "done": status in DONE_STATUSES,
            "text": text,
            "task_class": task_class_of(row, text),
        }
        # A label stands in brackets, and most rows have none.
        if text[:1] == "[" and (priority := read_priority(text)):
            item["priority"], item["title"] = priority
        for key in _shown(tuple(fields)):
            item[key] = fields[key]
        yield item


@lru_cache(maxsize=KEPT_ORDERS_MAX)
def _shown(keys: tuple[str, ...]) -> list[str]:
    """Return those of the keys that an item shows, in its order."""
    return sorted((key for key in keys if key in _PLACE_OF_FIELD), key=_PLACE_OF_FIELD.__getitem__)
