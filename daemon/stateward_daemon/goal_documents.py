"""The documents of goals as calls name them: placed, read and made, one function each. For threads: they wait."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from stateward_daemon.documents import read_file
from stateward_daemon.writing import create
from stateward_engine.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stateward_daemon.host import Host
    from stateward_engine.authority.goal import Goal, Members
    from stateward_engine.json_value import Json


def document_path(host: Host, path: str) -> Path:
    """Return the real place of a document that a call names by an absolute path.

    Raises:
        InvalidRequest: It is no absolute path, or leads into the store.
    """
    if not os.path.isabs(path) or "\0" in path:  # noqa: PTH117 - a client's text, no path yet
        raise InvalidRequest(
            "$.params.path is the absolute path of the document",
            path="$.params.path",
            got=path,
            example='{"path": "/home/ada/project/ACTIVE_GOAL_STATE.md"}',
        )
    place = Path(os.path.realpath(path))
    if place.is_relative_to(os.path.realpath(host.place.directory)):
        raise InvalidRequest(
            "$.params.path leads into the store, whose files are no documents; name one of a project",
            path="$.params.path",
            got=path,
        )
    return place


def read_content(path: Path) -> dict[str, Json]:
    """Return what is compared when the goal of a document is registered again.

    Raises:
        WireError: It cannot be read.
        UnsafeDocument: It cannot be read without guessing.
    """
    return _content(read_file(path))


def moved_content(goal: Goal, path: str) -> dict[str, Json] | None:
    """Return the content of a document at its new place; `None` for one that a promoted goal has to make anew.

    Raises:
        WireError, UnsafeDocument: As for `read_content`.
    """
    if goal.promoted and not Path(path).exists():
        return None
    return read_content(Path(path))


def create_document(host: Host, path: Path, text: str) -> dict[str, Json]:
    """Create a document and return its content as `read_content` does.

    Raises:
        NotPublished: Something stands there, or it could not be written.
    """
    create(host, path, text.encode())
    return _content(text.encode())


def records_now(host: Host, goal: Goal, asked: str | None = None) -> Sequence[Members]:
    """Return all records of a goal from the one place that is their authority, archived ones included.

    Args:
        host: Who serves the caller.
        goal: The goal.
        asked: The id that the caller means one of them by.

    Raises:
        Refused: `duplicate_todo_id`: several rows have the id that is asked for; `document_elsewhere`.
        WireError: The document of an unpromoted goal cannot be read.
        UnsafeDocument: It cannot be read without guessing.
    """
    # As in `_content`.
    from stateward_engine.authority.markdown_todos import demand_one, records_of  # noqa: PLC0415

    if goal.promoted:
        return list(goal.records.values())
    goal.demand_on(host.machine)
    document = host.documents.read(Path(goal.path))
    if document.refusal is not None:
        raise document.refusal
    demand_one(document, [row for row in document.todos if row.todo_id == asked])
    return records_of(document)


def todos_now(host: Host, goal: Goal, asked: str | None = None) -> Mapping[str, Members]:
    """Return all records of a goal by id, from the same place as `records_now`.

    Raises:
        Refused, WireError, UnsafeDocument: As for `records_now`.
    """
    return goal.records if goal.promoted else {record["todo_id"]: record for record in records_now(host, goal, asked)}


def _content(data: bytes) -> dict[str, Json]:
    # Here, as in `documents.py`: no start should wait for what reads a document.
    from stateward_engine.goals.document import read_bytes  # noqa: PLC0415
    from stateward_engine.goals.narrative import registered_content  # noqa: PLC0415

    return registered_content(read_bytes(data))
