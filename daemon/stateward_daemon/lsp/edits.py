"""Edits that a client is asked or offered to make in its texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stateward_daemon.lsp.client import Client
    from stateward_daemon.lsp.reading import Reading
    from stateward_engine.goals.problems import Edit


def versioned(uri: str, version: int | None, changes: Sequence[lsp.TextEdit]) -> lsp.WorkspaceEdit:
    """Return changes of one document, which a client refuses when its text is of another version by then."""
    document = lsp.OptionalVersionedTextDocumentIdentifier(uri, version)
    return lsp.WorkspaceEdit(document_changes=[lsp.TextDocumentEdit(document, changes)])


def workspace_edit(uri: str, reading: Reading, edits: Iterable[Edit], client: Client) -> lsp.WorkspaceEdit:
    """Return edits of a document as its client takes them: of the version that was read, where it knows of versions."""
    changes = [lsp.TextEdit(reading.range(edit.span), edit.text) for edit in edits]
    if client.takes_versions:
        return versioned(uri, reading.version, changes)
    return lsp.WorkspaceEdit(changes={uri: changes})
