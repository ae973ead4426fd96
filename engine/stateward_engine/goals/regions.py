"""Regions: the line ranges that hold todos, and the rules by which a damaged document is refused.

A region starts at a level-two heading. It is *marked* when the line below the heading is its begin marker; then it is
owned by the machine, ends at its end marker and holds only generated lines. Damage is told, never guessed around.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from stateward_engine.goals.todo_codec import LineKind, MetadataLine, Reading, TaskLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stateward_engine.goals.lines import Lines
    from stateward_engine.goals.sections import Heading

Role: TypeAlias = Literal["user", "agent", "archive"]

SECTION_START: Final = "## "
REGION_MARKER: Final = "<!-- loopx:todo-region-v0 "
PROJECTION_MARKER: Final = "<!-- loopx:todo-section-projection-v0 "

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
# Looked for anywhere in a heading, the archive first: "Agent Todo Archive" is history.
LEGACY_HEADINGS: Final[tuple[tuple[Role, tuple[str, ...]], ...]] = (
    (
        "archive",
        ("todo archive", "work archive", "completed archive", "completed work", "完成归档", "待办归档"),
    ),
    ("user", ("user todo", "owner review reading queue", "owner reading queue")),
    ("agent", ("agent todo", "codex todo")),
)


@dataclass(frozen=True, slots=True)
class Region:
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


class RegionScan(NamedTuple):
    """Regions in document order, and the faults in the order in which they were found."""

    regions: tuple[Region, ...]
    faults: tuple[Fault, ...]


def find_regions(lines: Lines, readings: Sequence[Reading], headings: Iterable[Heading]) -> RegionScan:
    """Return the regions that readers and editors use.

    Where any visible marker stands, in its place or not, the strict scan decides: a damaged marked region is never read
    again as an unmarked one. Without a marker every heading that sounds like todos opens a section.
    Source: goal-documents 2.3.
    """
    # Without the text of a marker no region can be marked, and no rule of the strict scan can be broken.
    if REGION_MARKER in lines.text:
        scan = scan_strictly(lines, readings)
        if scan.faults or any(region.marked for region in scan.regions):
            return scan
    return RegionScan(_legacy_regions(lines, headings), ())


def scan_strictly(lines: Lines, readings: Sequence[Reading]) -> RegionScan:
    """Return the marked and unmarked regions below the exact headings, as the renderer owns them, and every fault.

    Source: goal-documents 2.3, strict scan.
    """
    regions: list[Region] = []
    faults: list[Fault] = []
    index = 0
    while index < len(lines):
        role = _strict_role(lines, readings, index)
        if role is None:
            if _is_visible_marker(lines, readings, index):
                faults.append(_orphan(index))
            index += 1
            continue
        marked = lines.texts[index + 1 : index + 2] == [marker(role, "begin")]
        region, found = (_scan_marked if marked else _scan_unmarked)(lines, readings, index, role)
        regions.append(region)
        faults += found
        index = region.end
    return RegionScan(tuple(regions), tuple(faults))


def marker(role: Role, edge: Literal["begin", "end"]) -> str:
    """Return the whole line that begins or ends a marked region.

    Source: goal-documents 2.2.
    """
    return f"{REGION_MARKER}role={role} {edge} -->"


def is_marker(text: str) -> bool:
    """Whether a line holds the text of a marker, in its place or not."""
    return REGION_MARKER in text or PROJECTION_MARKER in text


def _heading_text(line: str) -> str:
    return line[len(SECTION_START) :].strip()


def _strict_role(lines: Lines, readings: Sequence[Reading], index: int) -> Role | None:
    text = lines.texts[index]
    if not text.startswith(SECTION_START) or readings[index] is LineKind.HIDDEN:
        return None
    return STRICT_HEADINGS.get(_heading_text(text).lower())


def _is_visible_marker(lines: Lines, readings: Sequence[Reading], index: int) -> bool:
    return REGION_MARKER in lines.texts[index] and readings[index] is not LineKind.HIDDEN


def _is_generated(text: str, reading: Reading) -> bool:
    return (
        reading is LineKind.BLANK
        or isinstance(reading, TaskLine | MetadataLine)
        or (text.startswith(PROJECTION_MARKER) and reading is not LineKind.HIDDEN)
    )


def _scan_marked(lines: Lines, readings: Sequence[Reading], first: int, role: Role) -> tuple[Region, list[Fault]]:
    heading, own_end = _heading_text(lines.texts[first]), marker(role, "end")
    body = end = first + 2
    faults: list[Fault] = []
    for end in range(body, len(lines)):
        text, reading = lines.texts[end], readings[end]
        if reading is LineKind.HIDDEN:
            faults.append(_foreign(end, role))
        elif text == own_end:
            return Region(role, heading, True, first, body, end, end + 1), faults
        elif text.startswith(SECTION_START):
            break
        elif REGION_MARKER in text:
            faults.append(_misplaced(end, role, marked=True))
        elif not _is_generated(text, reading):
            faults.append(_foreign(end, role))
    else:
        end = len(lines)
    # Where a region ends nowhere, nobody can say which lines are foreign to it.
    faults = [fault for fault in faults if fault.kind != "foreign_content_in_marked_region"]
    return Region(role, heading, True, first, body, end, end), [*faults, _unterminated(first + 1, role)]


def _scan_unmarked(lines: Lines, readings: Sequence[Reading], first: int, role: Role) -> tuple[Region, list[Fault]]:
    heading = _heading_text(lines.texts[first])
    # Indented text continues a task as long as no blank line comes between.
    in_task = False
    end = first + 1
    while end < len(lines) and not _is_visible_marker(lines, readings, end):
        reading = readings[end]
        if not (_is_generated(lines.texts[end], reading) or (in_task and reading is LineKind.INDENTED)):
            break
        in_task = isinstance(reading, TaskLine) or (in_task and reading is not LineKind.BLANK)
        end += 1
    # A marker that stops an unmarked region belongs to it as its last line, so that it is not told again as an orphan.
    damaged = end < len(lines) and _is_visible_marker(lines, readings, end)
    region = Region(role, heading, False, first, first + 1, end, end + damaged)
    return region, [_misplaced(end, role, marked=False)] if damaged else []


def _legacy_regions(lines: Lines, headings: Iterable[Heading]) -> tuple[Region, ...]:
    sections = [heading for heading in headings if lines.texts[heading.at].startswith(SECTION_START)]
    ends = [*(section.at for section in sections[1:]), len(lines)]
    return tuple(
        Region(role, section.text, False, section.at, section.at + 1, end, end)
        for section, end in zip(sections, ends, strict=False)
        if (role := _legacy_role(section.text.lower()))
    )


def _legacy_role(heading: str) -> Role | None:
    matches = (role for role, fragments in LEGACY_HEADINGS if any(fragment in heading for fragment in fragments))
    return next(matches, None)


def _orphan(index: int) -> Fault:
    message = "this region marker stands outside of any todo section; remove it, or put it back below its heading"
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
    return Fault("foreign_content_in_marked_region", index, message)
