"""`textDocument/documentSymbol`: sections and todos, as an outline."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from lsprotocol import types as lsp

from stateward_engine.goals.sections import Heading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_daemon.lsp.reading import Reading
    from stateward_daemon.lsp.session import LspSession
    from stateward_engine.goals.todos import Todo

Symbols: TypeAlias = list[lsp.DocumentSymbol] | list[lsp.SymbolInformation]


def handle(session: LspSession, params: lsp.DocumentSymbolParams) -> Symbols:
    """Return the outline: nested for a client that can show it, else flat."""
    uri = params.text_document.uri
    reading = session.reading(uri)
    if reading is None:
        return []
    roots = outline(reading)
    return roots if session.client.nests_symbols else list(_flat(roots, uri, None))


def outline(reading: Reading) -> list[lsp.DocumentSymbol]:
    """Return the sections, each with its todos and the sections of lower level inside it."""
    roots: list[lsp.DocumentSymbol] = []
    # The sections that are open at a place, the outermost first, with their levels.
    around: list[tuple[int, lsp.DocumentSymbol]] = []
    items: list[Heading | Todo] = [*reading.goal.headings, *reading.goal.todos]
    for item in sorted(items, key=lambda item: item.span):
        if isinstance(item, Heading):
            while around and around[-1][0] >= item.level:
                around.pop()[1].range.end = reading.range(item.span).start
        siblings = _children(around[-1][1]) if around else roots
        siblings.append(_symbol(item, reading))
        if isinstance(item, Heading):
            around.append((item.level, siblings[-1]))
    return roots


def _symbol(item: Heading | Todo, reading: Reading) -> lsp.DocumentSymbol:
    selection = reading.range(item.span)
    if isinstance(item, Heading):
        # To the end of the document, until another heading closes it.
        whole = reading.range((item.span[0], reading.goal.layout.offsets[-1]))
        return lsp.DocumentSymbol(item.text, lsp.SymbolKind.Namespace, whole, selection, children=[])
    detail = f"{item.todo_id} {item.status}"
    whole = reading.range(item.extent)
    return lsp.DocumentSymbol(_title(item), lsp.SymbolKind.Event, whole, selection, detail=detail)


def _title(todo: Todo) -> str:
    # A symbol without a name is an error to some clients.
    title = todo.text if todo.priority is None else todo.priority.title
    return title or todo.todo_id


def _children(symbol: lsp.DocumentSymbol) -> list[lsp.DocumentSymbol]:
    assert isinstance(symbol.children, list)  # noqa: S101 - sections are made with a list of children
    return symbol.children


def _flat(symbols: list[lsp.DocumentSymbol], uri: str, container: str | None) -> Iterator[lsp.SymbolInformation]:
    for symbol in symbols:
        yield lsp.SymbolInformation(lsp.Location(uri, symbol.range), symbol.name, symbol.kind, container_name=container)
        yield from _flat(list(symbol.children or ()), uri, symbol.name)
