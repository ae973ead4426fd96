"""Plain: the LSP types of answers that hold thousands of places.

pygls turns the objects of lsprotocol into JSON one attribute at a time, which takes seconds for the outline of a long
document. These are encoded as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lsprotocol import types as lsp


class Position(msgspec.Struct, frozen=True, gc=False):
    """A place: line, and code units in the encoding of the client, both from 0."""

    line: int
    character: int


class Range(msgspec.Struct, frozen=True, gc=False):
    """From one place up to another."""

    start: Position
    end: Position


def plain_range(found: lsp.Range) -> Range:
    """Return a range of lsprotocol as it is encoded."""
    return Range(Position(found.start.line, found.start.character), Position(found.end.line, found.end.character))


class Symbol(msgspec.Struct, gc=False, rename="camel", omit_defaults=True):
    """A `DocumentSymbol`."""

    name: str
    kind: int
    range: Range
    selection_range: Range
    detail: str | None = None
    children: list[Symbol] | None = None


class Location(msgspec.Struct, frozen=True):
    """A range in a document."""

    uri: str
    range: Range


class Information(msgspec.Struct, rename="camel", omit_defaults=True):
    """A `SymbolInformation`."""

    name: str
    kind: int
    location: Location
    container_name: str | None = None


class Command(msgspec.Struct, omit_defaults=True):
    """A title, the name of what it does, and the one object that this takes."""

    title: str
    command: str
    arguments: Sequence[object] | None = None


def plain_command(made: lsp.Command) -> Command:
    """Return a command of lsprotocol as it is encoded."""
    return Command(made.title, made.command, made.arguments)


class Lens(msgspec.Struct, frozen=True):
    """A `CodeLens`."""

    range: Range
    command: Command
