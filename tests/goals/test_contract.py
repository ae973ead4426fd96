"""The contract of canonical records, as data that others read: clients in other languages, and reviewers of a change.

Rows LX-005, LX-006, LX-007 and LX-013. Source: authority.md section 2.
"""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest

from stateward_engine.errors import RenderRejected
from stateward_engine.goals.contract import RECORD_FIELDS, SCHEMAS, WITHOUT_MARKDOWN
from stateward_engine.goals.records import admit

CONTRACT: Final = Path(str(files("stateward_protocol"))) / "coordination_state_contract_v0.json"
# The read records of a contract, by the schema of their items.
READ_RECORDS: Final = {
    "todo_item_v0": "loopx_todo_canonical_read_record_v0",
    "todo_domain_record_v0": "loopx_todo_domain_read_record_v0",
}
DECISION: Final = (
    "a field was removed from the contract: readers of stored records need it, so that takes a reviewed compatibility "
    "decision, and a new version of the contract"
)


def described() -> dict[str, Any]:
    """Return the contract as our tables have it."""
    return {
        "schema_version": "loopx_coordination_state_contract_v0",
        "fields": {name: shape.value for name, shape in RECORD_FIELDS.items()},
        "without_markdown": [name for name in RECORD_FIELDS if name in WITHOUT_MARKDOWN],
        "priorities": ["P0", "P1", "P2", "P3", "P4"],
        "schemas": {
            READ_RECORDS[item]: {
                "item_schema_version": item,
                "fields": [name for name in RECORD_FIELDS if name in schema.fields],
                "required": list(schema.required),
            }
            for item, schema in SCHEMAS.items()
        },
    }


def test_no_field_is_removed() -> None:
    """Nor does a rewrite of the file remove it."""
    assert json.loads(CONTRACT.read_text("utf-8"))["fields"].keys() <= RECORD_FIELDS.keys(), DECISION


def test_the_data_says_what_the_tables_say() -> None:
    """`STATEWARD_GOLDEN=write` writes it."""
    if os.environ.get("STATEWARD_GOLDEN") == "write":
        CONTRACT.write_text(json.dumps(described(), indent=2) + "\n", "utf-8")

    contract = json.loads(CONTRACT.read_text("utf-8"))
    assert contract == described()
    assert len(contract["fields"]) == 70


@pytest.mark.parametrize("item", SCHEMAS)
def test_both_kinds_of_records_are_admitted_with_what_they_require_and_without_it_refused(item: str) -> None:
    said = {"role": "agent", "status": "open", "done": False, "text": "a", "archive_state": "active"}
    whole = {**said, "schema_version": item, "todo_id": "todo_one", "source_section": "Agent Todo"}
    record = {name: value for name, value in whole.items() if name in SCHEMAS[item].fields}

    assert [admitted.fields["todo_id"] for admitted in admit([record], {})] == ["todo_one"]
    for name in SCHEMAS[item].required:
        with pytest.raises(RenderRejected):
            admit([{**record, name: None}], {})
