"""Problems of a document as linters print them: the place, the finding, and the line with a mark below it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from stateward.printable import printable
from stateward_daemon.cli.printing import columns, paint
from stateward_engine.goals.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stateward_protocol.messages import DiagnosticItem, Range

_TAB: Final = "    "
_BY_US: Final = " (--fix)"
_COMMANDS: Final = {"error": "error", "warning": "warning", "info": "notice"}


def finding_lines(path: str, text: str, items: list[DiagnosticItem]) -> Iterator[str]:
    """Yield lines for a terminal; all that comes from the document or its name is safe to show.

    Args:
        path: The name of the document.
        text: The document.
        items: Its problems, with places in code points.
    """
    lines = split_lines(text, mark="").texts
    for item in items:
        severity = paint(f"{item.severity}[{item.code}]", item.severity, sys.stdout)
        yield f"{_place(path, item.range)}: {severity} {printable(item.message)}"
        yield from _marked(lines, item.range)
        for related in item.related:
            word = paint("note:", "note", sys.stdout)
            yield f"{_place(path, related.range)}: {word} {printable(related.message)}"
        if item.fix is not UNSET:
            word = paint("fix:", "note", sys.stdout)
            yield f"  {word} {printable(item.fix.title)}{_BY_US if item.fix.safe else ''}"


def github_lines(path: str, items: Sequence[DiagnosticItem]) -> Iterator[str]:
    """Yield workflow commands, by which GitHub shows findings beside the lines of a change.

    Source: its documentation of workflow commands; the escapes are those of its toolkit.
    """
    for item in items:
        start, end = item.range.start, item.range.end
        facts = {"file": path, "line": start.line + 1, "endLine": end.line + 1, "title": f"stateward {item.code}"}
        # Columns of several lines are refused there.
        if start.line == end.line:
            facts |= {"col": start.character + 1, "endColumn": end.character + 1}
        members = ",".join(f"{name}={_escaped(str(fact), ':', ',')}" for name, fact in facts.items())
        yield f"::{_COMMANDS[item.severity]} {members}::{_escaped(item.message)}"


def _escaped(text: str, *others: str) -> str:
    for character in ("%", "\r", "\n", *others):
        text = text.replace(character, f"%{ord(character):02X}")
    return printable(text)


def _place(path: str, place: Range) -> str:
    return f"{printable(path)}:{place.start.line + 1}:{place.start.character + 1}"


def _marked(lines: list[str], place: Range) -> Iterator[str]:
    """Yield the first line of a range and a mark below it; a range that ends on a later line is marked to the end."""
    line = lines[place.start.line] if place.start.line < len(lines) else ""
    start = place.start.character
    end = place.end.character if place.end.line == place.start.line else len(line)
    if line:
        mark = "^" * max(1, columns(_shown(line[start:end])))
        yield f"  {_shown(line)}"
        yield f"  {' ' * columns(_shown(line[:start]))}{mark}"


def _shown(text: str) -> str:
    return printable(text.replace("\t", _TAB))


def count_line(items: Sequence[DiagnosticItem], file_count: int, fixed_count: int) -> str:
    """Return the closing line, such as `1 error, 2 warnings in 3 files; 1 can be fixed with --fix`."""
    severities = [item.severity for item in items]
    counts = [_counted(severities.count(severity), severity) for severity in _COMMANDS if severity in severities]
    fixable_count = sum(item.fix is not UNSET and item.fix.safe for item in items)
    return "; ".join(
        [
            f"{', '.join(counts) or 'no problems'} in {_counted(file_count, 'file')}",
            *([f"{_counted(fixed_count, 'problem')} fixed"] if fixed_count else []),
            *([f"{fixable_count} can be fixed with --fix"] if fixable_count else []),
        ]
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 or noun == "info" else f"{count} {noun}s"
