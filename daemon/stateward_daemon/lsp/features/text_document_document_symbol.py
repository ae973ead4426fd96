"""`textDocument/documentSymbol`: sections and todos, as an outline."""

from __future__ import annotations

from collections import deque
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

from lsprotocol import types as lsp

from stateward_daemon.lsp.plain import Information, Location, Position, Range, Symbol, plain_range
from stateward_daemon.lsp.rows import shown_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_daemon.lsp.reading import Reading
    from stateward_daemon.lsp.rows import ShownRow
    from stateward_daemon.lsp.session import LspSession
    from stateward_engine.goals.sections import Heading

Symbols: TypeAlias = list[Symbol] | list[Information]

SECTION: Final = int(lsp.SymbolKind.Namespace)
ROW: Final = int(lsp.SymbolKind.Event)


def handle(session: LspSession, params: lsp.DocumentSymbolParams) -> Symbols:
    """Return the outline: nested for a client that can show it, else flat."""
    uri = params.text_document.uri
    reading = session.reading(uri)
    if reading is None:
        return []
    roots = outline(reading)
    return roots if session.client.nests_symbols else list(_flat(roots, uri, None))


def outline(reading: Reading) -> list[Symbol]:
    """Return the sections, each with its todos and the sections of lower level inside it."""
    roots: list[Symbol] = []
    # What symbols at a place go into: the sections around it, the outermost first, with their levels.
    around: list[tuple[int, Symbol, list[Symbol]]] = []
    siblings = roots
    headings = deque(reading.goal.headings)
    for row in chain(shown_rows(reading), [None]):
        while headings and (row is None or headings[0].at < row.line):
            heading = headings.popleft()
            section, children = _section(heading, reading)
            while around and around[-1][0] >= heading.level:
                _, closed, _ = around.pop()
                closed.range = Range(closed.range.start, section.range.start)
            (around[-1][2] if around else roots).append(section)
            around.append((heading.level, section, children))
            siblings = children
        if row is not None:
            siblings.append(_todo(row))
    return roots


def _section(heading: Heading, reading: Reading) -> tuple[Symbol, list[Symbol]]:
    children: list[Symbol] = []
    selection = plain_range(reading.range(heading.span))
    # To the end of the document, until another heading closes it.
    whole = plain_range(reading.range((heading.span[0], reading.goal.layout.offsets[-1])))
    return Symbol(heading.text, SECTION, whole, selection, children=children), children


def _todo(row: ShownRow) -> Symbol:
    selection = row.span
    whole = Range(selection.start, Position(row.last, row.last_width))
    # A symbol without a name is an error to some clients.
    return Symbol(row.title or row.todo_id, ROW, whole, selection, f"{row.todo_id} {row.status}")


def _flat(symbols: list[Symbol], uri: str, container: str | None) -> Iterator[Information]:
    for symbol in symbols:
        yield Information(symbol.name, symbol.kind, Location(uri, symbol.range), container)
        yield from _flat(symbol.children or [], uri, symbol.name)
