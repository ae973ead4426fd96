"""Codes of problems: the closed list of what can be wrong with a document, and how grave each is.

Source: goal-documents 1.10 and section 5.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "info"]

PAGES: Final = "https://github.com/stateward/stateward/blob/main/docs/problems"


class Code(NamedTuple):
    """What is known of a kind of problem.

    Attributes:
        severity: How grave it is.
        meaning: What it means, in one line.
        refuses: Whether a document with it has no projection.
    """

    severity: Severity
    meaning: str
    refuses: bool = False


CODES: Final[dict[str, Code]] = {
    "missing_frontmatter": Code("warning", "the document does not start with frontmatter"),
    "missing_next_action": Code("warning", "nothing is said about what to do next"),
    "missing_todo_sections": Code("warning", "there is no row for a user or an agent"),
    "implicit_todo_ids": Code("warning", "a row has a generated id, which changes when the row moves"),
    "duplicate_todo_ids": Code("error", "one id stands on several rows, archived ones included"),
    "not_utf8": Code("error", "the bytes of the file are no UTF-8", refuses=True),
    "unterminated_frontmatter": Code("error", "the frontmatter opens and never closes", refuses=True),
    "orphan_region_marker": Code("error", "a region marker stands outside of every todo section", refuses=True),
    "nested_or_mismatched_region_marker": Code(
        "error", "a region marker stands where another one is due, or none", refuses=True
    ),
    "unterminated_region": Code("error", "a marked region has no end marker", refuses=True),
    "foreign_content_in_marked_region": Code("error", "a line in a marked region is no generated line", refuses=True),
    "conflict_marker": Code("error", "a merge in Git was not finished"),
    "second_frontmatter_block": Code("warning", "a block looks like frontmatter, and is not read"),
    "unclosed_fence": Code("warning", "a code fence never closes, and hides the rest of the document"),
    "unclosed_comment": Code("warning", "a comment never closes, and hides the rest of the document"),
    "duplicate_todo_section": Code("warning", "several sections are for the same role"),
    "todo_outside_region": Code("info", "a row stands outside of every todo section, and nobody tracks it"),
    "not_a_todo_marker": Code("info", "a line looks like a row, and is none"),
    "nested_todo": Code("info", "an indented row is read as a row of its own, and cannot be rendered"),
    "empty_todo_text": Code("warning", "a box has nothing behind it"),
    "metadata_on_task_line": Code("warning", "metadata stands behind text, and is read as text"),
    "metadata_not_indented": Code("warning", "a line of metadata belongs to no row"),
    "metadata_wrapped": Code("warning", "metadata of several lines is a comment, and supplies nothing"),
    "stray_metadata_text": Code("warning", "words in a metadata comment are no `key=value`"),
    "invalid_todo_id": Code("error", "an explicit id is outside of the grammar, and the row has a generated one"),
    "invalid_metadata_value": Code("warning", "a value that its key cannot have is dropped, in whole or in part"),
    "normalised_value": Code("info", "a value is read differently from how it is written"),
    "unknown_metadata_key": Code("info", "a key is unknown, and its value is not read"),
    "repeated_metadata_key": Code("warning", "a key stands several times in one row, and the last one counts"),
    "marker_status_conflict": Code("warning", "the box says another status than the metadata, which wins"),
    "dangling_todo_reference": Code("warning", "a reference names no todo of this goal"),
    "blocking_cycle": Code("error", "rows wait for each other, and none can ever begin"),
    "dangling_state_reference": Code("warning", "a state reference leads nowhere in the attached state"),
    "stale_projection": Code("info", "a section shows another revision than the head, or other records"),
    "edited_projection": Code("warning", "a marked region was edited by hand since it was rendered"),
    "claim_without_lease": Code("info", "a row is claimed, and no lease backs the claim"),
    "expired_lease": Code("warning", "the lease behind a claim has run out"),
}


def page_of(code: str) -> str:
    """Return the address of the page that explains a code."""
    return f"{PAGES}/{code}.md"
