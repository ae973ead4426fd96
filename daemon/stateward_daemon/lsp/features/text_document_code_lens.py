"""`textDocument/codeLens`: above a section how much is left and how old it is, above a todo what can be done."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.lsp import commands
from stateward_daemon.lsp.plain import Lens, plain_command, plain_range
from stateward_daemon.lsp.rows import shown_rows, status_counts
from stateward_engine.authority.operations import latest_operations
from stateward_engine.goals.promoted_problems import lineage_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stateward_daemon.lsp.reading import Reading
    from stateward_daemon.lsp.session import LspSession
    from stateward_engine.authority.goal import Goal
    from stateward_engine.goals.regions import Region

# In the order of a title.
STATUSES = ("open", "blocked", "deferred", "done")


def handle(session: LspSession, params: lsp.CodeLensParams) -> list[Lens]:
    """Return the lenses of a document, from its text and from its goal as it is now."""
    uri = params.text_document.uri
    reading, goal = session.reading(uri), session.goal(uri)
    return [] if reading is None else [*_of_sections(uri, reading, goal), *_of_todos(uri, reading, goal)]


def _of_sections(uri: str, reading: Reading, goal: Goal | None) -> Iterator[Lens]:
    found = status_counts(reading)
    for region in reading.goal.regions:
        counts = found.get(region, Counter())
        title = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status]) or "no todos"
        at = plain_range(reading.range(reading.goal.layout.span(region.first)))
        behind = _behind(reading, region, goal)
        # A command without a name is a title that nobody can press.
        command = lsp.Command(title, "") if behind is None else commands.project(uri, title + behind)
        yield Lens(at, plain_command(command))


def _behind(reading: Reading, region: Region, goal: Goal | None) -> str | None:
    """Return what is to be said of a section that is not up to date, `None` of one that is."""
    if goal is None or not goal.promoted:
        return None
    _, lineage = lineage_of(reading.goal.lines, region)
    shown = None if lineage is None else lineage["revision"]
    if shown == goal.provider_revision:
        return None
    revision = "shows no revision" if shown is None else f"shows {_number(shown)}"
    return f" \N{EM DASH} display behind head: {revision}, head is {goal.cursor}"


def _number(revision: str) -> str:
    return revision.rpartition(":")[2]


def _of_todos(uri: str, reading: Reading, goal: Goal | None) -> Iterator[Lens]:
    if goal is None:
        return
    operations = latest_operations(goal)
    for row in commands.known_rows(reading, goal, shown_rows(reading)):
        for command in commands.commands_for(uri, row, goal, operations):
            yield Lens(row.span, command)
