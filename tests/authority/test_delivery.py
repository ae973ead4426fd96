"""The judgement of the authority, by the table, and which errors are which reasons.

Rows LX-109, LX-138, LX-139. Source: authority.md section 5. How a delivery goes on is visited by
`test_delivery_exploration.py`, and driven on real files by `tests/daemon/test_delivering.py`.
"""

from __future__ import annotations

from typing import Any, get_args

import pytest

from stateward_engine.authority.delivery import Delivery, confirm
from stateward_engine.authority.delivery_failures import FailureReason, NotReplaceable, failure_of, outage_of
from stateward_engine.authority.delivery_reports import failed
from stateward_engine.errors import InvalidRequest, NotPublished, RenderRejected, StoreUnavailable, UnsafeDocument

READBACK: dict[str, Any] = {"provider_revision": "file:s:2", "changed": True, "attempt": 1, "target": "latest"}


class TestTable:
    @pytest.mark.parametrize("target", ["latest", "pinned"])
    @pytest.mark.parametrize("attempt", [1, 2, 3])
    @pytest.mark.parametrize(("changed", "status"), [(True, "delivered"), (False, "current")])
    def test_what_was_rendered_is_the_head(self, target: str, attempt: int, changed: bool, status: str) -> None:
        found = confirm({**READBACK, "target": target, "attempt": attempt, "changed": changed}, "file:s:2")
        assert (found.status, found.next_action, found.observed_provider_revision) == (status, "finish", "file:s:2")

    @pytest.mark.parametrize(
        ("target", "attempt", "next_action"),
        [
            ("latest", 1, "retry"),
            ("latest", 2, "retry"),
            ("latest", 3, "finish"),
            ("pinned", 1, "finish"),
            ("pinned", 2, "finish"),
            ("pinned", 3, "finish"),
        ],
    )
    @pytest.mark.parametrize("head", ["file:s:3", "file:s:1", "file:other:2"])
    def test_it_is_not(self, target: str, attempt: int, next_action: str, head: str) -> None:
        found = confirm({**READBACK, "target": target, "attempt": attempt}, head)
        assert (found.status, found.next_action, found.observed_provider_revision) == ("pending", next_action, head)

    def test_a_delivery_tells_exactly_four_members(self) -> None:
        delivery = Delivery(None, 1, "file:s:2", changed=True)
        assert delivery.projection_readback() == READBACK
        assert delivery._replace(pinned="file:s:2").projection_readback() == {**READBACK, "target": "pinned"}

    @pytest.mark.parametrize(
        "readback",
        [
            {},
            {key: READBACK[key] for key in list(READBACK)[:3]},
            {**READBACK, "status": "delivered"},
            {**READBACK, "attempt": 0},
            {**READBACK, "attempt": 4},
            {**READBACK, "attempt": True},
            {**READBACK, "attempt": "1"},
            {**READBACK, "changed": 1},
            {**READBACK, "target": "newest"},
            {**READBACK, "provider_revision": None},
        ],
        ids=str,
    )
    def test_any_other_readback_is_refused(self, readback: dict[str, Any]) -> None:
        with pytest.raises(InvalidRequest, match="provider_revision, changed, attempt from 1 to 3 and target"):
            confirm(readback, "file:s:2")


class TestReasons:
    """A closed list: whatever is raised has one of six reasons."""

    @pytest.mark.parametrize(
        ("error", "reason_code", "facts"),
        [
            (NotReplaceable("m", "todo_projection_region_edited", [3]), "region_edited", {"lines": [3]}),
            (NotReplaceable("m", "todo_projection_buffer_dirty"), "buffer_dirty", {"lines": []}),
            (
                RenderRejected("m", kind="parity_mismatch", todo_id="todo_a", field="text"),
                "render_rejected",
                {"kind": "parity_mismatch", "lines": [], "todo_id": "todo_a", "field": "text"},
            ),
            (
                UnsafeDocument("m", kind="orphan_region_marker", line=7, byte_offset=90),
                "render_rejected",
                {"kind": "orphan_region_marker", "lines": [7]},
            ),
            (
                UnsafeDocument("m", kind="not_utf8", line=7, byte_offset=90),
                "target_unavailable",
                {"kind": "not_utf8", "lines": [7], "byte_offset": 90},
            ),
            *(
                (NotPublished("m", reason_code=kind), "write_unavailable", {"kind": kind})
                for kind in ("document_write_failed", "document_changing", "document_locked", "document_exists")
            ),
            *(
                (NotPublished("m", reason_code=kind), "target_unavailable", {"kind": kind})
                for kind in ("document_missing", "document_is_link", "document_is_no_file", "document_too_large")
            ),
            (OSError(5, "secret"), "target_unavailable", {}),
            (RuntimeError("secret"), "target_unavailable", {}),
        ],
        ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
    )
    def test_each_error(self, error: Exception, reason_code: str, facts: dict[str, Any]) -> None:
        failure = failure_of(error)

        assert failure.reason_code == f"todo_projection_{reason_code}"
        assert failure.reason_code in get_args(FailureReason)
        assert failure.error_class == type(error).__name__
        assert failure.facts == facts
        assert "secret" not in failure.message

    def test_what_fails_in_reading_the_authority_is_an_outage(self) -> None:
        for error in (StoreUnavailable("away"), OSError(5, "secret")):
            assert outage_of(error).reason_code == "todo_projection_authority_unavailable"

    def test_a_report_of_it_says_that_the_business_is_not_to_be_repeated(self) -> None:
        report = failed("g", failure_of(NotPublished("the disk is full", reason_code="document_write_failed")))

        assert report == {
            "schema_version": "loopx_todo_projection_delivery_v0",
            "goal_id": "g",
            "status": "pending",
            "reason_code": "todo_projection_write_unavailable",
            "error_class": "NotPublished",
            "kind": "document_write_failed",
            "recommended_action": "the disk is full. What was committed stands: do not repeat it. "
            "Deliver it with project_markdown once that is mended",
            "retryable": True,
            "retry_business_mutation": False,
        }
