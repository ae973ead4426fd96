"""Delivering: what the authority has committed is put into the documents of promoted goals.

The machine of `delivery` says what is to be done, here it is done: in a thread, and in the lane of the goal, so that
nothing else of this process writes the document meanwhile. A commit never waits for it and never fails with it.
Source: authority.md section 5, store.md section 5.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stateward_daemon.documents import read_file
from stateward_daemon.log import LOGGER_NAME
from stateward_daemon.steps import OnLane
from stateward_daemon.writing import create, publish
from stateward_engine.authority import delivery as d
from stateward_engine.authority import delivery_reports as reports
from stateward_engine.authority.commands import NoteDelivery
from stateward_engine.authority.delivery_failures import Failure, NotReplaceable, failure_of, outage_of
from stateward_engine.authority.display import (
    Snapshot,
    recovery_document,
    render_display,
    rendered_digests,
    section_digests,
    section_edits,
    take_snapshot,
)
from stateward_engine.authority.goal import MARKDOWN_AUTHORITY
from stateward_engine.authority.refusals import refused
from stateward_engine.errors import EngineError, Refused, RequestError
from stateward_engine.goals.lines import decode_document
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from stateward_daemon.host import Host
    from stateward_daemon.steps import Steps
    from stateward_daemon.unsaved import Held
    from stateward_engine.authority.goal import Machine
    from stateward_engine.goals.render import Rendering
    from stateward_engine.store.publish_file import Publication

_LOGGER = logging.getLogger(LOGGER_NAME)


# -- what handlers call ----------------------------------------------------------------------------------------------


def settle(host: Host, answer: Mapping[str, Any]) -> Steps:
    """Deliver what a mutation has committed; return its answer with `projection_delivery` and `projection_outbox`.

    Nothing that goes wrong with the display makes it fail. Callers that wait together are served by one delivery.

    Args:
        host: Who serves the caller.
        answer: Of the mutation. One of a dry run, or of a goal whose document is its authority, is returned as it is.
    """
    if answer["status"] == "planned" or answer["source_authority"] == MARKDOWN_AUTHORITY:
        return answer
    goal_id = answer["goal_id"]
    try:
        members = yield _step(host, goal_id)
    except Exception as error:  # noqa: BLE001 - the mutation is committed, whatever broke
        members = _members(reports.failed(goal_id, _failure(error)))
    return {**answer, **members, "projection_outbox": reports.triggered(members["projection_outbox"], answer)}


def project(host: Host, goal_id: str, provider_revision: str | None, *, execute: bool) -> Steps:
    """Deliver the display of a goal because somebody asks for it; return the report.

    Args:
        host: Who serves the caller.
        goal_id: The goal.
        provider_revision: The one revision to show, which has to be the head; `None` for the latest.
        execute: Whether to write; otherwise the report says what would be written.

    Raises:
        Refused: `goal_not_registered`, `goal_not_promoted`, `provider_revision_mismatch`; nothing was written.
    """
    if not execute:
        return (yield OnLane(goal_id, partial(preview, host, goal_id, provider_revision)))
    members = yield _step(host, goal_id, provider_revision)
    return members["projection_outbox"]


def deliver(host: Host, goal_id: str, *, pinned: str | None = None) -> dict[str, Any]:
    """Deliver the display of a goal; a job for its lane. Return `projection_delivery` and `projection_outbox`.

    Raises:
        Refused: As for `project`.
    """
    return _members(Delivering(goal_id, means_of(host, goal_id)).run(pinned))


def preview(host: Host, goal_id: str, pinned: str | None = None) -> dict[str, Any]:
    """Return what a delivery would do. Nothing is written, and no confirmation asked for. It may wait for the disk.

    Raises:
        Refused: As for `project`.
    """
    return Delivering(goal_id, means_of(host, goal_id)).preview(pinned)


def settle_saved(host: Host, path: Path) -> None:
    """Deliver what waited for unsaved changes in the document at `path`, some of which may have ended. On the loop."""
    goal_id = host.unsaved.ended(path)
    if goal_id is not None:
        deliver_unasked(host, goal_id)


def settle_edited(host: Host, path: Path, goal_id: str) -> None:
    """Deliver what was in the way until an editor made an edit: once that is saved, or now if it is. On the loop."""
    if not host.unsaved.wait(path, goal_id):
        deliver_unasked(host, goal_id)


def deliver_unasked(host: Host, goal_id: str) -> None:
    """Deliver the display of a goal though nobody waits for it. On the loop."""
    if host.stopping:
        return

    def failed(error: Exception) -> None:
        _LOGGER.warning("the display of %s stays as it is: %s", goal_id, _failure(error).message)

    try:
        host.lanes.run(_step(host, goal_id), lambda _: None, failed)
    except EngineError as error:
        failed(error)


def _step(host: Host, goal_id: str, pinned: str | None = None) -> OnLane:
    shared = ("deliver", goal_id) if pinned is None else None
    return OnLane(goal_id, partial(deliver, host, goal_id, pinned=pinned), shared)


def _members(report: dict[str, Any]) -> dict[str, Any]:
    return {"projection_delivery": report["status"], "projection_outbox": report}


# -- the driver ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a delivery works with. Each can fail, and the tests let each.

    Attributes:
        snapshot: Reads the authority.
        wait: Says who has unsaved changes in a document, and lets the delivery wait for them.
        read: The bytes of a file, `None` where there is none.
        render: Renders a snapshot onto the bytes of a document.
        publish: Replaces a document.
        create: Makes one.
        confirm: The judgement of the authority.
        machine: This one, where several share the store.
        note: Keeps what is about to be put into a document, and what it replaces.
    """

    snapshot: Callable[[], Snapshot]
    wait: Callable[[Path], list[Held]]
    note: Callable[[NoteDelivery], object]
    read: Callable[[Path], bytes | None]
    publish: Callable[[Path, Callable[[bytes], bytes]], Publication]
    create: Callable[[Path, bytes], Publication]
    render: Callable[[bytes, Snapshot], Rendering] = render_display
    confirm: Callable[[Mapping[str, Any], str], d.Confirmation | None] = d.confirm
    machine: Machine | None = None


