"""`textDocument/didOpen`: from now on the text is the client's, not the file's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from stateward_daemon.lsp.buffers import Buffer
from stateward_daemon.lsp.uris import path_of
from stateward_daemon.virtual import is_virtual
from stateward_engine.authority.goal import goal_at

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.DidOpenTextDocumentParams) -> None:
    """Keep the text of a goal document, by its name or because a goal has it; every other document is left alone."""
    document = params.text_document
    if is_virtual(document.uri):
        # The text that it shows may have come from an earlier daemon.
        session.showing.show_virtual(document.uri)
        return
    is_new = document.uri not in session.buffers
    path = (_registered(session, document.uri) if is_new else None) or session.path(document.uri)
    if path is None:
        return
    if is_new:
        # Watched before it is compared, so that no change falls between the two.
        session.watcher.add(path)
    on_disk = session.documents.digest(path)
    encoding, ask = session.client.encoding, session.ask_for_edit
    session.hold(Buffer(document.uri, path, encoding, document.version, document.text, on_disk=on_disk, ask=ask))
    session.folders.respell(path, document.uri)
    session.showing.push(document.uri)


def _registered(session: LspSession, uri: str) -> Path | None:
    """Return the real path of the document of a registered goal, whatever it is called; `None` for that of none."""
    path = path_of(uri)
    if path is None:
        return None
    path = Path(os.path.realpath(path))
    return path if goal_at(session.caller.host.store.view, str(path)) else None
