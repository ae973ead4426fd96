"""`project_markdown`: the todos of a promoted goal, shown in its document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon import delivering
from stateward_daemon.fresh_problems import with_problems

if TYPE_CHECKING:
    from stateward_daemon.host import Caller
    from stateward_daemon.steps import Steps
    from stateward_protocol.todo_messages import ProjectMarkdownParams


def handle(caller: Caller, params: ProjectMarkdownParams) -> Steps:
    """Deliver, or tell what would be written; a revision that is given is pinned."""
    report = yield from delivering.project(
        caller.host, params.goal_id, params.provider_revision, execute=params.execute
    )
    return (yield from with_problems(caller, report))
