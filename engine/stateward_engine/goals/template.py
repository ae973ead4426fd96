"""The first text of a goal document."""

from __future__ import annotations

import json
import re
from html import escape
from typing import Final

from stateward_engine.errors import InvalidRequest
from stateward_engine.goals.compact import compact
from stateward_engine.goals.document import read_document
from stateward_engine.goals.lines import split_lines

GOAL_ID: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
NEXT_ACTION: Final = "Define the first bounded step."
# JSON leaves them as they are, and some readers take them for the end of a line.
SEPARATORS: Final = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def new_document(goal_id: str, objective: str, updated_at: str, next_action: str = NEXT_ACTION) -> str:
    """Return the text of a new document.

    Args:
        goal_id: Names the goal; lower-case letters, digits and `. _ -`, at most 80.
        objective: What is to be reached, in one line or several.
        updated_at: Now, as `YYYY-MM-DDTHH:MM:SSZ`.
        next_action: What comes first, in one line.

    Raises:
        InvalidRequest: An id outside of the grammar, or a text that could not be read back.

    Source: authority.md section 2.
    """
    if not GOAL_ID.fullmatch(goal_id):
        wanted = "a letter or digit, then letters, digits and . _ - (at most 80), lower case"
        raise InvalidRequest("this is no goal id", path="goal_id", got=goal_id, wanted=wanted)
    quoted = [f"> {escape(line, quote=False)}".rstrip() for line in split_lines(objective).texts]
    text = "\n".join(
        [
            "---",
            "status: active",
            f"updated_at: {encode_frontmatter(updated_at)}",
            f"goal_id: {encode_frontmatter(goal_id)}",
            f"objective: {encode_frontmatter(objective)}",
            "---",
            "",
            "# Active Goal State",
            *("", "## Objective", "", *quoted),
            *("", "## User Todo"),
            *("", "## Agent Todo"),
            *("", "## Next Action", "", f"- {compact(next_action)}", ""),
        ]
    )
    document = read_document(text)
    is_read_back = document.objective == compact(objective) and document.next_action.entries
    if document.refusal or not document.objective or not is_read_back:
        raise InvalidRequest(
            "the document could not be read back; objective and next action are texts that are not empty, "
            "and hold no region marker"
        )
    return text


def encode_frontmatter(value: str) -> str:
    r"""Return the written form of a frontmatter value.

    Source: goal-documents 1.1.

    >>> encode_frontmatter('say "go"')
    '"say \\"go\\""'
    """
    return json.dumps(value, ensure_ascii=False).translate(SEPARATORS)
