"""What the document of a promoted goal shows that its authority does not say: old displays, edits by hand, bare claims.

The records are the authority's, so they are given; here they are compared with the text.
Source: goal-documents 4.2 and section 5.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from stateward_engine.goals.passages import PROJECTION_MARKER
from stateward_engine.goals.problems import Problem, problem
from stateward_engine.goals.reference_problems import value_span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.lines import Lines
    from stateward_engine.goals.regions import Region, Role

LINEAGE: Final = re.compile(
    rf"{PROJECTION_MARKER}role=(?P<role>user|agent|archive) provider_revision=(?P<revision>[A-Za-z0-9_.:-]+) "
    r"records_sha256=(?P<digest>[0-9a-f]{64}) -->"
)

LeaseState: TypeAlias = Literal["active", "expired"]


class Head(NamedTuple):
    """What the authority has now.

    Attributes:
        revision: Of its records.
        digests: The `records_sha256` of each section, as it would be rendered now; of those that somebody may have
            changed, because in every other one it is what its revision says.
    """

    revision: str
    digests: Mapping[Role, str]


class Lease(NamedTuple):
    """Who may work on a todo, and whether still."""

    holder: str
    state: LeaseState


def display_problems(document: GoalDocument, head: Head, edited: Iterable[int]) -> Iterator[Problem]:
    """Yield what the marked regions of a document show that they should not.

    Args:
        document: What the text says.
        head: What the authority has now.
        edited: The numbers (from 1) of the lines in regions that are not what was rendered.
    """
    lines = document.lines
    for region in document.regions:
        at, lineage = lineage_of(lines, region)
        if lineage is None:
            continue
        shown = lineage["revision"], lineage["digest"]
        if shown != (head.revision, head.digests.get(region.role, lineage["digest"])):
            message = (
                f"this section shows revision {lineage['revision']}, and the head is {head.revision}; project it again"
                if lineage["revision"] != head.revision
                else "the records of this section are others than those of its revision; project it again"
            )
            yield problem("stale_projection", message, lines.span(at))
    for number in edited:
        message = "this line differs from what was rendered; take the change back, or make it through the authority"
        yield problem("edited_projection", message, lines.span(number - 1))


def lease_problems(document: GoalDocument, leases: Mapping[str, Lease]) -> Iterator[Problem]:
    """Yield the claims of active rows that no lease backs; of a goal in hard-lease mode only.

    Args:
        document: What the text says.
        leases: By todo id, the lease that is kept for it, run out or not.
    """
    for todo in document.todos:
        claim = todo.fields.get("claimed_by")
        if claim is None or todo.archived or todo.done:
            continue
        lease = leases.get(todo.todo_id)
        span = value_span(document.lines, todo, "claimed_by")
        if lease is None or lease.holder != claim:
            message = f"{claim} claims this row without a lease; acquire one before work begins"
            yield problem("claim_without_lease", message, span)
        elif lease.state == "expired":
            message = f"the lease of {claim} has run out; renew it, or let somebody else claim the row"
            yield problem("expired_lease", message, span)


def lineage_of(lines: Lines, region: Region) -> tuple[int, re.Match[str] | None]:
    """Return the index of a region's lineage marker and what it says, `None` where there is none."""
    for at in range(region.body, region.body_end):
        if match := LINEAGE.fullmatch(lines.texts[at]):
            return at, match
    return region.first, None
