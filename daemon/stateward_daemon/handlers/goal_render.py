"""`goal_render`: canonical records on a goal document, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import convert

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol.record_messages import GoalRenderParams, GoalRenderResult


def handle(caller: Caller, params: GoalRenderParams) -> GoalRenderResult:
    """Answer the whole text; what becomes of it is the caller's business."""
    return convert.rendering(
        caller.document(params.path, params.text),
        params.records,
        params.provider_revision,
        params.private_validation,
    )
