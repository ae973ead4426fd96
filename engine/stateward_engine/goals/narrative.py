"""What a document says besides its todos: what is compared when its goal is registered again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stateward_engine.goals.digests import text_sha256
from stateward_engine.goals.frontmatter import read_frontmatter
from stateward_engine.goals.lines import mark_of
from stateward_engine.goals.passages import PROJECTION_MARKER, REGION_MARKER
from stateward_engine.goals.sections import SECTION_LEVEL

if TYPE_CHECKING:
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.json_value import Json

# It says when the document was written, which is no part of what it says.
_UPDATED_AT: Final = "updated_at"


def registered_content(document: GoalDocument) -> dict[str, Json]:
    """Return the metadata, the objective and a digest of the narrative.

    The objective counts by what it says, so one that is quoted and one in the legacy form are equal. Frontmatter counts
    by its values, todo regions not at all, and every other line as it is.

    Raises:
        UnsafeDocument: The document cannot be read without guessing.

    Source: authority.md section 2; goal-documents 1.1.
    """
    if document.refusal is not None:
        raise document.refusal
    lines = document.lines
    mark = len(mark_of(document.text))
    apart = set(range(read_frontmatter(document.text, mark).line_count)) | set(_objective_lines(document))
    for todo in document.todos:
        apart |= set(range(lines.index_at(todo.extent[0]), lines.index_at(todo.extent[1] - 1) + 1))
    for region in document.regions:
        for line in range(region.first, region.end):
            if _is_frame(lines.texts[line], is_heading=line == region.first):
                apart.add(line)
    texts = [text for line, text in enumerate(lines.texts) if line not in apart]
    return {
        "metadata": {key: value for key, value in document.frontmatter.items() if key != _UPDATED_AT},
        "objective": document.objective or "",
        "narrative_sha256": text_sha256("\n".join(texts)),
    }


def _is_frame(text: str, *, is_heading: bool) -> bool:
    """Tell whether a line of a todo region is there for the todos: its heading, a marker or a blank line."""
    return is_heading or not text.strip() or text.startswith((REGION_MARKER, PROJECTION_MARKER))


def _objective_lines(document: GoalDocument) -> range:
    """Return the lines of the Objective section, without its heading."""
    headings = [heading for heading in document.headings if heading.level >= SECTION_LEVEL and heading.text]
    for at, heading in enumerate(headings):
        if heading.text.lower() == "objective":
            following = headings[at + 1].at if at + 1 < len(headings) else len(document.lines)
            return range(heading.at + 1, following)
    return range(0)
