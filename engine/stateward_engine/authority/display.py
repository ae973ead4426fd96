"""The display of a promoted goal: whether the sections of its document are safe to replace, and how it stands. Pure.

People write into documents. What the authority has shown can be replaced, because it can be shown again; what somebody
wrote there is in no ledger, so it stays until they have put it elsewhere.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from stateward_engine.authority.delivery_failures import NotReplaceable
from stateward_engine.authority.goal import Goal, display_of, find_goal
from stateward_engine.errors import EngineError, UnsafeDocument
from stateward_engine.goals.compact import compact
from stateward_engine.goals.digests import text_sha256
from stateward_engine.goals.document import read_bytes
from stateward_engine.goals.lines import decode_document
from stateward_engine.goals.owned import Owned, survey
from stateward_engine.goals.promoted_problems import lineage_of
from stateward_engine.goals.records import admit
from stateward_engine.goals.render import Rendering, render, replacements, sections_of
from stateward_engine.goals.template import encode_frontmatter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stateward_engine.goals.lines import Span
    from stateward_engine.goals.owned import Survey
    from stateward_engine.goals.regions import Region
    from stateward_engine.state.view import Basis

EDITED: Final = (
    "somebody wrote into a todo section; move notes below its end marker, make changes of todos through the authority, "
    "and take back the rest, or delete the whole section: it comes back as it should be"
)
# Enough to find the place; whoever rewrote a section knows that.
LINES_MAX: Final = 100


class Snapshot(NamedTuple):
    """What is known of a goal and its display at one moment.

    Attributes:
        goal: The goal, with all of its records.
        delivered: By role, the digests of its section as it was to be delivered last, as it stood then, and, as far as
            that is kept, as it was delivered before.
    """

    goal: Goal
    delivered: Mapping[str, set[str]]


def take_snapshot(basis: Basis, goal_id: str) -> Snapshot:
    """Return what is known of a goal and its display.

    Raises:
        Refused: `goal_not_registered`.
        CorruptStore: One of its streams is damaged.
    """
    goal, display = find_goal(basis, goal_id), basis.scope(display_of(goal_id))
    delivered: dict[str, set[str]] = {}
    for planes in (display.planes, *(change.before for change in display.changes)):
        for plane in ("sections", "replaced"):
            for role, digest in cast("Mapping[str, str]", planes.get(plane, {})).items():
                delivered.setdefault(role, set()).add(digest)
    return Snapshot(goal, delivered)


def render_display(data: bytes, snapshot: Snapshot) -> Rendering:
    """Render the records of a goal onto its document, if nobody wrote into the sections.

    Args:
        data: The document.
        snapshot: What is to be shown.

    Raises:
        NotReplaceable: Somebody did.
        UnsafeDocument: The document is no UTF-8, damaged, or cannot take sections without guessing.
        RenderRejected: A record cannot be shown and read back.

    Source: authority.md section 5.
    """
    return _rendered(survey(decode_document(data)), snapshot)


def section_edits(text: str, snapshot: Snapshot) -> list[tuple[Span, str]]:
    """Return what has to be replaced in a text so that it shows the records of a goal: each section, where it differs.

    Raises:
        NotReplaceable, UnsafeDocument, RenderRejected: As for `render_display`.

    Source: store.md section 5, unsaved changes.
    """
    found = survey(text)
    owned, sections = found.owned, _rendered(found, snapshot).sections
    spans = [(owned.lines.start(region.first), owned.lines.start(region.end)) for region in owned.regions]
    edits = zip(spans, replacements(owned, sections), strict=True)
    return [(span, section) for span, section in edits if text[slice(*span)] != section]


def _rendered(found: Survey, snapshot: Snapshot) -> Rendering:
    if lines := edited_lines(found, snapshot):
        raise NotReplaceable(EDITED, "todo_projection_region_edited", lines)
    goal = snapshot.goal
    return render(found, goal.records.values(), goal.provider_revision, goal.declarations)


def state_of(data: bytes | None, snapshot: Snapshot) -> dict[str, object]:
    """Return how the display of a goal stands: its `state`, and with what is in the way its `reason_code` and `lines`.

    Args:
        data: The document; `None` for a file that is not there.
        snapshot: What it should show. The document of an unpromoted goal is its own authority.

    Source: authority.md section 2, `goal_status`.
    """
    if data is None:
        return {"state": "missing"}
    try:
        is_behind = snapshot.goal.promoted and render_display(data, snapshot).changed
        if not snapshot.goal.promoted and (refusal := read_bytes(data).refusal):
            raise refusal
    except NotReplaceable as edited:
        return {"state": "edited", "reason_code": edited.reason_code, "lines": edited.lines}
    except UnsafeDocument as unsafe:
        return {"state": "unsafe", "reason_code": unsafe.kind, "lines": [unsafe.line]}
    except EngineError as rejected:
        return {"state": "unsafe", "reason_code": rejected.facts.get("reason_code", rejected.category)}
    return {"state": "behind" if is_behind else "current"}


def recovery_document(goal_id: str) -> str:
    """Return the document on which the sections of a goal are rendered when its own is gone.

    Source: authority.md section 5, missing file.
    """
    return "\n".join(
        [
            "---",
            f"goal_id: {encode_frontmatter(goal_id)}",
            "---",
            "",
            "# Active Goal State",
            "",
            f"> The document of goal {goal_id} was missing. Its todo sections were rebuilt from the records of the",
            "> goal, which say nothing of its objective, its next action or notes: write those anew.",
            "",
            "## Agent Todo",
            "",
        ]
    )


# -- comparing -------------------------------------------------------------------------------------------------------


def edited_lines(found: Survey, snapshot: Snapshot) -> list[int]:
    """Return the numbers (from 1) of lines in todo sections that are not what was rendered, none if all is safe.

    A section is safe to replace when it is as it was delivered, or as a retained revision renders it. One that names no
    revision was never rendered: it is safe when every row has the id of a record and that record's text.

    Raises:
        UnsafeDocument: Nobody can say which lines belong to sections.

    Source: authority.md section 5.
    """
    owned = found.demand_regions()
    at = (line for region in owned.regions for line in _edited(owned, region, snapshot))
    return [line + 1 for line in islice(at, LINES_MAX)]


def rendered_digests(rendering: Rendering) -> dict[str, str]:
    """Return what `section_digests` finds in a document onto which nothing but the rendering was written."""
    return {role: _digest(section.lines) for role, section in rendering.sections.items()}


def section_digests(text: str) -> dict[str, str]:
    """Return the digest of each section as it stands in a document, by role.

    Raises:
        UnsafeDocument: As for `edited_lines`.
    """
    owned = survey(text).demand_regions()
    return {region.role: _digest(_lines_of(owned, region)) for region in owned.regions}


def _lines_of(owned: Owned, region: Region) -> list[str]:
    return owned.lines.texts[region.first : region.end]


def _digest(lines: Sequence[str]) -> str:
    # How lines end is not what they say, and editors change it for a whole document at once.
    return text_sha256("\n".join(lines))


def _edited(owned: Owned, region: Region, snapshot: Snapshot) -> list[int]:
    """Return the indices of the lines of one section that keep it from being replaced."""
    found = _lines_of(owned, region)
    if _digest(found) in snapshot.delivered.get(region.role, ()):
        return []
    at, lineage = lineage_of(owned.lines, region)
    if lineage is None:
        return _unknown_lines(owned, region, snapshot.goal)
    goal = next((then for then in retained(snapshot.goal) if then.provider_revision == lineage["revision"]), None)
    if goal is None:
        # Nobody knows any more what was shown there, so a changed box or word of metadata cannot be told.
        return _unknown_lines(owned, region, snapshot.goal) or [at]
    sections = sections_of(owned, admit(goal.records.values(), goal.declarations), goal.provider_revision)
    rendered = sections[region.role].lines if region.role in sections else ()
    return [region.first + line for line in _differing(found, rendered)]


def retained(goal: Goal) -> Iterator[Goal]:
    """Yield a promoted goal and its earlier states that are kept since it was promoted, the newest first."""
    yield goal
    stream = goal.stream
    for back, change in enumerate(reversed(stream.changes), start=1):
        then = Goal(goal.goal_id, stream._replace(planes=change.before, revision=stream.revision - back, changes=()))
        if not then.promoted:
            return
        yield then


def _unknown_lines(owned: Owned, region: Region, goal: Goal) -> list[int]:
    """Return the indices of the lines of a section that no record accounts for."""
    states = list(retained(goal))
    lines = owned.lines
    accounted = {region.first}
    for todo in owned.todos:
        if todo.region != region or todo.todo_id_source == "generated":
            continue
        records = [state.records[todo.todo_id] for state in states if todo.todo_id in state.records]
        if todo.full_text in {compact(record["text"]) for record in records}:
            accounted.update(range(lines.index_at(todo.extent[0]), lines.index_at(todo.extent[1] - 1) + 1))
    marked = range(region.first + 1, region.body), range(region.body_end, region.end)
    accounted.update(line for edge in marked if region.marked for line in edge)
    at, lineage = lineage_of(lines, region)
    if lineage is not None:
        accounted.add(at)
    return [line for line in range(region.first, region.end) if line not in accounted and lines.texts[line].strip()]


def _differing(found: Sequence[str], rendered: Sequence[str]) -> list[int]:
    """Return the indices of found lines that were not rendered; of one line where some are only gone or moved."""
    if list(found) == list(rendered):
        return []
    kept = Counter(rendered)
    strange = []
    for at, line in enumerate(found):
        if kept[line]:
            kept[line] -= 1
        else:
            strange.append(at)
    first = next(
        (at for at, pair in enumerate(zip(found, rendered, strict=False)) if pair[0] != pair[1]), len(found) - 1
    )
    return strange or [first]
