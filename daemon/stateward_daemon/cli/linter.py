"""Problems of a document as linters print them: the place, the finding, and the line with a mark below it."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from stateward.printable import printable
from stateward_daemon.cli.printing import columns, paint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stateward_protocol.messages import DiagnosticItem, Range

# As the engine counts lines, and unlike `str.splitlines`.
_TERMINATOR: Final = re.compile(r"\r\n?|\n")
_TAB: Final = "    "


def finding_lines(path: str, text: str, items: list[DiagnosticItem]) -> Iterator[str]:
    """Yield lines for a terminal; all that comes from the document or its name is safe to show.

    Args:
        path: The name of the document.
        text: The document.
        items: Its problems, with places in code points.
    """
    lines = _TERMINATOR.split(text)
    for item in items:
        severity = paint(f"{item.severity}[{item.code}]", item.severity, sys.stdout)
        yield f"{_place(path, item.range)}: {severity} {printable(item.message)}"
        yield from _marked(lines, item.range)
        for related in item.related:
            word = paint("note:", "note", sys.stdout)
            yield f"{_place(path, related.range)}: {word} {printable(related.message)}"


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


def count_line(severities: Sequence[str], file_count: int) -> str:
    """Return the closing line, such as `1 error, 2 warnings in 3 files`."""
    files = _counted(file_count, "file")
    found = [(severities.count(severity), severity) for severity in ("error", "warning", "info")]
    counts = [_counted(count, severity) for count, severity in found if count]
    return f"{', '.join(counts) or 'no problems'} in {files}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 or noun == "info" else f"{count} {noun}s"
