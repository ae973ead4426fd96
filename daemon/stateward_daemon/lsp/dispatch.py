"""The table of LSP methods: who serves each, and what is announced about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lsprotocol import types as lsp

from stateward_daemon.lsp.coloring import LEGEND
from stateward_daemon.lsp.commands import COMMANDS
from stateward_daemon.lsp.features import (
    code_action_resolve,
    completion_item_resolve,
    exit_,
    initialized,
    inlay_hint_resolve,
    shutdown,
    text_document_code_action,
    text_document_code_lens,
    text_document_completion,
    text_document_definition,
    text_document_diagnostic,
    text_document_did_change,
    text_document_did_close,
    text_document_did_open,
    text_document_did_save,
    text_document_document_highlight,
    text_document_document_link,
    text_document_document_symbol,
    text_document_folding_range,
    text_document_formatting,
    text_document_hover,
    text_document_inlay_hint,
    text_document_prepare_rename,
    text_document_range_formatting,
    text_document_references,
    text_document_rename,
    text_document_semantic_tokens_full,
    text_document_semantic_tokens_full_delta,
    text_document_semantic_tokens_range,
    workspace_diagnostic,
    workspace_did_change_configuration,
    workspace_did_change_watched_files,
    workspace_did_change_workspace_folders,
    workspace_execute_command,
    workspace_symbol,
    workspace_text_document_content,
)
from stateward_daemon.lsp.telling import Named
from stateward_daemon.virtual import SCHEME

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateward_daemon.lsp.session import LspSession


class Feature(NamedTuple):
    """One row of the table.

    Attributes:
        handle: Takes the session and the typed params. It does not wait: what a handler that waits would answer could
            be about a text that the client has edited meanwhile.
        options: What `initialize` announces beside the method itself.
        is_long: Tells whether a request reads a long document, which is done in a thread; `None` for a method that
            reads none.
        switch: The key of the configuration that switches the feature off for a document, or `None`.
        title: What a person is told that is done, where it takes long.
        steps: Whether `handle` returns the steps that lead to the answer, and so may wait for what has to happen.
    """

    handle: Callable[[LspSession, Any], Any]
    options: object = None
    is_long: Callable[[LspSession, Any], bool] | None = None
    steps: bool = False
    switch: str | None = None
    title: str = "Reading goal documents"


def _of_one(session: LspSession, params: Any) -> bool:  # noqa: ANN401 - the params of several methods
    return session.is_long(params.text_document.uri)


def _of_data(session: LspSession, params: Any) -> bool:  # noqa: ANN401 - what several methods resolve
    return session.is_long(Named.read(params.data).uri)


def _of_action(session: LspSession, action: lsp.CodeAction) -> bool:
    return isinstance(action.data, dict) and session.is_long(str(action.data.get("uri")))


def _of_all(session: LspSession, _params: object) -> bool:
    return any(map(session.is_long, [*session.buffers, *session.folders.goals.values()]))


def _always(_session: LspSession, _params: object) -> bool:
    """Tell of what looks at every goal document there is, files among them."""
    return True


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
        lsp.DiagnosticOptions(
            inter_file_dependencies=False,
            workspace_diagnostics=True,
            identifier="stateward",
            work_done_progress=True,
        ),
        _of_one,
    ),
    lsp.WORKSPACE_DIAGNOSTIC: Feature(workspace_diagnostic.handle, is_long=_of_all),
    lsp.TEXT_DOCUMENT_HOVER: Feature(text_document_hover.handle, is_long=_of_one),
    lsp.TEXT_DOCUMENT_COMPLETION: Feature(
        text_document_completion.handle,
        lsp.CompletionOptions(trigger_characters=list(text_document_completion.TRIGGERS), resolve_provider=True),
        _of_one,
    ),
    lsp.COMPLETION_ITEM_RESOLVE: Feature(completion_item_resolve.handle, is_long=_of_data),
    lsp.TEXT_DOCUMENT_INLAY_HINT: Feature(text_document_inlay_hint.handle, is_long=_of_one, switch="inlay_hints"),
    lsp.INLAY_HINT_RESOLVE: Feature(inlay_hint_resolve.handle, is_long=_of_data),
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: Feature(text_document_document_symbol.handle, is_long=_of_one),
    lsp.TEXT_DOCUMENT_CODE_ACTION: Feature(
        text_document_code_action.handle,
        lsp.CodeActionOptions(list(text_document_code_action.KINDS), resolve_provider=True),
        _of_one,
    ),
    lsp.TEXT_DOCUMENT_REFERENCES: Feature(text_document_references.handle, is_long=_always),
    lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: Feature(text_document_document_highlight.handle, is_long=_of_one),
    lsp.TEXT_DOCUMENT_PREPARE_RENAME: Feature(text_document_prepare_rename.handle, is_long=_always),
    lsp.TEXT_DOCUMENT_RENAME: Feature(text_document_rename.handle, is_long=_always),
    # It looks for the files that are named.
    lsp.TEXT_DOCUMENT_DOCUMENT_LINK: Feature(text_document_document_link.handle, is_long=_always),
    lsp.TEXT_DOCUMENT_FOLDING_RANGE: Feature(text_document_folding_range.handle, is_long=_of_one),
    lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: Feature(text_document_semantic_tokens_full.handle, LEGEND, _of_one),
    lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA: Feature(
        text_document_semantic_tokens_full_delta.handle, is_long=_of_one
    ),
    lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: Feature(text_document_semantic_tokens_range.handle, is_long=_of_one),
    lsp.WORKSPACE_SYMBOL: Feature(workspace_symbol.handle, is_long=_always),
    # Other documents are read, and values of the state written.
    lsp.TEXT_DOCUMENT_DEFINITION: Feature(text_document_definition.handle, is_long=_always),
    lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT: Feature(
        workspace_text_document_content.handle, lsp.TextDocumentContentOptions([SCHEME]), _always
    ),
    lsp.CODE_ACTION_RESOLVE: Feature(code_action_resolve.handle, is_long=_of_action),
    lsp.TEXT_DOCUMENT_CODE_LENS: Feature(
        text_document_code_lens.handle, lsp.CodeLensOptions(), _of_one, switch="code_lens"
    ),
    lsp.TEXT_DOCUMENT_FORMATTING: Feature(text_document_formatting.handle, is_long=_of_one),
    lsp.TEXT_DOCUMENT_RANGE_FORMATTING: Feature(text_document_range_formatting.handle, is_long=_of_one),
    lsp.WORKSPACE_EXECUTE_COMMAND: Feature(
        workspace_execute_command.handle,
        lsp.ExecuteCommandOptions(list(COMMANDS)),
        steps=True,
        title="Working on todos",
    ),
    lsp.WORKSPACE_DID_CHANGE_CONFIGURATION: Feature(workspace_did_change_configuration.handle),
    lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: Feature(workspace_did_change_watched_files.handle),
    lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: Feature(workspace_did_change_workspace_folders.handle),
}
