"""`textDocument/prepareRename`: whether the todo at a place can be renamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.lsp.renaming import find_renaming

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
    """Return where the id stands; `None` where no todo is, and a refusal of one that cannot be renamed."""
    uri = params.text_document.uri
    renaming = find_renaming(session, uri, params.position)
    reading = session.reading(uri)
    if renaming is None or reading is None:
        return None
    return lsp.PrepareRenamePlaceholder(reading.range(renaming.subject.span), renaming.subject.name)
