"""Editing: mutations of unpromoted goals are put into their documents. A job for the lane of the goal.

The publication is the commit. What it was is then for the ledger to keep, so that a repeat is answered alike.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stateward_daemon.documents import read_file
from stateward_daemon.writing import publish
from stateward_engine.authority.goal import find_goal
from stateward_engine.authority.markdown_operations import apply, receipt_for
from stateward_engine.authority.operations import demand_revision, replayed
from stateward_engine.errors import Overtaken
from stateward_engine.store.clock import utc_now

if TYPE_CHECKING:
    from stateward_daemon.host import Host
    from stateward_engine.authority.commands import RecordEdit, TodoOperation
    from stateward_engine.authority.goal import Members


class _PromotedError(Exception):
    """The ledger is the authority by now."""


def edit(host: Host, command: TodoOperation) -> RecordEdit | Members | None:
    """Edit the document of an unpromoted goal; return what has to be kept of it, or the answer when that is nothing.

    Returns `None` for a goal that is promoted: its mutations are for the ledger to decide, and nothing was edited.

    Args:
        host: Who serves the caller.
        command: The mutation. It is decided again on newer bytes when somebody writes meanwhile.

    Raises:
        UnsafeDocument, Refused: As for `markdown_operations.apply`; the document stays as it is.
        Refused: `goal_not_registered`, `provider_revision_mismatch`, `coordination_operation_identity_mismatch`,
            `document_elsewhere`.
        NotPublished: The document is missing, or could not be written.
        Overtaken: `document_buffer_dirty`: an editor has unsaved changes in it, and its save would undo the edit.
        WireError: Of a dry run, as for `read_file`.

    Source: authority.md section 3, store.md section 5.
    """
    outcome: RecordEdit | Members = {}

    def merge(data: bytes) -> bytes:
        """Return the document after the mutation, which is decided on what is known at this moment."""
        nonlocal outcome
        goal = find_goal(host.store.view, command.goal_id)
        if goal.promoted:
            raise _PromotedError
        demand_revision(goal, command)
        edited = apply(goal, host.documents.parse(data), command, goal.now(utc_now()))
        outcome = receipt_for(goal, command, edited)
        # Last, because an edit that begins from here on is the only one that is not seen.
        if edited.changed and host.unsaved.holders(path):
            raise Overtaken(
                "an editor has unsaved changes in the document; save or close them, then repeat the call",
                reason_code="document_buffer_dirty",
                path=goal.path,
            )
        return edited.text.encode()

    view = host.store.view
    goal = find_goal(view, command.goal_id)
    if replay := replayed(view, goal, command):
        return replay
    if not goal.promoted:
        goal.demand_on(host.machine)
    path = Path(goal.path)
    try:
        if command.dry_run:
            merge(read_file(path))
        else:
            publish(host, path, merge)
    except _PromotedError:
        return None
    return outcome
