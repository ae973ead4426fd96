"""What is wrong with the document of a goal, once its authority is known as well. Pure.

Source: goal-documents section 5, authority.md section 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_engine.authority.display import edited_lines
from stateward_engine.authority.leases import is_live, retained
from stateward_engine.errors import EngineError
from stateward_engine.goals.codes import CODES
from stateward_engine.goals.owned import survey
from stateward_engine.goals.promoted_problems import Head, Lease, display_problems, lease_problems
from stateward_engine.goals.records import admit
from stateward_engine.goals.regions import FOREIGN_CONTENT
from stateward_engine.goals.render import sections_of
from stateward_engine.goals.suppression import unsuppressed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from stateward_engine.authority.display import Snapshot
    from stateward_engine.authority.goal import Goal
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.owned import Owned
    from stateward_engine.goals.problems import Problem
    from stateward_engine.goals.regions import Role
    from stateward_engine.goals.render import Section
    from stateward_engine.goals.todos import Todo


def shown_problems(document: GoalDocument, snapshot: Snapshot, now: str) -> Iterator[Problem]:
    """Yield what is wrong with the document of a goal: its own problems, and those that only its authority can tell.

    Args:
        document: What the text says.
        snapshot: What is known of the goal and its display.
        now: The time to judge leases by: `Goal.now`.
    """
    goal = snapshot.goal
    if not goal.promoted:
        yield from document.problems
        return
    yield from _without_edits_of_sections(document)
    found = _display_problems(document, snapshot)
    if goal.needs_leases:
        found += lease_problems(document, _leases(goal, now))
    yield from unsuppressed(found, document.layout.ignored(), document.layout.line_at)


def typed_rows(document: GoalDocument, goal: Goal) -> list[Todo]:
    """Return the open rows of a promoted goal's document that no record accounts for: somebody typed them there.

    There are none in a document that is damaged so that nobody knows which lines are in a section.
    """
    refused = {found.code for found in document.problems if CODES[found.code].refuses}
    if not goal.promoted or refused - {FOREIGN_CONTENT}:
        return []
    return [
        todo
        for todo in document.todos
        if todo.status == "open" and not todo.archived and todo.todo_id not in goal.records
    ]


def _display_problems(document: GoalDocument, snapshot: Snapshot) -> list[Problem]:
    goal = snapshot.goal
    try:
        found = survey(document.text)
        edited = edited_lines(found, snapshot)
        # Rendering all of a long goal takes long, and where nobody has edited a line, nobody has edited a digest.
        sections = _sections(found.demand_regions(), goal) if edited else {}
    except EngineError:
        # Where its sections are, nobody can say; the problems of the document itself tell why.
        return []
    head = Head(goal.provider_revision, {role: section.records_sha256 for role, section in sections.items()})
    return list(display_problems(document, head, edited))


def _sections(owned: Owned, goal: Goal) -> Mapping[Role, Section]:
    return sections_of(owned, admit(goal.records.values(), goal.declarations), goal.provider_revision)


def _leases(goal: Goal, now: str) -> dict[str, Lease]:
    kept = {todo_id: lease for todo_id in goal.leases if (lease := retained(goal, todo_id)) is not None}
    return {
        todo_id: Lease(lease["owner"], "active" if is_live(lease, now) else "expired")
        for todo_id, lease in kept.items()
    }


def _without_edits_of_sections(document: GoalDocument) -> Iterable[Problem]:
    """Yield the problems of a document, without the fixes that would write into a section: that is the renderer's.

    What refuses a document is mended all the same, because nothing can be rendered onto it before.
    """
    lines = document.lines
    sections = [(lines.start(region.first), lines.start(region.end)) for region in document.regions]
    for found in document.problems:
        spans = [edit.span for edit in found.fix.edits] if found.fix else []
        inside = any(start < last and first <= end for start, end in spans for first, last in sections)
        yield found._replace(fix=None) if inside and not CODES[found.code].refuses else found
