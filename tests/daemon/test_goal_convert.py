"""From the params of goal methods to commands: nothing is lost on the way, and nothing is made up."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from stateward_daemon import goal_convert
from stateward_engine.authority.commands import LeaseClaim
from stateward_engine.authority.given import ADDABLE, COMPLETING, EDITABLE
from stateward_engine.goals.validation import DECLARATION_KEYS
from stateward_protocol import lease_messages as n
from stateward_protocol import todo_messages as t
from stateward_protocol.operation_messages import OperationParams

OF_TODO = {"goal_id": "g1", "todo_id": "todo_one"}


def fields_of(params: type[msgspec.Struct], *others: str) -> set[str]:
    return {*params.__struct_fields__} - {*OperationParams.__struct_fields__, *DECLARATION_KEYS, *others}


class TestFields:
    """The wire takes the fields that the authority takes: one that is missing there could not be given."""

    def test_of_a_todo_to_add(self) -> None:
        """LX-140 and authority.md section 6, `todo_add`."""
        assert fields_of(t.TodoAddParams, "role", "text") == ADDABLE

    def test_of_a_todo_to_change(self) -> None:
        """LX-140: work requirements among them."""
        assert fields_of(t.TodoUpdateParams, "todo_id", "clear", "lease") == EDITABLE

    def test_of_a_completion(self) -> None:
        assert fields_of(t.TodoCompleteParams, "todo_id", "lease", "next") == COMPLETING

    def test_a_field_that_is_null_is_given_and_one_that_is_absent_is_not(self) -> None:
        """LX-062: what an absent member means is not what null means."""
        params = msgspec.convert({**OF_TODO, "note": None, "goal_bound": False}, t.TodoUpdateParams)

        assert goal_convert.update_todo(params).fields == {"note": None, "goal_bound": False}

    def test_a_declaration_is_those_of_its_members_that_are_given(self) -> None:
        role = {"goal_id": "g1", "role": "agent", "text": "One"}
        bare = goal_convert.add_todo(msgspec.convert(role, t.TodoAddParams))
        full = goal_convert.add_todo(msgspec.convert({**role, "validation_label": "tests"}, t.TodoAddParams))

        assert (bare.declaration, bare.fields) == (None, {})
        assert (full.declaration, full.fields) == ({"validation_label": "tests"}, {})


class TestIdentity:
    def test_one_that_is_given_is_kept(self) -> None:
        params = msgspec.convert({**OF_TODO, "operation_id": "op-1"}, t.TodoUpdateParams)
        command = goal_convert.update_todo(params)

        assert (command.operation_id, command.operation_id_given) == ("op-1", True)

    def test_one_that_is_missing_is_random_and_said_to_be(self) -> None:
        """authority.md section 1: the answer says so."""
        params = msgspec.convert(OF_TODO, t.TodoUpdateParams)
        first, second = goal_convert.update_todo(params), goal_convert.update_todo(params)

        assert first.operation_id != second.operation_id
        assert not first.operation_id_given


@pytest.mark.parametrize("hint", [True, {"todo_one": False}, None])
def test_what_a_caller_thinks_of_other_leases_is_not_asked(hint: Any) -> None:
    """LX-104: accepted, and without effect."""
    held = {**OF_TODO, "owner": "ada", "idempotency_key": "k1", "operation_id": "op-1"}
    asked = goal_convert.acquire_lease(msgspec.convert({**held, "effective": hint}, n.LeaseAcquireParams))

    assert asked == goal_convert.acquire_lease(msgspec.convert(held, n.LeaseAcquireParams))
    assert asked.lease == LeaseClaim("k1")
