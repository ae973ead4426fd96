"""Renaming: which todo a place of a document lets somebody rename, and why it does not.

The id of a todo is what receipts, leases and other programs know it by. So a rename is everywhere or nowhere: what
cannot be renamed without guessing, or would collide with what somebody else is writing, is refused with what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from stateward_daemon.lsp.everywhere import Found, find_everywhere
from stateward_daemon.lsp.mentions import subject_at
from stateward_engine.goals.fields import TODO_ID
from stateward_engine.goals.row_problems import nearest_id
from stateward_engine.goals.tokens import TAKES
from stateward_protocol.errors import WireError, shortened

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.everywhere import Known
    from stateward_daemon.lsp.mentions import Subject
    from stateward_daemon.lsp.session import LspSession


class Renaming(NamedTuple):
    """A todo that can be renamed.

    Attributes:
        subject: What stands at the place that was asked about.
        found: Everything that mentions it and can be edited, document by document.
        left: The documents that mention it in a section that their ledger owns.
    """

    subject: Subject
    found: list[Found]
    left: list[Known]


def find_renaming(session: LspSession, uri: str, position: lsp.Position) -> Renaming | None:
    """Return what a place lets somebody rename, `None` where no todo is.

    Raises:
        WireError: `refused`: there is a todo, and it cannot be renamed.
    """
    subject = subject_at(session.reading(uri), position)
    if subject is None or subject.is_path:
        return None
    everything = find_everywhere(session, uri, subject)
    _check_row(subject.name, everything)
    found, left = [], []
    for known, mentions in everything:
        owned = _owned_lines(known)
        free = [m for m in mentions if known.reading.goal.layout.line_at(m.span[0]) not in owned]
        if free:
            _check_document(session, known)
            found.append(Found(known, free))
        if len(free) < len(mentions):
            left.append(known)
    return Renaming(subject, found, left)


def admit_name(renaming: Renaming, name: str) -> None:
    """Check that a todo may have a name.

    Raises:
        WireError: `refused`: it is no id, or another row has it.
    """
    if not TODO_ID.fullmatch(name):
        near = nearest_id(name)
        hint = f"; {near} would be one" if near else ""
        raise _refused(
            "invalid_todo_id",
            f"{shortened(name)} is no id of a todo: that is {TAKES['todo_id']}{hint}",
            **({"example": near} if near else {}),
        )
    for known, _ in renaming.found:
        if rows := known.reading.goal.todos_named(name):
            line = known.reading.range(rows[0].span).start.line + 1
            message = f"{name} is taken by the row on line {line} of {known.path}; choose another id"
            raise _refused("todo_id_taken", message)


def _check_row(name: str, everything: list[Found]) -> None:
    """Check that an id is that of one row, which can have another."""
    homes = [known for known, mentions in everything if any(mention.names_row for mention in mentions)]
    if not homes:
        raise _refused("todo_not_found", f"no goal document at hand has a row with the id {name}")
    if len(homes) > 1:
        places = " and ".join(str(known.path) for known in homes)
        raise _refused(
            "ambiguous_todo_id", f"{places} each have a row with the id {name}; rename it in the document of its row"
        )
    [home] = homes
    if home.goal is not None and home.goal.promoted:
        raise _refused(
            "goal_promoted",
            f"{name} belongs to the promoted goal {home.goal.goal_id}, whose receipts keep ids for good; "
            "add a todo with the new id and let it supersede this one",
        )
    rows = home.reading.goal.todos_named(name)
    if len(rows) > 1:
        raise _refused(
            "ambiguous_todo_id", f"{len(rows)} rows have the id {name}; give all but one another id first (quick fix)"
        )
    if rows[0].id_line is None:
        raise _refused(
            "todo_id_generated",
            f"the id {name} is generated from what the row says; give the row an id of its own first (quick fix)",
        )


def _owned_lines(known: Known) -> set[int]:
    """Return the lines of a document that are the display of a promoted goal, which nobody edits."""
    if known.goal is None or not known.goal.promoted:
        return set()
    return {line for region in known.reading.goal.regions for line in range(region.first, region.end)}


def _check_document(session: LspSession, known: Known) -> None:
    """Check that a document can be edited, and that the edit meets no change of somebody else."""
    refusal = known.reading.goal.refusal
    if refusal is not None:
        raise _refused("unsafe_document", f"{known.path} cannot be read without guessing: {refusal}")
    own = session.buffers.get(known.uri)
    if own is not None and own.follows_file:
        raise _refused("document_changed", f"the file {known.path} is newer than its text here; load it first")
    if any(held is not own for held in session.caller.host.unsaved.holders(known.path)):
        message = f"another editor has unsaved changes in {known.path}; save or close them there first"
        raise _refused("document_buffer_dirty", message)


def _refused(reason_code: str, message: str, **facts: object) -> WireError:
    return WireError("refused", message, reason_code=reason_code, **facts)
