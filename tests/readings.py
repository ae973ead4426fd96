"""What was read of a goal document, as data that can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stateward_engine.goals.document import GoalDocument

PARTS = (
    *("text", "lines", "frontmatter", "objective", "next_action", "headings", "hidden", "hidden_lines", "regions"),
    *("todos", "projection", "problems"),
)


def everything(document: GoalDocument) -> dict[str, Any]:
    """Return all that was read, with a refusal as its facts."""
    parts = {name: getattr(document, name) for name in PARTS}
    return parts | {"refusal": document.refusal and (str(document.refusal), document.refusal.facts)}