def means_of(host: Host, goal_id: str) -> Means:
    """Return the real means."""
    return Means(
        snapshot=lambda: take_snapshot(host.store.view, goal_id),
        wait=lambda path: host.unsaved.wait(path, goal_id),
        read=read_document,
        note=host.store.commit_now,
        publish=partial(publish, host),
        create=partial(create, host),
        machine=host.machine,
    )


class Delivering:
    """One delivery: does what the machine says, and remembers what it has in hand."""

    def __init__(self, goal_id: str, means: Means) -> None:
        self._goal_id = goal_id
        self._means = means
        self._snapshot: Snapshot
        # The document that `_rendering` was made from.
        self._source: bytes
        self._rendering: Rendering

    def run(self, pinned: str | None = None) -> dict[str, Any]:
        """Deliver, and return the report.

        Raises:
            Refused: As for `project`.
        """
        delivery, action = d.begin(pinned)
        while not isinstance(action, d.Finish | d.Refuse):
            delivery, action = d.advance(delivery, self._perform(delivery, action))
        if isinstance(action, d.Refuse):
            raise _moved_on(pinned, action.head)
        if isinstance(action.result, Failure):
            return reports.failed(self._goal_id, action.result)
        return reports.settled(self._snapshot.goal, self._rendering, delivery, action.result)

    def preview(self, pinned: str | None = None) -> dict[str, Any]:
        """Return what `run` would do first; a failed read of the authority is raised.

        Raises:
            Refused: As for `project`.
        """
        head = self._open()
        if pinned not in (None, head):
            raise _moved_on(pinned, head)
        try:
            there = self._render()
        except Exception as error:  # noqa: BLE001 - what keeps it from being shown is the report
            return {**reports.failed(self._goal_id, _failure(error)), "executed": False}
        return reports.planned(self._snapshot.goal, self._rendering, recovered=not there)

    def _perform(self, delivery: d.Delivery, action: d.Action) -> d.Event:
        try:
            return self._do(delivery, action)
        except Exception as error:
            if isinstance(action, d.Read) and isinstance(error, RequestError):
                raise
            return d.Failed(_failure(error, outage=isinstance(action, d.Read | d.Confirm)))

    def _do(self, delivery: d.Delivery, action: d.Action) -> d.Event:
        match action:
            case d.Render():
                there = self._render()
                self._demand_saved()
                return d.Rendered(there)
            case d.Publish(create):
                return d.Published(self._publish(create=create))
            case d.ReadBack():
                self._read_back()
                return d.FoundAgain()
            case d.Confirm():
                # What is read here is what a next attempt shows: one read serves both.
                self._snapshot = self._means.snapshot()
                head = self._snapshot.goal.provider_revision
                return d.Confirmed(self._means.confirm(delivery.projection_readback(), head))
        return d.HeadRead(self._open())

    @property
    def _path(self) -> Path:
        return Path(self._snapshot.goal.path)

    def _open(self) -> str:
        """Read the authority; return the head."""
        self._snapshot = self._means.snapshot()
        if not self._snapshot.goal.promoted:
            raise refused(
                "goal_not_promoted",
                "the document of this goal is its authority; nothing is projected onto it before authority_promote",
                member="goal_id",
                got=self._goal_id,
            )
        return self._snapshot.goal.provider_revision

    def _render(self) -> bool:
        """Render what is held onto what stands in the file; return whether there is one."""
        goal = self._snapshot.goal
        if not goal.is_on(self._means.machine):
            raise NotReplaceable(f"{goal.whereabouts}; the daemon there delivers it", reports.ELSEWHERE)
        found = self._means.read(self._path)
        self._source = recovery_document(self._goal_id).encode() if found is None else found
        self._rendering = self._means.render(self._source, self._snapshot)
        return found is not None

    def _demand_saved(self) -> None:
        """Refuse to write under an editor with unsaved changes; offer it the sections instead."""
        holders = self._means.wait(self._path) if self._rendering.changed else []
        for held in holders:
            # In this order: a text that came in between is newer than its version, and the editor refuses the edits.
            version, text = held.version, held.text
            with suppress(EngineError, NotReplaceable):
                held.offer(version, text, section_edits(text, self._snapshot))
        if holders:
            raise NotReplaceable(
                "an editor has unsaved changes in the document; it is delivered when they are saved or closed",
                "todo_projection_buffer_dirty",
            )

    def _publish(self, *, create: bool) -> bool:
        """Put the rendering in place; return whether the file held other bytes before."""
        if create:
            self._note({})
            return self._means.create(self._path, self._rendering.markdown.encode()).status == "created"
        return self._means.publish(self._path, self._merged).status == "published"

    def _merged(self, data: bytes) -> bytes:
        """Return what the document becomes, decided on the bytes that are there at the last moment."""
        if data != self._source:
            self._source, self._rendering = data, self._means.render(data, self._snapshot)
        self._demand_saved()
        # What is current stands there as it is rendered, and need not be read once more.
        shown = rendered_digests(self._rendering)
        self._note(section_digests(decode_document(data)) if self._rendering.changed else shown)
        return self._rendering.markdown.encode()

    def _read_back(self) -> None:
        """Find the sections in the file that were rendered. Others may have changed the text around them meanwhile."""
        found = self._means.read(self._path)
        rendered, sections = self._rendering.markdown, rendered_digests(self._rendering)
        if found is None or (found != rendered.encode() and section_digests(decode_document(found)) != sections):
            raise NotReplaceable(
                "somebody changed the document again just after it was written", "todo_projection_target_unavailable"
            )

    def _note(self, replaced: Mapping[str, str]) -> None:
        """Keep what is about to stand in the document, so that it is known again whatever becomes of this process.

        Raises:
            NotReplaceable: It could not be kept, and others who share the store go on meanwhile. Nobody would know the
                display again once they are further than what is retained, and it would be taken for edited.
        """
        shown = self._rendering.provider_revision, rendered_digests(self._rendering)
        try:
            self._means.note(NoteDelivery(self._goal_id, *shown, replaced))
        except EngineError as error:
            # Without it sections are compared with what the retained revisions render.
            if self._means.machine is not None:
                raise NotReplaceable(str(error), "todo_projection_authority_unavailable") from error


def read_document(path: Path) -> bytes | None:
    """Return the bytes of the document of a goal, `None` where there is no file.

    Raises:
        NotReplaceable: It cannot be read, and so not be written.
    """
    try:
        return read_file(path)
    except WireError as error:
        if error.category == "missing_path":
            return None
        raise NotReplaceable(error.message, "todo_projection_target_unavailable") from error


def _failure(error: Exception, *, outage: bool = False) -> Failure:
    if not isinstance(error, EngineError | NotReplaceable | OSError):
        _LOGGER.error("a delivery failed", exc_info=error)
    return outage_of(error) if outage else failure_of(error)


def _moved_on(pinned: str | None, head: str) -> Refused:
    return refused(
        "provider_revision_mismatch",
        "the goal has moved on, and a pinned delivery shows its own revision or none; nothing was written",
        member="provider_revision",
        got=pinned,
        wanted=head,
    )
