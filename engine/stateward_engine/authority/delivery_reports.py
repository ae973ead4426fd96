"""What callers are told of a delivery: the members of `projection_outbox`, and nothing of the business. Pure.

Source: authority.md section 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stateward_engine.authority.delivery import DELIVERED, Confirmation, Delivery

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stateward_engine.authority.delivery_failures import Failure
    from stateward_engine.authority.goal import Goal
    from stateward_engine.goals.render import Rendering

DELIVERY_SCHEMA: Final = "loopx_todo_projection_delivery_v0"
OUTBOX_SOURCE: Final = "committed_authority_journal"
RECOVERY_SCOPE: Final = "todo_sections_only"
ELSEWHERE: Final = "todo_projection_elsewhere"
REVISION_ADVANCED: Final = "todo_projection_revision_advanced"
_STANDS: Final = "What was committed stands: do not repeat it."
_AGAIN: Final = f"{_STANDS} Deliver it with project_markdown"


def planned(goal: Goal, rendering: Rendering, *, recovered: bool) -> dict[str, Any]:
    """Return what a delivery would do, which nobody has confirmed, with the document that it would write."""
    report = _rendered(goal, rendering, recovered=recovered)
    return {**report, "status": "planned", "executed": False, "markdown": rendering.markdown}


def settled(goal: Goal, rendering: Rendering, delivery: Delivery, confirmation: Confirmation) -> dict[str, Any]:
    """Return what became of a delivery that the authority has judged.

    Args:
        goal: What was rendered last.
        rendering: What became of it.
        delivery: How far it came.
        confirmation: The judgement.
    """
    report = {
        **_rendered(goal, rendering, recovered=delivery.recovered),
        "observed_provider_revision": confirmation.observed_provider_revision,
        "status": confirmation.status,
        "next_action": confirmation.next_action,
        "delivery_attempts": delivery.attempt,
        "changed": delivery.changed,
        "executed": True,
    }
    if confirmation.status in DELIVERED:
        return report
    return report | {
        "reason_code": REVISION_ADVANCED,
        "recommended_action": f"the goal moved on while it was shown. {_AGAIN} and the revision that it has then",
        **_RETRY,
    }


def failed(goal_id: str, failure: Failure) -> dict[str, Any]:
    """Return what kept a display from being delivered."""
    # Where another daemon delivers, there is nothing to mend here.
    remedy = _STANDS if failure.reason_code == ELSEWHERE else f"{_AGAIN} once that is mended"
    return {
        "schema_version": DELIVERY_SCHEMA,
        "goal_id": goal_id,
        "status": "pending",
        "reason_code": failure.reason_code,
        "error_class": failure.error_class,
        **failure.facts,
        "recommended_action": f"{failure.message}. {remedy}",
        **_RETRY,
    }


def triggered(report: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report as the caller gets it whose mutation was answered `answer`: it names what was to be shown."""
    return {**report, "trigger_provider_revision": answer["provider_revision"], "trigger_cursor": answer["cursor"]}


_RETRY: Final[dict[str, bool]] = {"retryable": True, "retry_business_mutation": False}


def _rendered(goal: Goal, rendering: Rendering, *, recovered: bool) -> dict[str, Any]:
    report = {
        "schema_version": DELIVERY_SCHEMA,
        "goal_id": goal.goal_id,
        "state_file": goal.path,
        "source": OUTBOX_SOURCE,
        "source_authority": goal.source_authority,
        "provider_revision": rendering.provider_revision,
        "todo_count": rendering.todo_count,
        "changed": rendering.changed or recovered,
        "source_sha256": rendering.source_sha256,
        "rendered_sha256": rendering.rendered_sha256,
        "narrative_sha256": rendering.narrative_sha256,
        "section_record_sha256": rendering.section_record_sha256,
        # A rendering that does not read as its records, or that changes the text around them, is refused.
        "parse_render_parity": True,
        "narrative_preserved": not recovered,
    }
    return {**report, "recovery_scope": RECOVERY_SCOPE} if recovered else report
