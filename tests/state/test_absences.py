"""What does not exist, kept by closed lists: a new word in one of them is a decision, and changes this page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from stateward_engine.errors import InvalidPatch
from stateward_engine.state.patch import parse_patch
from stateward_engine.state.view import SCOPES
from stateward_protocol.methods import METHODS, Kind

if TYPE_CHECKING:
    from stateward_engine.json_value import Json


def members_of(method: str) -> list[str]:
    return [field.name for field in msgspec.structs.fields(METHODS[method].params)]


def test_one_method_reads_state_and_one_patches_it() -> None:
    """SF-014, SF-022, SF-024, SF-159, SF-173, SF-190: no insert, move, query, search or ranking verb, no second patch.

    Whole states are carried from store to store by two others, and a document of state is a read, written out for
    people (editors.md section 1); what is refreshed is what is known of a goal.
    """
    of_scopes = [name for name in METHODS if METHODS[name].kind is not Kind.GOAL]
    assert sorted(name for name in of_scopes if "state" in name.split("_")) == [
        "export_state",
        "import_state",
        "patch_state",
        "read_state",
        "state_document",
        "state_status",
    ]
    assert [name for name in METHODS if METHODS[name].kind is Kind.WRITE and "patch" in members_of(name)] == [
        "patch_state"
    ]


def test_a_read_has_neither_pages_nor_options() -> None:
    """SF-010, SF-022, SF-023, SF-114, SF-142, SF-198: no limit, cursor, offset or scope, and no older archive."""
    assert members_of("read_state") == ["path", "paths", "projection"]


def test_a_patch_has_no_vocabulary_of_edits() -> None:
    """SF-013, SF-024, SF-160: beside the patch stand the two members that concern its delivery."""
    assert members_of("patch_state") == ["patch", "idempotency_key", "if_revision"]


EDITS: list[Json] = [
    {"op": "replace", "path": "/cwd/tactics/a", "value": 1},
    [{"op": "remove", "path": "/cwd/tactics/a"}],
    {"edits": [{"insert": 1}]},
    {"cwd": [{"op": "replace"}]},
    {"move": {"from": "a", "to": "b"}},
]


@pytest.mark.parametrize("patch", EDITS, ids=str)
def test_a_body_of_edit_commands_is_refused(patch: Json) -> None:
    """SF-013, SF-160."""
    with pytest.raises(InvalidPatch):
        parse_patch(patch, SCOPES)
