"""Records and renderings for the tests of the renderer."""

from __future__ import annotations

from typing import Any

from stateward_engine.goals.render import Rendering, render

REVISION = "file:s:1"
# What a record of a test has unless it says otherwise.
PLAIN: dict[str, Any] = {
    "schema_version": "todo_domain_record_v0",
    "todo_id": "todo_one",
    "role": "agent",
    "status": "open",
    "done": False,
    "text": "a",
    "archive_state": "active",
}
SECTIONS = "## User Todo\n\n## Agent Todo\n\n## Next Action\n\n- go\n"


def record(**members: Any) -> dict[str, Any]:
    return PLAIN | members


def rendered(source: str, records: list[Any], revision: str = REVISION, **declarations: Any) -> Rendering:
    return render(source, records, revision, declarations)
