"""Edits that a client is asked or offered to make in its texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stateward_daemon.lsp.client import Client
    from stateward_daemon.lsp.reading import Reading
    from stateward_engine.goals.problems import Edit


# The changes of one document: its URI, the text that was read, and what is to stand in it.
Changes: TypeAlias = "tuple[str, Reading, Iterable[Edit]]"


def versioned(uri: str, version: int | None, changes: Sequence[lsp.TextEdit]) -> lsp.WorkspaceEdit:
    """Return changes of one document, which a client refuses when its text is of another version by then."""
    return lsp.WorkspaceEdit(document_changes=[_versioned(uri, version, changes)])


def workspace_edit(uri: str, reading: Reading, edits: Iterable[Edit], client: Client) -> lsp.WorkspaceEdit:
    """Return edits of a document as its client takes them: of the version that was read, where it knows of versions."""
    return workspace_edits([(uri, reading, edits)], client)


def workspace_edits(changes: Iterable[Changes], client: Client) -> lsp.WorkspaceEdit:
    """Return edits of several documents as their client takes them, as `workspace_edit` does those of one."""
    made = [
        (uri, reading.version, [lsp.TextEdit(reading.range(edit.span), edit.text) for edit in edits])
        for uri, reading, edits in changes
    ]
    if client.takes_versions:
        return lsp.WorkspaceEdit(document_changes=[_versioned(*one) for one in made])
    return lsp.WorkspaceEdit(changes={uri: edits for uri, _, edits in made})


def _versioned(uri: str, version: int | None, changes: Sequence[lsp.TextEdit]) -> lsp.TextDocumentEdit:
    return lsp.TextDocumentEdit(lsp.OptionalVersionedTextDocumentIdentifier(uri, version), changes)
