"""The section renderer: canonical records onto a document, with every byte outside of its sections as it was.

What it returns has been read back: no write has to trust the writer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward_engine.errors import InvalidRequest, RenderRejected, UnsafeDocument
from stateward_engine.goals.contract import WITHOUT_MARKDOWN
from stateward_engine.goals.digests import text_sha256, values_sha256
from stateward_engine.goals.owned import Owned, Survey, read_owned, survey
from stateward_engine.goals.parity import check_parity
from stateward_engine.goals.passages import PROJECTION_MARKER, SECTION_START
from stateward_engine.goals.records import Record, admit
from stateward_engine.goals.regions import Role, marker
from stateward_engine.goals.todo_codec import row_lines
from stateward_engine.goals.validation import declared_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# In the order of parity, and of sections that stand in one place.
HEADINGS: Final[Mapping[Role, str]] = {
    "user": "User Todo / Owner Review Reading Queue",
    "agent": "Agent Todo",
    "archive": "Completed Work Archive",
}
PROVIDER_REVISION: Final = re.compile(r"[A-Za-z0-9_.:-]+")
# Behind every imported record.
INDEX_WITHOUT_PLACE: Final = 2**31 - 1


class Section(NamedTuple):
    """One section to render.

    Attributes:
        role: Whose todos, or the archive.
        records: In rendering order.
        records_sha256: Digest of what is stored of them.
        lines: Without terminators.
    """

    role: Role
    records: tuple[Record, ...]
    records_sha256: str
    lines: tuple[str, ...]


class Rendering(NamedTuple):
    """A document with its records in place.

    Attributes:
        markdown: The whole text.
        changed: Whether it differs from the source.
        source_sha256: Digest of the source; like the next two, of UTF-8 bytes.
        rendered_sha256: Digest of `markdown`.
        narrative_sha256: Digest of all that is outside of the sections, the same before and after.
        provider_revision: Which revision the sections name.
        todo_count: How many records there are, archived ones included.
        sections: What stands in the document now, by role.
    """

    markdown: str
    changed: bool
    source_sha256: str
    rendered_sha256: str
    narrative_sha256: str
    provider_revision: str
    todo_count: int
    sections: Mapping[Role, Section]

    @property
    def section_record_sha256(self) -> dict[str, str]:
        """Digest of the records of each section, by role."""
        return {role: section.records_sha256 for role, section in self.sections.items()}


def render(
    source: str | Survey,
    records: Iterable[object],
    provider_revision: str,
    declarations: Mapping[str, object] | None = None,
) -> Rendering:
    """Render canonical records onto a document. Nothing is written, and what cannot be proved is refused.

    Args:
        source: The document as `decode_document` gives it, or what somebody has found in it already.
        records: All records of the goal, archived ones included, as decoded from JSON.
        provider_revision: The revision that they are of.
        declarations: Private validation declarations by todo id.

    Raises:
        InvalidRequest: The revision is no word.
        UnsafeDocument: The document cannot take sections without guessing.
        RenderRejected: A record cannot be shown and read back.

    Source: goal-documents section 4.
    """
    if not PROVIDER_REVISION.fullmatch(provider_revision):
        raise InvalidRequest(
            "a provider revision is made of letters, digits and _ . : -",
            path="$.params.provider_revision",
            wanted=PROVIDER_REVISION.pattern,
            example='{"provider_revision": "file:store-1:42"}',
        )
    found = survey(source) if isinstance(source, str) else source
    owned = found.demand_renderable()
    text = owned.lines.text
    admitted = admit(records, declarations or {})
    sections = sections_of(owned, admitted, provider_revision)
    markdown = _placed(owned, sections)
    prove(owned, sections, markdown)
    return Rendering(
        markdown=markdown,
        changed=markdown != text,
        source_sha256=text_sha256(text),
        rendered_sha256=text_sha256(markdown),
        narrative_sha256=text_sha256("".join(owned.narrative())),
        provider_revision=provider_revision,
        todo_count=len(admitted),
        sections=sections,
    )


def prove(owned: Owned, sections: Mapping[Role, Section], markdown: str) -> None:
    """Refuse a rendering that lost narrative, does not read as its records, or would come out otherwise next time.

    Raises:
        RenderRejected: `unsafe_rendering`, `narrative_changed`, `parity_mismatch` or `not_idempotent`.

    Source: goal-documents 4.4.
    """
    try:
        rendered = read_owned(markdown)
    except UnsafeDocument as fault:
        message = f"the rendered document could not be read again: {fault}"
        raise RenderRejected(message, kind="unsafe_rendering") from None
    if "".join(rendered.narrative()) != "".join(owned.narrative()):
        raise RenderRejected("text outside of the sections would change", kind="narrative_changed")
    for role, section in sections.items():
        todos = (todo for todo in rendered.todos if todo.region.role == role)
        check_parity(HEADINGS[role], section.records, todos)
    if _placed(rendered, sections) != markdown:
        raise RenderRejected("rendering once more would change the document again", kind="not_idempotent")


# -- sections --------------------------------------------------------------------------------------------------------


def sections_of(owned: Owned, records: Iterable[Record], provider_revision: str) -> dict[Role, Section]:
    """Return the sections to render, in the order of `HEADINGS`.

    Source: goal-documents 4.2.
    """
    groups: dict[Role, list[Record]] = {role: [] for role in HEADINGS}
    for record in sorted(records, key=_rendering_order):
        groups["archive" if record.archived else record.fields["role"]].append(record)
    if not groups["archive"] and all(region.role != "archive" for region in owned.regions):
        del groups["archive"]
    return {role: _section(role, tuple(group), provider_revision) for role, group in groups.items()}


def _rendering_order(record: Record) -> tuple[int, str]:
    return record.fields.get("index", INDEX_WITHOUT_PLACE), record.fields["todo_id"]


def _section(role: Role, records: tuple[Record, ...], provider_revision: str) -> Section:
    digest = values_sha256(record.stored for record in records)
    lines = [
        SECTION_START + HEADINGS[role],
        marker(role, "begin"),
        f"{PROJECTION_MARKER}role={role} provider_revision={provider_revision} records_sha256={digest} -->",
        "",
    ]
    for record in records:
        lines += _row(record)
    return Section(role, records, digest, (*lines, marker(role, "end")))


def _row(record: Record) -> tuple[str, str]:
    declared = declared_fields(record.declaration) if record.declaration else {}
    # An active section says whose todos it has; the archive has those of both.
    unwritten = WITHOUT_MARKDOWN if record.archived else {*WITHOUT_MARKDOWN, "role"}
    fields = {key: value for key, value in record.fields.items() if key not in unwritten}
    return row_lines(record.fields["status"], record.fields["text"], {**fields, **declared})


# -- placement -------------------------------------------------------------------------------------------------------


def newline_of(source: str) -> str:
    """Return what ends the lines that are rendered onto a document."""
    return "\r\n" if "\r\n" in source else "\n"


def replacements(owned: Owned, sections: Mapping[Role, Section]) -> list[str]:
    """Return what stands in the place of each region once the sections are rendered.

    Source: goal-documents 4.2 and 4.3.
    """
    newline = newline_of(owned.lines.text)
    return [
        "".join(line + newline for role in place for line in sections[role].lines) for place in _places(owned, sections)
    ]


def _placed(owned: Owned, sections: Mapping[Role, Section]) -> str:
    """Return the document with each section in the place of its region, or else in the place that is due to it."""
    first, *others = owned.narrative()
    pieces = zip(replacements(owned, sections), others, strict=True)
    return "".join((first, *(piece for pair in pieces for piece in pair)))


def _places(owned: Owned, sections: Mapping[Role, Section]) -> list[list[Role]]:
    """Return which sections stand where each region was, in order."""
    places: list[list[Role]] = [[region.role] for region in owned.regions]
    there = {region.role for region in owned.regions}
    if "user" not in there:
        places[0].insert(0, "user")
    if "agent" not in there:
        place = next(place for place in places if "user" in place)
        place.insert(place.index("user") + 1, "agent")
    if "archive" in sections.keys() - there:
        places[-1].append("archive")
    return places
