"""Params and results of the methods that take or give canonical todo records."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from stateward_protocol.messages import Params, Result

Record: TypeAlias = Annotated[Any, Meta(description="canonical records")]
Declarations: TypeAlias = Annotated[dict[str, Any], Meta(description="declarations by todo id")]


class GoalRenderParams(Params, frozen=True):
    """What to render: all canonical records of a goal, onto the file at `path` or onto `text`.

    `provider_revision` is the revision that they are of, a word of letters, digits and `_.:-`.
    `private_validation` has the validation declarations of todos that require one, by todo id.
    """

    records: list[Record]
    provider_revision: str
    path: str | None = None
    text: str | None = None
    private_validation: Declarations = field(default_factory=dict)


class GoalRenderResult(Result, frozen=True):
    """A document with its records in place; digests are SHA-256 in hex, `section_record_sha256` by role."""

    markdown: str
    changed: bool
    source_sha256: str
    rendered_sha256: str
    narrative_sha256: str
    provider_revision: str
    todo_count: int
    section_record_sha256: dict[str, str]
