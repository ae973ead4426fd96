"""`workspace/didChangeWatchedFiles`: the client saw goal documents change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.lsp.uris import goal_path_of

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, params: lsp.DidChangeWatchedFilesParams) -> None:
    """Look after documents that are new. Changes of known ones are seen here anyway."""
    for change in params.changes:
        path, folder = goal_path_of(change.uri), session.folders.folder_of(change.uri)
        if path is not None and folder is not None and change.type != lsp.FileChangeType.Deleted:
            session.folders.adopt(folder, path, change.uri)
