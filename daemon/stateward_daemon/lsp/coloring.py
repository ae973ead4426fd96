"""Coloring: which parts of a passage have a meaning that a theme can show, and how LSP counts them.

A passage is colored once; an edit leaves the numbers of nearly all passages as they are.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from lsprotocol import types as lsp

from stateward_daemon.lsp.by_passage import by_passage
from stateward_daemon.lsp.places import ids_in, state_paths_in
from stateward_daemon.positions import units_in
from stateward_engine.goals.fields import FIELDS, KEPT_TOKENS_MAX, Choice
from stateward_engine.goals.priority import PLAIN
from stateward_engine.goals.regions import is_marker
from stateward_engine.goals.row_problems import BOX
from stateward_engine.goals.todo_codec import INDENT, HeadingLine, TaskLine, read_line, tokens
from stateward_engine.goals.visible import COMMENT_START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_daemon.lsp.reading import Reading
    from stateward_daemon.positions import Encoding
    from stateward_engine.goals.document import GoalDocument
    from stateward_engine.goals.passages import Passage

# Standard types, so that themes know them. What each is for:
HEADING: Final = lsp.SemanticTokenTypes.Namespace
BOX_MARKER: Final = lsp.SemanticTokenTypes.Keyword
PRIORITY: Final = lsp.SemanticTokenTypes.Decorator
REGION_MARKER: Final = lsp.SemanticTokenTypes.Macro
KEY: Final = lsp.SemanticTokenTypes.Property
WORD: Final = lsp.SemanticTokenTypes.EnumMember
NUMBER: Final = lsp.SemanticTokenTypes.Number
TEXT: Final = lsp.SemanticTokenTypes.String
ID: Final = lsp.SemanticTokenTypes.Variable
STATE_PATH: Final = lsp.SemanticTokenTypes.Type

TYPES: Final = (HEADING, BOX_MARKER, PRIORITY, REGION_MARKER, KEY, WORD, NUMBER, TEXT, ID, STATE_PATH)
LEGEND: Final = lsp.SemanticTokensLegend(list(TYPES), [lsp.SemanticTokenModifiers.Declaration])
_NUMBER_OF: Final = {kind: number for number, kind in enumerate(TYPES)}
# The bit of the only modifier: an id that is given to a row here, and not one that is named.
DECLARATION: Final = 1
# Per token: lines and characters behind the one before, length, type, modifiers.
NUMBERS_PER_TOKEN: Final = 5
_FLAGS: Final = frozenset({"true", "false"})


class Part(NamedTuple):
    """A part of a line: where it stands, what it is, and the bits of what else it is."""

    start: int
    end: int
    kind: lsp.SemanticTokenTypes
    modifiers: int = 0

    def behind(self, offset: int) -> Part:
        """Return it as a part of a longer text, in which its own begins at an offset."""
        return Part(self.start + offset, self.end + offset, self.kind, self.modifiers)


class _Colored(NamedTuple):
    """The numbers of a passage, and the lines of its first and its last token."""

    numbers: array[int]
    first: int
    last: int


def token_numbers(reading: Reading, lines: range | None = None) -> array[int]:
    """Return the semantic tokens of a document in the positions of its client.

    Args:
        reading: The document.
        lines: The lines that are wanted; others of their passages come with them. By default all.
    """
    document = reading.goal
    numbers = array("I")
    before = 0
    for index, (passage, held) in _wanted(document, lines):
        start = document.layout.starts[index]
        colored = _colored(passage, held, reading.encoding)
        if not colored.numbers:
            continue
        at = len(numbers)
        numbers += colored.numbers
        numbers[at] = start + colored.first - before
        if start + colored.first == 0:
            # In front of the first line of a buffer stands its byte-order mark.
            numbers[at + 1] += reading.range((0, document.layout.offsets[0])).end.character
        before = start + colored.last
    return numbers


def _wanted(document: GoalDocument, lines: range | None) -> Iterator[tuple[int, tuple[Passage, int]]]:
    stretches = document.stretches()
    if lines is None or not stretches:
        return enumerate(stretches)
    first, last = (document.layout.passage_of_line(line) for line in (lines.start, lines.stop))
    return zip(range(first, last + 1), stretches[first : last + 1], strict=True)


@by_passage
def _colored(passage: Passage, held: int, encoding: Encoding) -> _Colored:
    numbers, above, left, first = array("I"), 0, 0, None
    for line, parts in colored_lines(passage, held):
        text = passage.lines.texts[line]
        is_plain = text.isascii()
        if first is None:
            first = line
        for start, end, kind, modifiers in parts:
            at = start if is_plain else units_in(text[:start], encoding)
            size = end - start if is_plain else units_in(text[start:end], encoding)
            numbers.extend((line - above, at if line > above else at - left, size, _NUMBER_OF[kind], modifiers))
            above, left = line, at
    return _Colored(numbers, first or 0, above)


def colored_lines(passage: Passage, held: int) -> Iterator[tuple[int, list[Part]]]:
    """Yield the lines of a passage by their indices, each with its parts in order.

    Args:
        passage: The passage.
        held: How many of its first lines a todo section holds.
    """
    for line, text in enumerate(passage.lines.texts):
        if text and not passage.is_hidden(line) and (parts := list(_parts(text, in_section=line < held))):
            yield line, parts


def _parts(text: str, *, in_section: bool) -> Iterator[Part]:
    inside = text.lstrip()
    if inside.startswith(COMMENT_START):
        if is_marker(text):
            yield Part(len(text) - len(inside), len(text.rstrip()), REGION_MARKER)
            return
        if in_section and text.startswith(INDENT):
            for token in tokens(text):
                yield from (part.behind(token.at) for part in _metadata_parts(token.key, token.value))
            return
    reading = read_line(text) if in_section or text.startswith("#") else None
    if isinstance(reading, HeadingLine):
        yield Part(0, len(text.rstrip()), HEADING)
        return
    start = 0
    if isinstance(reading, TaskLine) and (box := BOX.search(text)):
        yield Part(*box.span(), BOX_MARKER)
        start = box.end()
        behind = len(text) - len(text[start:].lstrip())
        if priority := PLAIN.match(text, behind):
            start = priority.end("label") + 1
            yield Part(behind, start, PRIORITY)
    yield from _named_parts(text, start)


# Rows repeat their statuses, agents and classes.
@lru_cache(maxsize=KEPT_TOKENS_MAX)
def _metadata_parts(key: str, value: str) -> list[Part]:
    """Return the parts of a token from its start; one whose key nobody reads has no color."""
    reader = FIELDS.get(key)
    if reader is None:
        return []
    is_word = isinstance(reader, Choice) or value.lower() in _FLAGS
    kind = WORD if is_word else NUMBER if value.isdecimal() else TEXT
    text = f"{key}={value}"
    return [Part(0, len(key), KEY), *_named_parts(text, len(key) + 1, kind, declares=key == "todo_id")]


def _named_parts(
    text: str, start: int, between: lsp.SemanticTokenTypes | None = None, *, declares: bool = False
) -> Iterator[Part]:
    """Yield the ids and the paths in a text from an offset on, and what stands between them if that is anything."""
    named: list[Part] = []
    # Most texts name nothing, and that is told at a fraction of the cost of the patterns.
    if "_" in text:
        named += [Part(*found.span, ID, DECLARATION * declares) for found in ids_in(text) if found.span[0] >= start]
    if "$" in text:
        named += [Part(found.span[0] - 1, found.span[1], STATE_PATH) for found in state_paths_in(text)]
    for part in sorted(named):
        if part.start < start:
            continue
        if between and start < part.start:
            yield Part(start, part.start, between)
        yield part
        start = part.end
    if between and start < len(text):
        yield Part(start, len(text), between)


def difference(before: array[int], after: array[int]) -> tuple[int, int, array[int]] | None:
    """Return the one edit between the tokens of two texts: where it starts, how many numbers go, and what comes.

    `None` when there is none. It begins and ends between tokens.

    >>> difference(array("I", [0, 1, 2, 3, 0]), array("I", [0, 1, 2, 3, 0, 1, 0, 4, 5, 0]))
    (5, 0, array('I', [1, 0, 4, 5, 0]))
    """
    if before == after:
        return None
    least = min(len(before), len(after)) // NUMBERS_PER_TOKEN
    same = _alike(before, after, least)
    behind = _alike(before[::-1], after[::-1], least - same)
    start, tail = same * NUMBERS_PER_TOKEN, behind * NUMBERS_PER_TOKEN
    return start, len(before) - tail - start, after[start : len(after) - tail]


def _alike(one: array[int], other: array[int], least: int) -> int:
    """Return how many of the first tokens are the same, at most `least`."""
    low, high = 0, least
    while low < high:
        middle = (low + high + 1) // 2
        size = slice(low * NUMBERS_PER_TOKEN, middle * NUMBERS_PER_TOKEN)
        low, high = (middle, high) if one[size] == other[size] else (low, middle - 1)
    return low
