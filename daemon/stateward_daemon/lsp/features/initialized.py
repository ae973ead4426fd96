"""`initialized`: the client can be asked from now on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stateward_daemon.configuration import TABLE
from stateward_daemon.documents import GOAL_FILE_NAME

if TYPE_CHECKING:
    from stateward_daemon.lsp.session import LspSession


def handle(session: LspSession, _params: lsp.InitializedParams) -> None:
    """Ask the client for its settings, and to tell when they change or goal documents come up in its folders.

    Everything that is known is watched here. The client knows of new files in directories that nobody looks at.
    """
    if session.client.answers_configuration:
        session.configured.ask(session.folders.open)
    if session.client.registers_configuration:
        # By the section, because some clients tell of no other change.
        _register(
            session,
            lsp.WORKSPACE_DID_CHANGE_CONFIGURATION,
            lsp.DidChangeConfigurationRegistrationOptions(section=TABLE),
        )
    if session.client.reports_files:
        watchers = [lsp.FileSystemWatcher(glob_pattern=f"**/{GOAL_FILE_NAME}")]
        options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
        _register(session, lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)


def _register(session: LspSession, method: str, options: object) -> None:
    """Ask for one thing at a time, so that a client which refuses one has not refused the other."""
    registration = lsp.Registration(method, method, options)
    session.ask(lsp.CLIENT_REGISTER_CAPABILITY, lsp.RegistrationParams([registration]))
