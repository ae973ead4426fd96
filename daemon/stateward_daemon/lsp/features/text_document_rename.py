"""`textDocument/rename`: another id for a todo of a goal that is not promoted, everywhere it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stateward_daemon.lsp.edits import workspace_edits
from stateward_daemon.lsp.renaming import admit_name, find_renaming
from stateward_engine.goals.problems import Edit
from stateward_protocol.errors import WireError

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    """Return the edits; `None` where the todo has that id already."""
    renaming = find_renaming(session, params.text_document.uri, params.position)
    if renaming is None:
        raise WireError("refused", "there is no todo here to rename", reason_code="todo_not_found")
    name = params.new_name.strip()
    if name == renaming.subject.name:
        return None
    admit_name(renaming, name)
    for known in renaming.left:
        session.showing.tell_soon(f"{known.path} keeps {renaming.subject.name} in sections that show a promoted goal")
    changes = [
        (known.uri, known.reading, [Edit(mention.span, name) for mention in mentions])
        for known, mentions in renaming.found
    ]
    return workspace_edits(changes, session.client)
