"""`initialized`: the client can be asked from now on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.documents import GOAL_FILE_NAME

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, _params: lsp.InitializedParams) -> None:
    """Ask the client to report goal documents that come up anywhere in its folders.

    Everything that is known is watched here. The client knows of new files in directories that nobody looks at.
    """
    if session.client.reports_files:
        watchers = [lsp.FileSystemWatcher(glob_pattern=f"**/{GOAL_FILE_NAME}")]
        method = lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = lsp.Registration(method, method, lsp.DidChangeWatchedFilesRegistrationOptions(watchers))
        session.ask(lsp.CLIENT_REGISTER_CAPABILITY, lsp.RegistrationParams([registration]))
