"""The verbs about goal documents; they read files and need neither daemon nor store."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from stateward_daemon import convert
from stateward_daemon.cli.given import json_of
from stateward_daemon.cli.goal_files import STANDARD_INPUT, read_named
from stateward_daemon.cli.printing import note, show, show_json
from stateward_daemon.documents import GOAL_FILE_NAME
from stateward_daemon.exits import EXIT_OK, UsageFault
from stateward_engine.errors import EngineError, UnsafeDocument
from stateward_engine.goals.document import read_bytes

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator


def show_goal(options: Namespace) -> int:
    """Print the projection of a document."""
    try:
        document = read_bytes(read_named(options.file))
        name = options.source_ref or GOAL_FILE_NAME
        projection = convert.projection(document, goal_id=options.goal_id, source_ref=name)
    except UnsafeDocument as refusal:
        raise convert.wire_error(refusal) from None
    if options.json:
        show_json(projection)
        return EXIT_OK
    show("\n".join(_summary(projection, options.source_ref or options.file)))
    errors = sum(problem.severity == "error" for problem in document.problems)
    if errors:
        said = "1 error" if errors == 1 else f"{errors} errors"
        note(f"{said} in this document; run stateward goal check {shlex.quote(options.file)}")
    return EXIT_OK


def render(options: Namespace) -> int:
    """Print a document with canonical records in place. Its file stays as it is."""
    if options.file == options.records == STANDARD_INPUT:
        raise UsageFault("standard input is the document or the records, not both; name a file for one of them")
    given = json_of(read_named(options.records))
    fits = isinstance(given, dict) and isinstance(given.get("records"), list)
    if not fits or not isinstance(given.get("private_validation", {}), dict):
        raise UsageFault('a file of records is an object with "records", an array, and maybe "private_validation"')
    try:
        document = read_bytes(read_named(options.file))
        rendered = convert.rendering(
            document, given["records"], options.provider_revision, given.get("private_validation", {})
        )
    except EngineError as refusal:
        raise convert.wire_error(refusal) from None
    if options.json:
        show_json(msgspec.to_builtins(rendered))
    elif sys.stdout.isatty():
        show(rendered.markdown)
    else:
        # Every byte of the document as it would be, for a file or another program.
        sys.stdout.flush()
        sys.stdout.buffer.write(rendered.markdown.encode())
    return EXIT_OK


# -- people ----------------------------------------------------------------------------------------------------------


def _summary(projection: dict[str, Any], name: str) -> Iterator[str]:
    """Yield what a person wants to know first: what is next, and which todos there are."""
    yield name
    yield f"next action: {projection['next_action']['first'] or '-'}"
    groups = projection["todos"]
    width = max((len(item["todo_id"]) for todos in groups.values() for item in todos["items"]), default=0)
    for role, todos in groups.items():
        yield f"{role} todos: {todos['open_count']} open, {todos['done_count']} done"
        for item in todos["items"]:
            yield f"  {item['status']:<8}  {item['todo_id']:<{width}}  {item['text']}"
