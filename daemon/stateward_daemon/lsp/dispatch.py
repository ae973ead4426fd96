"""The table of LSP methods: who serves each, and what is announced about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lsprotocol import types as lsp

from stateward_daemon.lsp.features import (
    exit_,
    initialized,
    shutdown,
    text_document_diagnostic,
    text_document_did_change,
    text_document_did_close,
    text_document_did_open,
    text_document_did_save,
    text_document_document_symbol,
    text_document_hover,
    workspace_diagnostic,
    workspace_did_change_watched_files,
    workspace_did_change_workspace_folders,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_daemon.lsp.session import LspSession


class Feature(NamedTuple):
    """One row of the table.

    Attributes:
        handle: Takes the session and the typed params. It is sync and short: what a handler that waits would answer
            could be about a text that the client has edited meanwhile.
        options: What `initialize` announces beside the method itself.
    """

    handle: Callable[[LspSession, Any], Any]
    options: object = None


FEATURES: Final[dict[str, Feature]] = {
    lsp.INITIALIZED: Feature(initialized.handle),
    lsp.SHUTDOWN: Feature(shutdown.handle),
    lsp.EXIT: Feature(exit_.handle),
    lsp.TEXT_DOCUMENT_DID_OPEN: Feature(text_document_did_open.handle),
    lsp.TEXT_DOCUMENT_DID_CHANGE: Feature(text_document_did_change.handle),
    lsp.TEXT_DOCUMENT_DID_SAVE: Feature(text_document_did_save.handle, lsp.SaveOptions(include_text=False)),
    lsp.TEXT_DOCUMENT_DID_CLOSE: Feature(text_document_did_close.handle),
    lsp.TEXT_DOCUMENT_DIAGNOSTIC: Feature(
        text_document_diagnostic.handle,
        lsp.DiagnosticOptions(inter_file_dependencies=False, workspace_diagnostics=True, identifier="stateward"),
    ),
    lsp.WORKSPACE_DIAGNOSTIC: Feature(workspace_diagnostic.handle),
    lsp.TEXT_DOCUMENT_HOVER: Feature(text_document_hover.handle),
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: Feature(text_document_document_symbol.handle),
    lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: Feature(workspace_did_change_watched_files.handle),
    lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: Feature(workspace_did_change_workspace_folders.handle),
}
