"""`goal_projection`: a goal document as its projection object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stateward_daemon import convert

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_protocol import messages as m


def handle(caller: Caller, params: m.DocumentParams) -> dict[str, Any]:
    """Answer the same bytes for the same document, whoever asks."""
    return convert.projection(
        caller.document(caller.path_of(params.path, params.text, params.goal_id), params.text),
        goal_id=params.goal_id,
        source_ref=params.source_ref,
    )
