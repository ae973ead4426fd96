"""Regions: the line ranges that hold todos, and the rules by which a damaged document is refused.

A region starts at a level-two heading. It is *marked* when the line below the heading is its begin marker; then it is
owned by the machine, ends at its end marker and holds only generated lines. Damage is told, never guessed around.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

from stateward_engine.goals.passages import PROJECTION_MARKER, REGION_MARKER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_engine.goals.layout import Layout

Role: TypeAlias = Literal["user", "agent", "archive"]

STRICT_HEADINGS: Final[dict[str, Role]] = {
    "user todo": "user",
    "user todo / owner review reading queue": "user",
    "owner review reading queue": "user",
    "owner reading queue": "user",
    "agent todo": "agent",
    "codex todo": "agent",
    "project agent todo": "agent",
    "completed work archive": "archive",
}
# The kind of fault that a line in a marked region is which no renderer generates.
FOREIGN_CONTENT: Final = "foreign_content_in_marked_region"
# Looked for anywhere in a heading, the archive first: "Agent Todo Archive" is history.
LEGACY_HEADINGS: Final[tuple[tuple[Role, tuple[str, ...]], ...]] = (
    (
        "archive",
        ("todo archive", "work archive", "completed archive", "completed work", "完成归档", "待办归档"),
    ),
    ("user", ("user todo", "owner review reading queue", "owner reading queue")),
    ("agent", ("agent todo", "codex todo")),
)


class Region(NamedTuple):
    """One range of lines that holds todos. All indices count from 0, and ends are exclusive.

    Attributes:
        role: Whose todos.
        heading: Text of its heading, stripped.
        marked: Whether markers bound it.
        first: Index of the heading.
        body: Index of the first line below the heading and the begin marker.
        body_end: End of the lines that can hold rows.
        end: End of the region; the end marker of a marked one is its last line.
    """

    role: Role
    heading: str
    marked: bool
    first: int
    body: int
    body_end: int
    end: int


class Fault(NamedTuple):
    """One reason to refuse a document: its kind, the index of the line to look at, and what to do."""

    kind: str
    at: int
    message: str


class Extent(NamedTuple):
    """The passages of one region, by their indices: the region ends in front of the passage at `end`.

    Attributes:
        first: The passage that its heading begins.
        body: The first passage that can hold rows.
        end: The passage behind the last one that can hold rows.
        cut: How many lines of that last one can; `None` for all.
    """

    first: int
    body: int
    end: int
    cut: int | None = None


class RegionScan(NamedTuple):
    """Regions in document order with their passages, and the faults in the order in which they were found."""

    regions: tuple[Region, ...]
    extents: tuple[Extent, ...]
    faults: tuple[Fault, ...]


def find_regions(layout: Layout) -> RegionScan:
    """Return the regions that readers and editors use.

    Where any visible marker stands, in its place or not, the strict scan decides: a damaged marked region is never read
    again as an unmarked one. Without a marker every heading that sounds like todos opens a section.

    Source: goal-documents 2.3.
    """
    # Without a visible marker no region can be marked, and no rule of the strict scan can be broken.
    if any(passage.marker is not None for _, passage in layout.mixed_passages()):
        return scan_strictly(layout)
    return scan_by_headings(layout)


def scan_strictly(layout: Layout) -> RegionScan:
    """Return the marked and unmarked regions below the exact headings, as the renderer owns them, and every fault.

    Source: goal-documents 2.3, strict scan.
    """
    passages, starts = layout.passages, layout.starts
    regions: list[Region] = []
    extents: list[Extent] = []
    faults: list[Fault] = []
    behind = 0
    for index in layout.mixed:
        if index < behind:
            continue
        role = STRICT_HEADINGS.get((passages[index].section or "").lower())
        if role is None:
            if found := passages[index].marker:
                faults.append(_orphan(starts[index], found))
            continue
        following = passages[index + 1] if index + 1 < len(passages) else None
        marked = following is not None and passages[index].line_count == 1 and following.marker == marker(role, "begin")
        scan = (_scan_marked if marked else _scan_unmarked)(layout, index, role)
        regions.append(scan.region)
        extents.append(scan.extent)
        faults += scan.faults
        behind = scan.next
    return RegionScan(tuple(regions), tuple(extents), tuple(faults))


def marker(role: Role, edge: Literal["begin", "end"]) -> str:
    """Return the whole line that begins or ends a marked region.

    Source: goal-documents 2.2.
    """
    return f"{REGION_MARKER}role={role} {edge} -->"


def is_marker(text: str) -> bool:
    """Whether a line holds the text of a marker, in its place or not."""
    return REGION_MARKER in text or PROJECTION_MARKER in text


class _Found(NamedTuple):
    """One region, its passages, its faults, and the index of the passage at which the scan goes on."""

    region: Region
    extent: Extent
    faults: list[Fault]
    next: int


def _mixed_from(layout: Layout, first: int) -> Iterator[int]:
    return islice(layout.mixed, bisect_left(layout.mixed, first), None)


def _scan_marked(layout: Layout, first: int, role: Role) -> _Found:
    passages, starts = layout.passages, layout.starts
    heading, own_end = passages[first].section or "", marker(role, "end")
    # Behind the heading and the begin marker.
    body = starts[first] + 2
    faults: list[Fault] = []
    end = len(passages)
    for index in _mixed_from(layout, first + 1):
        passage = passages[index]
        if index > first + 1:
            if passage.marker == own_end:
                at = starts[index]
                region = Region(role, heading, True, starts[first], body, at, at + 1)
                return _Found(region, Extent(first, first + 1, index), faults, index + 1)
            if passage.section is not None:
                end = index
                break
            if passage.marker is not None:
                faults.append(_misplaced(starts[index], role, marked=True))
        faults += [_foreign(starts[index] + loose.line, role) for loose in passage.loose]
    # Where a region ends nowhere, nobody can say which lines are foreign to it.
    faults = [fault for fault in faults if fault.kind != FOREIGN_CONTENT]
    region = Region(role, heading, True, starts[first], body, starts[end], starts[end])
    return _Found(region, Extent(first, first + 1, end), [*faults, _unterminated(starts[first] + 1, role)], end)


def _scan_unmarked(layout: Layout, first: int, role: Role) -> _Found:
    passages, starts = layout.passages, layout.starts
    heading = passages[first].section or ""
    for index in _mixed_from(layout, first):
        passage = passages[index]
        if index > first and passage.marker is not None:
            # It belongs to the region as its last line, so that it is not told again as an orphan.
            at = starts[index]
            region = Region(role, heading, False, starts[first], starts[first] + 1, at, at + 1)
            return _Found(region, Extent(first, first, index), [_misplaced(at, role, marked=False)], index + 1)
        end = next((loose.line for loose in passage.loose if not loose.continues), None)
        if index > first and passage.section is not None:
            end = 0
        if end is not None:
            at = starts[index] + end
            region = Region(role, heading, False, starts[first], starts[first] + 1, at, at)
            return _Found(region, Extent(first, first, index + bool(end), end or None), [], index + bool(end))
    at, end = starts[-1], len(passages)
    return _Found(
        Region(role, heading, False, starts[first], starts[first] + 1, at, at), Extent(first, first, end), [], end
    )


def scan_by_headings(layout: Layout) -> RegionScan:
    """Return the regions below every heading that sounds like todos, up to the next heading, whatever markers say.

    Source: goal-documents 2.3, legacy.
    """
    passages, starts = layout.passages, layout.starts
    sections = [index for index in layout.mixed if passages[index].section is not None]
    ends = [*sections[1:], len(passages)]
    regions, extents = [], []
    for first, end in zip(sections, ends, strict=False):
        heading = passages[first].section or ""
        if role := _legacy_role(heading.lower()):
            regions.append(Region(role, heading, False, starts[first], starts[first] + 1, starts[end], starts[end]))
            extents.append(Extent(first, first, end))
    return RegionScan(tuple(regions), tuple(extents), ())


def _legacy_role(heading: str) -> Role | None:
    matches = (role for role, fragments in LEGACY_HEADINGS if any(fragment in heading for fragment in fragments))
    return next(matches, None)


def _orphan(index: int, found: str) -> Fault:
    # One that is misspelt may name nobody.
    role = next((f"{role} " for role in get_args(Role) if f"role={role} " in found), "")
    message = (
        f"this {role}region marker stands outside of any todo section; remove it, or put it back below its heading"
    )
    return Fault("orphan_region_marker", index, message)


def _misplaced(index: int, role: Role, *, marked: bool) -> Fault:
    wanted = (
        f"`{marker(role, 'end')}` alone" if marked else "a begin marker on the line below the heading, or no marker"
    )
    message = f"this marker does not belong in the {role} section; expected {wanted}"
    return Fault("nested_or_mismatched_region_marker", index, message)


def _unterminated(index: int, role: Role) -> Fault:
    message = (
        f"the {role} region that begins here has no end before the next section; "
        f"put `{marker(role, 'end')}` below its last row"
    )
    return Fault("unterminated_region", index, message)


def _foreign(index: int, role: Role) -> Fault:
    message = f"this line is no todo row, and the marked {role} region holds nothing else; move it below the end marker"
    return Fault(FOREIGN_CONTENT, index, message)
