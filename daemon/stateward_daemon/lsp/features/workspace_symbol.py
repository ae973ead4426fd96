"""`workspace/symbol`: sections and todos of all goal documents at hand."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final, NamedTuple

from lsprotocol import types as lsp

from stateward_daemon.lsp.everywhere import known_documents
from stateward_engine.goals.sections import SECTION_LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stateward_daemon.lsp.everywhere import Known
    from stateward_daemon.lsp.session import LspSession
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.lines import Span
    from stateward_engine.goals.todos import Todo

# A person looks at the first dozens and types on.
SYMBOLS_MAX: Final = 256
QUERY_CHARACTERS_MAX: Final = 128


class _Match(NamedTuple):
    """A symbol: its name, what it is, and its place in a document."""

    known: Known
    name: str
    kind: lsp.SymbolKind
    span: Span


def handle(session: LspSession, params: lsp.WorkspaceSymbolParams) -> list[lsp.SymbolInformation]:
    """Return what has the characters of the query in their order; what has them in one piece comes first."""
    query = params.query[:QUERY_CHARACTERS_MAX].lower()
    known = list(known_documents(session))
    tests = (lambda text: query in text.lower(), _scattered(query))
    found: dict[tuple[str, Span], _Match] = {}
    for match in (match for wanted in tests for one in known for match in _matches(one, wanted)):
        found.setdefault((match.known.uri, match.span), match)
        if len(found) == SYMBOLS_MAX:
            break
    return [_symbol(match) for match in found.values()]


def _scattered(query: str) -> Callable[[str], object]:
    """Return the test whether a text has the characters of a query in their order."""
    # Each character is looked for once, so no text makes this slow.
    pattern = re.compile("".join(f"[^{re.escape(char)}]*+{re.escape(char)}" for char in query))
    return lambda text: pattern.match(text.lower())


def _matches(known: Known, wanted: Callable[[str], object]) -> Iterator[_Match]:
    document = known.reading.goal
    for heading in document.headings:
        if heading.text and wanted(heading.text):
            yield _Match(known, heading.text, lsp.SymbolKind.Namespace, heading.span)
    for todo in document.todos_where(lambda name, text: wanted(name) or wanted(text)):
        yield _Match(known, _told(todo), lsp.SymbolKind.Event, todo.span)


def _told(todo: Todo) -> str:
    # Some clients show nothing but the name, and some look for the query in nothing else.
    title = todo.text if todo.priority is None else todo.priority.title
    return f"{title} ({todo.todo_id}, {todo.status})".lstrip()


def _symbol(match: _Match) -> lsp.SymbolInformation:
    reading = match.known.reading
    location = lsp.Location(match.known.uri, reading.range(match.span))
    container = _section_of(reading.goal, match.span) or match.known.path.parent.name
    return lsp.SymbolInformation(location, match.name, match.kind, container_name=container)


def _section_of(document: GoalDocument, span: Span) -> str:
    """Return the document's title, and the section that holds a place."""
    above = document.headings[: bisect_left(document.headings, span[0], key=lambda heading: heading.span[0])]
    title = next((heading.text for heading in above if heading.level < SECTION_LEVEL), "")
    section = next((heading.text for heading in reversed(above) if heading.level == SECTION_LEVEL), "")
    return ": ".join(filter(None, (title, section)))
