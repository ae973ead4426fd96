"""The verbs about goal documents; they read files and need neither daemon nor store."""

from __future__ import annotations

import glob
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from stateward_daemon import convert
from stateward_daemon.cli.linter import count_line, finding_lines
from stateward_daemon.cli.printing import note, show, show_json
from stateward_daemon.documents import read_file
from stateward_daemon.exits import EXIT_FINDINGS, EXIT_OK, UsageFault
from stateward_engine.errors import UnsafeDocument
from stateward_engine.goals.document import read_bytes
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stateward_protocol import messages as m

STANDARD_INPUT: Final = "-"


class _Checked(NamedTuple):
    """One document and what was found in it."""

    path: str
    text: str
    found: m.GoalDiagnosticsResult


def check(options: Namespace) -> int:
    """Print the problems of documents; the exit status tells whether any of them counts."""
    checked = [_check(name) for name in _expanded(options.files)]
    severities = [item.severity for document in checked for item in document.found.items]
    if options.json or options.format == "json":
        files = [{"path": document.path, **msgspec.to_builtins(document.found)} for document in checked]
        show_json({"files": files})
    else:
        for document in checked:
            for line in finding_lines(document.path, document.text, document.found.items):
                # Not `show`: the lines are safe already, and may have color.
                print(line)
        note(count_line(severities, len(checked)))
    counting = {"error", "warning", "info"} if options.strict else {"error", "warning"}
    return EXIT_FINDINGS if counting & set(severities) else EXIT_OK


def show_goal(options: Namespace) -> int:
    """Print the projection of a document."""
    try:
        document = read_bytes(_bytes_of(options.file))
        projection = convert.projection(document, goal_id=options.goal_id, source_ref=options.source_ref)
    except UnsafeDocument as refusal:
        raise convert.wire_error(refusal) from None
    if options.json:
        show_json(projection)
    else:
        show("\n".join(_summary(projection)))
    return EXIT_OK


# -- files -----------------------------------------------------------------------------------------------------------


def _expanded(names: list[str]) -> Iterator[str]:
    """Yield the names, with each pattern replaced by the files that it matches; what exists is no pattern."""
    for name in names:
        if name == STANDARD_INPUT or not glob.has_magic(name) or Path(name).exists():
            yield name
            continue
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - it takes absolute patterns as well
        if not matches:
            raise UsageFault(f"no file matches {name}")
        yield from matches


def _bytes_of(name: str) -> bytes:
    if name == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    if Path(name).is_dir():
        raise UsageFault(f"{name} is a directory; name a file, or a pattern such as '{name}/**/ACTIVE_GOAL_STATE.md'")
    try:
        return read_file(Path(name))
    except WireError as error:
        raise UsageFault(f"{name}: {error.message}") from None


def _check(name: str) -> _Checked:
    document = read_bytes(_bytes_of(name))
    return _Checked(name, document.lines.text, convert.goal_diagnostics(document))


# -- people ----------------------------------------------------------------------------------------------------------


def _summary(projection: dict[str, Any]) -> Iterator[str]:
    """Yield what a person wants to know first: what is next, and which todos there are."""
    yield str(projection["source_ref"])
    yield f"next action: {projection['next_action']['first'] or '-'}"
    for role, todos in projection["todos"].items():
        yield f"{role} todos: {todos['open_count']} open, {todos['done_count']} done"
        for item in todos["items"]:
            yield f"  {item['status']:<8}  {item['todo_id']}  {item['text']}"
